import { handshakeVersions } from "@parlance/mcp";
import { bridgeTo } from "@parlance/mcp/bridge";
import { connect } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { revisionOf } from "@parlance/mcp/protocol";
import { compile, type Schema } from "@parlance/mcp/schema";
import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { speak } from "../../server/speak.js";

const info = { name: "wrapping", version: "1.0.0" };
const withStructure = handshakeVersions.filter((version) => revisionOf(version)?.facts.structuredContent === "object");

function returning(value: unknown, outputSchema?: Schema): Server {
  const server = createServer(info);
  server.tool("t", outputSchema === undefined ? {} : { outputSchema }, () => value as string);
  return server;
}

interface Tool {
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

const inner = {
  type: "array",
  items: { $ref: "#/$defs/a~1b" },
  $defs: { "a/b": { properties: { next: { $ref: "#" }, $ref: { enum: [{ $ref: "#" }] } } } },
};
const moved = {
  type: "array",
  items: { $ref: "#/properties/result/$defs/a~1b" },
  $defs: { "a/b": { properties: { next: { $ref: "#/properties/result" }, $ref: { enum: [{ $ref: "#" }] } } } },
};
const wrapped = (result: unknown): object => ({ type: "object", properties: { result }, required: ["result"] });
const either = (schema: unknown): object => ({ type: "object", anyOf: [schema, wrapped({ $ref: "#/anyOf/0" })] });

/** An output schema, how it is listed, and values with how they go out. */
const rows: readonly (readonly [string, Schema, unknown, readonly (readonly [unknown, unknown])[]])[] = [
  ["an array", { type: "array" }, wrapped({ type: "array" }), [[[1, 2], { result: [1, 2] }]]],
  ["a number", { type: "number" }, wrapped({ type: "number" }), [[5, { result: 5 }]]],
  ["null", { const: null }, wrapped({ const: null }), [[null, { result: null }]]],
  ["one of some texts", { enum: ["a", "b"] }, wrapped({ enum: ["a", "b"] }), [["b", { result: "b" }]]],
  ["an array with references", inner, wrapped(moved), [[[{ next: [] }], { result: [{ next: [] }] }]]],
  [
    "a schema with an $id, which is a document of its own",
    { $id: "urn:a", type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: { type: "number" } } },
    wrapped({ $id: "urn:a", type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: { type: "number" } } }),
    [[[1], { result: [1] }]],
  ],
  ["an object", { type: "object", required: ["a"] }, { type: "object", required: ["a"] }, [[{ a: 1 }, { a: 1 }]]],
  [
    "one of several objects",
    { oneOf: [{ type: "object", required: ["a"] }, { $ref: "#/$defs/b" }], $defs: { b: { const: { b: 1 } } } },
    {
      oneOf: [{ type: "object", required: ["a"] }, { $ref: "#/$defs/b" }],
      $defs: { b: { const: { b: 1 } } },
      type: "object",
    },
    [
      [{ a: 1 }, { a: 1 }],
      [{ b: 1 }, { b: 1 }],
    ],
  ],
  [
    "an object or not",
    {
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "array", items: { $ref: "#" } },
      ],
    },
    either({
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "array", items: { $ref: "#/anyOf/0" } },
      ],
    }),
    [
      [{ a: 1 }, { a: 1 }],
      [[[], { a: 1 }], { result: [[], { a: 1 }] }],
    ],
  ],
  [
    "anything",
    {},
    either({}),
    [
      ["a", { result: "a" }],
      [{ result: 1 }, { result: 1 }],
    ],
  ],
  [
    "another dialect",
    { $schema: "http://json-schema.org/draft-07/schema#", type: "string" },
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...wrapped({ type: "string" }),
    },
    [["a", { result: "a" }]],
  ],
  [
    "zod's union of objects",
    z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]),
    expect.objectContaining({ type: "object" }),
    [[{ kind: "a" }, { kind: "a" }]],
  ],
];

describe.each(withStructure)("C12: structured content that is no object, in %s", (version) => {
  test.each(rows)("an output schema of %s: list and call agree", async (_what, schema, listed, values) => {
    for (const [value, sent] of values) {
      await using peer = await speak(returning(value, schema), version);
      const { tools } = (await peer.result("tools/list")) as { tools: readonly [Tool] };
      const [{ outputSchema }] = tools;
      expect(outputSchema).toEqual(listed);
      const { content, structuredContent } = await peer.result("tools/call", { name: "t" });
      expect(structuredContent).toEqual(sent);
      expect(content).toEqual([{ type: "text", text: JSON.stringify(value) }]);
      expect(await compile(outputSchema ?? {}).check(structuredContent)).toMatchObject({ ok: true });
    }
  });

  test.each([[[1, 2]], [null], ["a"], [0], [false]])("a tool without an output schema: %j", async (value) => {
    await using peer = await speak(returning({ content: [], structuredContent: value }), version);
    // Structured content is repeated as text, for models that read only text.
    expect(await peer.result("tools/call", { name: "t" })).toEqual({
      content: [{ type: "text", text: JSON.stringify(value) }],
      structuredContent: { result: value },
    });
  });

  test("our client checks it against what was listed, over HTTP too, and gives it as it came", async () => {
    const schema = z.array(z.object({ n: z.number() }));
    await using http = await serveHttp(returning([{ n: 1 }], schema));
    for (const target of [returning([{ n: 1 }], schema), http.url]) {
      const client = await connect(target, { revision: version });
      for await (const { outputSchema } of client.tools.list()) expect(outputSchema?.type).toBe("object");
      expect(await client.tools.call("t")).toMatchObject({ structuredContent: { result: [{ n: 1 }] } });
      await client.close();
    }
  });

  test("the same through a bridge to a server of the newest revision", async () => {
    await using http = await serveHttp(returning([1, 2], { type: "array" }));
    await using bridge = bridgeTo(http.url, { revision: "2026-07-28" });
    const client = await connect(bridge, { revision: version });
    for await (const { outputSchema } of client.tools.list()) expect(outputSchema).toEqual(wrapped({ type: "array" }));
    expect((await client.tools.call("t")).structuredContent).toEqual({ result: [1, 2] });
    await client.close();
  });
});

test("C12: a task's result is wrapped as any other", async () => {
  const server = createServer(info);
  server.tool("t", { execution: { taskSupport: "required" } }, () => [1]);
  await using peer = await speak(server, "2025-11-25");
  const { task } = (await peer.result("tools/call", { name: "t", task: {} })) as { task: { taskId: string } };
  await peer.next(); // Its status.
  expect(await peer.result("tasks/result", { taskId: task.taskId })).toMatchObject({
    structuredContent: { result: [1] },
  });
});

test("C12: the newest revision has it as it is", async () => {
  await using peer = await speak(returning([1], { type: "array" }), "2026-07-28");
  expect((await peer.result("tools/call", { name: "t" })).structuredContent).toEqual([1]);
});

test("C12: what references lead to is looked at once each, however many a peer has written", () => {
  const names = Array.from({ length: 200 }, (_, index) => `s${index}`);
  const all = names.map((name) => ({ $ref: `#/$defs/${name}` }));
  const outputSchema = { anyOf: all, $defs: Object.fromEntries(names.map((name) => [name, { anyOf: all }])) };
  const listed = revisionOf("2025-11-25")?.down("result", "tools/list", { tools: [{ name: "t", outputSchema }] });
  expect(listed).toMatchObject({ tools: [{ outputSchema: { type: "object" } }] });
});
