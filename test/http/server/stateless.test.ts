import { describe, expect, test } from "vitest";
import { modern, notification, parse, textOf } from "../../testing/frames.js";
import { type Asked, statelessCall, statelessPost } from "./asked.js";
import { doors } from "./handlers.js";
import { shop } from "./shop.js";

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe.each(doors)("in the stateless era, on $on,", ({ open }) => {
  test("a notification is accepted with 202 and no body", async () => {
    await using door = await open(shop());
    const posted = notification("notifications/acme/told", {
      _meta: { "io.modelcontextprotocol/protocolVersion": modern },
    });
    for (const headers of [{}, { "mcp-protocol-version": modern }])
      expect(await door.ask({ headers, body: posted })).toMatchObject({ status: 202, body: "" });
  });

  test("a request is answered with JSON, or with events if notifications come first", async () => {
    await using door = await open(shop());
    const plain = await door.ask(statelessCall("echo", { text: "hi" }));
    expect([plain.status, plain.headers.get("content-type")]).toEqual([200, "application/json"]);
    const steps = { name: "steps", arguments: {} };
    const told = await door.ask(statelessPost("tools/call", steps, {}, { meta: { progressToken: "p" } }));
    expect([told.status, told.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const blocks = told.body.split("\n\n").slice(0, -1);
    const events = blocks.map((block) => block.split("\n"));
    // No ids: what is lost is lost, and the client asks anew.
    expect(events.map(([event]) => event)).toEqual(Array(4).fill("event: message"));
    const frames = events.map(([, data = ""]) => parse(data.slice("data: ".length)));
    expect(frames.slice(0, 3)).toMatchObject(
      [1, 2, 3].map((progress) => ({ method: "notifications/progress", params: { progressToken: "p", progress } })),
    );
    expect(frames.slice(0, 3).filter((frame) => "id" in frame)).toEqual([]);
    expect(frames[3]).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  });

  test("a session and an event that a client names are nothing to a request, and none is given", async () => {
    await using door = await open(shop());
    const answer = await door.ask(
      statelessCall("echo", { text: "hi" }, { "mcp-session-id": "x", "last-event-id": "0-1" }),
    );
    expect(textOf(answer.body)).toBe("hi");
    expect(answer.headers.has("mcp-session-id")).toBe(false);
  });

  test.each<readonly [string, Asked]>([
    ["a name in base64", statelessCall("echo", { text: "hi" }, { "mcp-name": base64("echo") })],
    ["a URI", statelessPost("resources/read", { uri: "a:1" })],
    ["an argument", statelessCall("route", { region: "eu" }, { "mcp-param-region": "eu" })],
    [
      "an argument that no header can hold",
      statelessCall("route", { region: "日本\n" }, { "mcp-param-region": base64("日本\n") }),
    ],
    [
      "an argument that looks like base64",
      statelessCall("route", { region: "=?base64?eA==?=" }, { "mcp-param-region": base64("=?base64?eA==?=") }),
    ],
    ["an empty argument", statelessCall("route", { region: "" }, { "mcp-param-region": "" })],
    ["an argument that is null, whose header is left out", statelessCall("route", {})],
    ["a number", statelessCall("route", { count: 42 }, { "mcp-param-count": "42" })],
    ["a number as another program writes it", statelessCall("route", { count: 42 }, { "mcp-param-count": "42.0" })],
    [
      "a header for an argument that the tool does not mirror",
      statelessCall("echo", { text: "hi" }, { "mcp-param-text": "x" }),
    ],
  ])("headers and body agree: %s", async (_name, asked) => {
    await using door = await open(shop());
    const { status, body } = await door.ask(asked);
    expect({ status, error: parse(body).error }).toEqual({ status: 200, error: undefined });
  });

  test.each([
    ["a tool that there is none of", statelessCall("none"), -32_602],
    ["arguments of another type", statelessPost("resources/read", { uri: 1 }, { "mcp-name": undefined }), -32_602],
    ["a resource that there is none of", statelessPost("resources/read", { uri: "a:2" }), -32_602],
  ])("what a handler refuses is an answer like others: %s", async (_name, asked, code) => {
    await using door = await open(shop());
    const { status, body } = await door.ask(asked);
    expect({ status, code: parse(body).error?.code }).toEqual({ status: 200, code });
  });
});
