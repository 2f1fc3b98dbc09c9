import { versions } from "@parlance/mcp";
import { createServer, type Server, sample, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { modern, parse } from "../../testing/frames.js";
import { openAsked } from "../input/open.js";
import { speak } from "../speak.js";

const text = { type: "text", text: "t" } as const;
const right = ["a", "A9", "a.b_c-d", "com.example/", "com.example/a", "x/1", "a-1.b2/a.b", ""];
const wrong = ["-a", "a-", "a b", "ä", "a/b/c", "/a", ".com/a", "com./a", "1com/a", "com-/a", "com.example/-a", "a\n"];

function server(): Server {
  return createServer({ name: "meta", version: "1" });
}

/** Each place where an author can say something beside the matter. */
function definitions(meta: object): readonly (readonly [string, () => unknown])[] {
  const words = { _meta: meta as Record<string, unknown> };
  return [
    ["tool", () => server().tool("x", words, () => "")],
    ["resource", () => server().resource("x:y", words, () => "")],
    ["resource template", () => server().resourceTemplate("x:{y}", words, () => "")],
    ["prompt", () => server().prompt("x", words, () => "")],
    ["question", () => sample({ messages: [{ role: "user", content: text }], maxTokens: 1, ...words })],
    ["message", () => sample({ messages: [{ role: "user", content: text, ...words }], maxTokens: 1 })],
  ];
}

describe.each(definitions({}).map(([what]) => what))("the _meta of a %s", (what) => {
  const define = (meta: object): unknown => definitions(meta).find(([each]) => each === what)?.[1]();

  test.each(right)("may have the key %j", (key) => {
    expect(() => define({ [key]: 1 })).not.toThrow();
  });

  test.each(wrong)("may not have the key %j, and the error names it", (key) => {
    expect(() => define({ a: 1, [key]: 1 })).toThrow(TypeError);
    expect(() => define({ a: 1, [key]: 1 })).toThrow(JSON.stringify(key));
  });

  test("must be an object", () => {
    expect(() => define(["a"])).toThrow(/_meta(?:: expected| must be) an object/);
  });
});

/** Results of handlers, each with a `_meta` in some place. */
const results: readonly (readonly [
  string,
  "tools/call" | "resources/read" | "prompts/get",
  (meta: object) => unknown,
])[] = [
  ["the result of a tool", "tools/call", (meta) => ({ content: [text], _meta: meta })],
  ["a block of a tool", "tools/call", (meta) => ({ ...text, _meta: meta })],
  ["the second block of a tool", "tools/call", (meta) => [text, { ...text, _meta: meta }]],
  [
    "a resource in a block",
    "tools/call",
    (meta) => ({ type: "resource", resource: { uri: "a:b", text: "", _meta: meta } }),
  ],
  ["a failure of a tool", "tools/call", (meta) => new ToolError([{ ...text, _meta: meta as Record<string, unknown> }])],
  ["contents", "resources/read", (meta) => ({ text: "t", _meta: meta })],
  ["the result of a read", "resources/read", (meta) => ({ contents: ["t"], _meta: meta })],
  ["a message of a prompt", "prompts/get", (meta) => [{ role: "user", content: { ...text, _meta: meta } }]],
  ["a block of a prompt", "prompts/get", (meta) => ({ ...text, _meta: meta })],
  ["the result of a prompt", "prompts/get", (meta) => ({ messages: [], _meta: meta })],
  [
    "the resource of a prompt",
    "prompts/get",
    (meta) => ({ type: "resource", resource: { uri: "a:b", text: "", _meta: meta } }),
  ],
];

function returning(value: unknown): Server {
  const made = server();
  made.tool("x", {}, () => {
    if (value instanceof Error) throw value;
    return value as object;
  });
  made.resource("x:y", {}, () => value as string);
  made.prompt("x", {}, () => value as string);
  return made;
}

describe.each(versions)("in %s", (version) => {
  test.each(results)("%s goes out with keys that have the form, and not with others", async (what, method, make) => {
    const params = method === "resources/read" ? { uri: "x:y" } : { name: "x" };
    await using sound = await speak(returning(make({ "com.example/a": 1, b: 2 })), version);
    expect((await sound.ask(method, params)).result).toBeDefined();
    await using unsound = await speak(returning(make({ "com.example/a": 1, "b c": 2 })), version);
    expect(await unsound.error(method, params), what).toEqual({ code: -32_603, message: "Internal error" });
    expect(unsound.talk.reports.join()).toContain('"b c" cannot be a key of _meta');
  });

  test("a notification of a middleware goes out with keys that have the form, and not with others", async () => {
    const made = returning("t");
    made.use((next) => (method, params, operation) => {
      operation.notify("notifications/progress", { progressToken: 1, progress: 1, _meta: params.told as object });
      return next(method, params, operation);
    });
    await using peer = await speak(made, version);
    expect((await peer.ask("tools/call", { name: "x", told: { "com.example/a": 1 } }, 7)).method).toBe(
      "notifications/progress",
    );
    expect((await peer.next()).id).toBe(7);
    expect((await peer.error("tools/call", { name: "x", told: { "b c": 1 } })).code).toBe(-32_603);
    expect(peer.talk.reports.join()).toContain('"b c" cannot be a key of _meta');
  });

  test("an extension's result goes out with keys that have the form, and not with others", async () => {
    const made = server();
    made.method("acme/echo", ({ told }) => ({ _meta: told }));
    await using peer = await speak(made, version);
    expect((await peer.ask("acme/echo", { told: { "com.example/a": 1 } })).result).toBeDefined();
    expect((await peer.error("acme/echo", { told: { "b c": 1 } })).code).toBe(-32_603);
  });

  test("what comes in is taken as it is", async () => {
    const made = server();
    made.tool("x", {}, (_args, { meta }) => JSON.stringify(meta["b c"]));
    await using client = await openAsked(made, { version, isStateless: version === modern }, {});
    const frame = await client.ask("tools/call", { name: "x" }, 1, { "b c": "mine" });
    expect(parse(frame).result?.content).toMatchObject([{ text: '"mine"' }]);
  });
});
