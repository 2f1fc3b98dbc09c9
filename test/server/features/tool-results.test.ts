import { createServer, RpcError, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { failure, parse, request, stateless, success } from "../../testing/frames.js";
import { conversationWith, talkTo, turn } from "../../testing/talks.js";

const info = { name: "results", version: "1.0.0" };
const call = request(1, "tools/call", { name: "do" });
const internal = failure(1, -32_603, "Internal error");
const text = (words: string): { type: "text"; text: string } => ({ type: "text", text: words });

/** A handler's end, at once and later, and as a promise that is none of this realm. */
const ways: readonly [string, (run: () => unknown) => unknown][] = [
  ["at once", (run) => run()],
  ["later", async (run) => run()],
  ["after a turn", (run) => turn().then(run)],
  ["as a thenable", (run) => thenable(run)],
];

/** Builders of queries and requests are thenables without being promises. */
function thenable(run: () => unknown): object {
  return {
    // biome-ignore lint/suspicious/noThenProperty: this is what it is about
    then: (done: (value: unknown) => void, failed: (error: unknown) => void) =>
      Promise.resolve().then(run).then(done, failed),
  };
}

/** A server with one tool that does that; a handler of JavaScript may return anything. */
function doing(run: () => unknown, outputSchema?: z.ZodType): Server {
  const server = createServer(info);
  server.tool("do", outputSchema === undefined ? {} : { outputSchema }, run as () => string);
  return server;
}

describe.each(ways)("a handler that returns %s", (_way, wrap) => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  const link = { type: "resource_link", uri: "file:///a", name: "a" };

  test.each<[string, unknown, unknown]>([
    ["a text", "hi", { content: [text("hi")] }],
    ["an empty text", "", { content: [text("")] }],
    ["nothing", undefined, { content: [] }],
    ["a block", image, { content: [image] }],
    ["blocks", [text("a"), image, link], { content: [text("a"), image, link] }],
    ["no blocks", [], { content: [] }],
    ["a whole result", { content: [text("a")], _meta: { "x/y": 1 } }, { content: [text("a")], _meta: { "x/y": 1 } }],
    ["a whole result that is a failure", { content: [], isError: true }, { content: [], isError: true }],
    ["an object", { a: 1 }, { content: [text('{"a":1}')], structuredContent: { a: 1 } }],
    [
      "an object that looks like a block",
      { type: "circle" },
      { content: [text('{"type":"circle"}')], structuredContent: { type: "circle" } },
    ],
  ])("%s", async (_name, returned, result) => {
    await using talk = await conversationWith(
      doing(() => wrap(() => returned)),
      "2025-11-25",
    );
    expect(await talk.ask(call)).toBe(success(1, result));
  });

  test.each<[string, unknown, unknown]>([
    ["an array", [1, 2], { content: [text("[1,2]")], structuredContent: [1, 2] }],
    ["a number", 5, { content: [text("5")], structuredContent: 5 }],
    ["false", false, { content: [text("false")], structuredContent: false }],
    ["null", null, { content: [text("null")], structuredContent: null }],
  ])("JSON that only the newest revision has as structured content: %s", async (_name, returned, result) => {
    const server = doing(() => wrap(() => returned));
    await using newest = talkTo(server);
    expect(parse(await newest.ask(stateless(1, "tools/call", { name: "do" }))).result).toMatchObject(result as object);
    await using older = await conversationWith(server, "2025-11-25");
    const { content, structuredContent } = result as { content: unknown; structuredContent: unknown };
    expect(await older.ask(call)).toBe(success(1, { content, structuredContent: { result: structuredContent } }));
  });

  test.each<[string, unknown]>([
    ["a BigInt", 1n],
    ["a BigInt inside", { n: 1n }],
    ["a BigInt in a whole result", { content: [], structuredContent: { n: 1n } }],
    ["a function", () => undefined],
    ["a symbol", Symbol("s")],
    [
      "what cannot be read",
      {
        get secret() {
          throw new Error("hidden");
        },
      },
    ],
  ])("no JSON: %s: an internal error, and the reason is reported", async (_name, returned) => {
    await using talk = await conversationWith(
      doing(() => wrap(() => returned)),
      "2025-11-25",
    );
    expect(await talk.ask(call)).toBe(internal);
    expect(talk.reports).toEqual([expect.stringMatching(/^"tools\/call" of "do" failed: /)]);
  });
});

test("what a handler returns is typed: blocks written in place, and values of an interface", async () => {
  interface Point {
    readonly x: number;
  }
  const origin: Point = { x: 0 };
  const server = createServer(info);
  server.tool("blocks", {}, async () => [
    { type: "text", text: "a", annotations: { audience: ["user"] } },
    { type: "audio", data: "", mimeType: "audio/wav" },
  ]);
  server.tool("point", {}, () => origin);
  server.tool("nothing", {}, async () => {
    await Promise.resolve();
  });
  // @ts-expect-error: a number alone is no result
  server.tool("number", {}, () => 5);
  // @ts-expect-error: the output schema wants a number
  server.tool("wrong", { outputSchema: z.object({ x: z.number() }) }, () => ({ x: "0" }));
  await using talk = await conversationWith(server, "2025-11-25");
  const point = await talk.ask(request(1, "tools/call", { name: "point" }));
  expect(point).toBe(success(1, { content: [text('{"x":0}')], structuredContent: { x: 0 } }));
  const nothing = await talk.ask(request(2, "tools/call", { name: "nothing" }));
  expect(nothing).toBe(success(2, { content: [] }));
});

describe.each(ways)("a handler that throws %s", (_way, wrap) => {
  const throwing = (error: unknown): Server =>
    doing(() =>
      wrap(() => {
        throw error;
      }),
    );

  test("a ToolError with words: a result for the model", async () => {
    await using talk = await conversationWith(throwing(new ToolError("no such city")), "2025-11-25");
    expect(await talk.ask(call)).toBe(success(1, { content: [text("no such city")], isError: true }));
    expect(talk.reports).toEqual([]);
  });

  test("a ToolError with blocks: those", async () => {
    const blocks = [text("see"), { type: "image", data: "AA==", mimeType: "image/png" } as const];
    await using talk = await conversationWith(throwing(new ToolError(blocks)), "2025-11-25");
    expect(await talk.ask(call)).toBe(success(1, { content: blocks, isError: true }));
  });

  test("an RpcError: as it is", async () => {
    const error = new RpcError(4_711, "Out of stock", { item: "shoes" });
    await using talk = await conversationWith(throwing(error), "2025-11-25");
    expect(await talk.ask(call)).toBe(failure(1, 4_711, "Out of stock", { item: "shoes" }));
    expect(talk.reports).toEqual([]);
  });

  test.each([new Error("secret path /etc"), "secret text", undefined, null, { secret: 1 }])(
    "%o: an internal error without a word of it, and a report",
    async (error) => {
      await using talk = await conversationWith(throwing(error), "2025-11-25");
      expect(await talk.ask(call)).toBe(internal);
      expect(talk.reports).toHaveLength(1);
      expect(talk.reports[0]).toContain(error instanceof Error ? "secret path /etc" : String(error));
    },
  );
});

describe("a tool with an output schema", () => {
  const weather = z.object({ celsius: z.number(), wind: z.string().default("calm") });

  test.each(ways)("returns what the schema describes, and the text is made of it: %s", async (_way, wrap) => {
    await using talk = await conversationWith(
      doing(() => wrap(() => ({ celsius: 20 })), weather),
      "2025-11-25",
    );
    const structuredContent = { celsius: 20, wind: "calm" };
    expect(await talk.ask(call)).toBe(
      success(1, { content: [text(JSON.stringify(structuredContent))], structuredContent }),
    );
  });

  test("says it as text alone to a client that reads no structure", async () => {
    await using talk = await conversationWith(
      doing(() => ({ celsius: 20 }), weather),
      "2025-03-26",
    );
    expect(await talk.ask(call)).toBe(success(1, { content: [text('{"celsius":20,"wind":"calm"}')] }));
  });

  test("may choose its own words with a whole result, which is checked and completed all the same", async () => {
    const whole = { content: [text("warm")], structuredContent: { celsius: 20 } };
    await using talk = await conversationWith(
      doing(() => whole, weather),
      "2025-11-25",
    );
    expect(await talk.ask(call)).toBe(
      success(1, { content: [text("warm")], structuredContent: { celsius: 20, wind: "calm" } }),
    );
  });

  test("may fail: a failure need not fit the schema", async () => {
    const failing = doing(() => ({ content: [text("no data")], isError: true }), weather);
    await using talk = await conversationWith(failing, "2025-11-25");
    expect(await talk.ask(call)).toBe(success(1, { content: [text("no data")], isError: true }));
  });

  test.each(ways)("returns something else: an internal error, and the fault is reported: %s", async (_way, wrap) => {
    for (const returned of [{ celsius: "warm" }, {}, "20", undefined, { content: [], structuredContent: {} }]) {
      await using talk = await conversationWith(
        doing(() => wrap(() => returned), weather),
        "2025-11-25",
      );
      expect(await talk.ask(call)).toBe(internal);
      expect(talk.reports).toEqual([expect.stringMatching(/do returned what its outputSchema forbids: \S/)]);
    }
  });

  test.each([
    [
      "content alone",
      { content: [text("warm")] },
      "; a result with content and an outputSchema has structuredContent too",
    ],
    [
      "structuredContent alone",
      { structuredContent: { celsius: 20 } },
      "; return the value of structuredContent itself",
    ],
  ])("is half a result, with %s: the report names the other half", async (_half, returned, remedy) => {
    const untyped = returned as unknown as { celsius: number; wind: string };
    await using talk = await conversationWith(
      doing(() => untyped, weather),
      "2025-11-25",
    );
    expect(await talk.ask(call)).toBe(internal);
    expect(talk.reports).toEqual([expect.stringContaining(remedy)]);
  });

  test("may be no object in the newest revision; a client of an older one sees it wrapped in one", async () => {
    const server = doing(() => [1, 2], z.array(z.number()));
    await using newest = talkTo(server);
    expect(parse(await newest.ask(stateless(1, "tools/call", { name: "do" }))).result).toMatchObject({
      content: [text("[1,2]")],
      structuredContent: [1, 2],
    });
    await using older = await conversationWith(server, "2025-11-25");
    expect(await older.ask(call)).toBe(success(1, { content: [text("[1,2]")], structuredContent: { result: [1, 2] } }));
    expect(parse(await older.ask(request(2, "tools/list"))).result?.tools).toMatchObject([
      { outputSchema: { type: "object", properties: { result: { type: "array" } }, required: ["result"] } },
    ]);
  });

  test("by JSON Schema is checked against what will be sent: a date is a text", async () => {
    const server = createServer(info);
    const outputSchema = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };
    server.tool("do", { outputSchema }, () => ({ at: new Date(0), left: undefined }));
    await using talk = await conversationWith(server, "2025-11-25");
    const structured = '{"at":"1970-01-01T00:00:00.000Z"}';
    expect(await talk.ask(call)).toBe(
      `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":${JSON.stringify(structured)}}],"structuredContent":${structured}}}`,
    );
  });
});

test("a mapper of the application's exceptions chooses what the client sees", async () => {
  class OutOfStock extends Error {}
  const server = doing(() => {
    throw new OutOfStock("secret");
  });
  const mapError = (error: unknown): RpcError | undefined =>
    error instanceof OutOfStock ? new RpcError(4_711, "Out of stock") : undefined;
  await using talk = await conversationWith(server, "2025-11-25", { mapError });
  expect(await talk.ask(call)).toBe(failure(1, 4_711, "Out of stock"));
});
