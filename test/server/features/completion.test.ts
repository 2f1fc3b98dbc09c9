import { versions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { type Completer, createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { failure, request, stateless, success } from "../../testing/frames.js";
import { conversationWith, talkTo } from "../../testing/talks.js";
import { speak } from "../speak.js";

const serverInfo = { name: "completes", version: "1" };

function completing(completer: Completer = ["Python", "PyTorch", "Rust"]): Server {
  const server = createServer(serverInfo);
  server.prompt("review", { arguments: { language: {}, tone: {} }, complete: { language: completer } }, () => "");
  server.prompt("other", { arguments: z.object({ day: z.string() }), complete: { day: ["Monday"] } }, () => "");
  server.resource("db:/static", {}, () => "");
  const table: Completer = (typed, { database = "none" }) => [`${database}.${typed}`];
  server.resourceTemplate("db:/{database}/{table}", { complete: { table } }, () => "");
  return server;
}

function prompt(name: string, value: string, argument = "language"): object {
  return { ref: { type: "ref/prompt", name }, argument: { name: argument, value } };
}

const template = { type: "ref/resource", uri: "db:/{database}/{table}" };

describe("on the wire", () => {
  test("of the handshake era", async () => {
    await using talk = await conversationWith(completing(), "2025-06-18");
    expect(await talk.ask(request(1, "completion/complete", prompt("review", "py")))).toBe(
      success(1, { completion: { hasMore: false, values: ["Python", "PyTorch"], total: 2 } }),
    );
    expect(await talk.ask(request(2, "completion/complete", prompt("no", "")))).toBe(
      failure(2, -32_602, "Unknown prompt: no", {
        errors: [{ path: "/ref/name", message: "is not a prompt of this server" }],
      }),
    );
  });

  test("of the stateless era", async () => {
    await using talk = talkTo(completing());
    expect(await talk.ask(stateless(1, "completion/complete", prompt("other", "", "day")))).toBe(
      success(1, {
        completion: { hasMore: false, values: ["Monday"], total: 1 },
        resultType: "complete",
        _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      }),
    );
  });
});

describe.each(versions)("in %s", (version) => {
  test("variables of a template are completed with what is settled", async () => {
    await using peer = await speak(completing(), version);
    const argument = { name: "table", value: "us" };
    const context = { arguments: { database: "main" } };
    expect(await peer.result("completion/complete", { ref: template, argument, context })).toEqual({
      completion: { hasMore: false, values: ["main.us"], total: 1 },
    });
    expect(await peer.result("completion/complete", { ref: template, argument })).toMatchObject({
      completion: { values: ["none.us"] },
    });
  });

  test("a hundred values go out at most, and it is said that there are more", async () => {
    const values = Array.from({ length: 150 }, (_, index) => `v${index}`);
    await using peer = await speak(completing(values), version);
    expect(await peer.result("completion/complete", prompt("review", "v"))).toEqual({
      completion: { values: values.slice(0, 100), total: 150, hasMore: true },
    });
  });

  test.each([
    [
      { values: ["a"], total: 9, hasMore: true },
      { values: ["a"], total: 9, hasMore: true },
    ],
    [{ values: ["a"] }, { values: ["a"], hasMore: false }],
    [Array<string>(101).fill("a"), { values: Array<string>(100).fill("a"), total: 101, hasMore: true }],
    [[], { values: [], total: 0, hasMore: false }],
  ])("a function says itself what there is, at once or later", async (given, completion) => {
    await using now = await speak(
      completing(() => given),
      version,
    );
    await using later = await speak(
      completing(() => Promise.resolve(given)),
      version,
    );
    expect(await now.result("completion/complete", prompt("review", ""))).toEqual({ completion });
    expect(await later.result("completion/complete", prompt("review", ""))).toEqual({ completion });
  });

  test.each(["tone", "no-such", "__proto__", "constructor"])("the argument %s has no values", async (argument) => {
    await using peer = await speak(completing(), version);
    expect(await peer.result("completion/complete", prompt("review", "", argument))).toEqual({
      completion: { values: [], total: 0, hasMore: false },
    });
  });

  test("a resource that is no template has no values; one that does not exist is an error", async () => {
    await using peer = await speak(completing(), version);
    const argument = { name: "a", value: "" };
    const of = (uri: string): object => ({ ref: { type: "ref/resource", uri }, argument });
    expect(await peer.result("completion/complete", of("db:/static"))).toMatchObject({ completion: { values: [] } });
    expect(await peer.error("completion/complete", of("db:/{no}"))).toEqual({
      code: -32_602,
      message: "Unknown resource template: db:/{no}",
      data: { errors: [{ path: "/ref/uri", message: "is not a resource template of this server" }] },
    });
  });

  const argument = { name: "language", value: "" };
  const ref = { type: "ref/prompt", name: "review" };
  test.each([
    [{}, ["/ref/type", "/ref/name", "/argument/name", "/argument/value"]],
    [{ ref: { type: "ref/tool", name: "review" }, argument }, ["/ref/type"]],
    [{ ref: { type: "ref/resource", name: "review" }, argument }, ["/ref/uri"]],
    [{ ref: "review", argument }, ["/ref/type", "/ref/name"]],
    [{ ref, argument: { name: "language", value: 7 } }, ["/argument/value"]],
    [{ ref, argument: [] }, ["/argument/name", "/argument/value"]],
    [{ ref, argument, context: { arguments: { a: 7 } } }, ["/context/arguments"]],
    [{ ref, argument, context: { arguments: [] } }, ["/context/arguments"]],
  ])("params that are none are -32602, each by its place: %j", async (params, paths) => {
    await using peer = await speak(completing(), version);
    const error = await peer.error("completion/complete", params);
    expect(error).toMatchObject({ code: -32_602, message: "Invalid params" });
    const { errors } = error.data as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path)).toEqual(paths);
  });

  test("it does not exist where nothing completes", async () => {
    const server = createServer(serverInfo);
    server.prompt("review", { arguments: { language: {} } }, () => "");
    await using peer = await speak(server, version);
    expect(await peer.error("completion/complete", prompt("review", ""))).toMatchObject({ code: -32_601 });
    expect(server.capabilities()).not.toHaveProperty("completions");
  });
});

test("the capability is declared if the revision has it", async () => {
  const told = await Promise.all(
    versions
      .filter((version) => revisionOf(version)?.era === "handshake")
      .map(async (version) => {
        await using talk = talkTo(completing());
        const frame = await talk.ask(
          request(1, "initialize", { protocolVersion: version, capabilities: {}, clientInfo: serverInfo }),
        );
        return [version, frame.includes('"completions":{}')];
      }),
  );
  expect(told).toEqual([
    ["2025-11-25", true],
    ["2025-06-18", true],
    ["2025-03-26", true],
    ["2024-11-05", false],
  ]);
});
