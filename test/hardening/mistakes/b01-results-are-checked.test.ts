import { connect } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { createServer, elicitForm, elicitUrl, type Server, sample, ToolError } from "@parlance/mcp/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasSchemas } from "../../protocol/revisions/published.js";
import { fitting, mutate, mutations } from "../../protocol/shapes/generator.js";
import { refTo } from "../../protocol/shapes/schemas.js";
import { speak } from "../../server/speak.js";
import { runs } from "../../testing/forms.js";

const newest = "2026-07-28";
const info = { name: "checked", version: "1.0.0" };
const png = new Uint8Array([137, 80, 78, 71]);
const text = { type: "text", text: "t" } as const;
const internal = { code: -32_603, message: "Internal error" };

/** A server whose handlers return that, whatever TypeScript says of it. */
function returning(value: unknown): Server {
  const server = createServer(info);
  server.tool("t", {}, () => value as string);
  server.prompt("p", {}, () => value as string);
  server.resource("r:r", {}, () => value as string);
  server.prompt("c", { arguments: { a: {} }, complete: { a: () => value as readonly string[] } }, () => "");
  server.method("x/m", () => value);
  return server;
}

type Request = readonly [method: string, params: object];

const requests: Readonly<Record<"tool" | "prompt" | "resource" | "completion" | "method", Request>> = {
  tool: ["tools/call", { name: "t" }],
  prompt: ["prompts/get", { name: "p" }],
  resource: ["resources/read", { uri: "r:r" }],
  completion: ["completion/complete", { ref: { type: "ref/prompt", name: "c" }, argument: { name: "a", value: "" } }],
  method: ["x/m", {}],
};

type Kind = keyof typeof requests;

/** The response to the peer, and the report to the operator. */
async function outcome(kind: Kind, value: unknown): Promise<{ readonly error: unknown; readonly report: string }> {
  await using peer = await speak(returning(value), newest);
  const error = await peer.error(...requests[kind]);
  return { error, report: peer.talk.reports.join("\n").split("\n    at ")[0] ?? "" };
}

async function result(kind: Kind, value: unknown): Promise<unknown> {
  await using peer = await speak(returning(value), newest);
  return peer.result(...requests[kind]);
}

class Point {
  readonly x = 1;
}

class Account {
  readonly #secret = 1;
  get balance(): number {
    return this.#secret;
  }
}

const loop: Record<string, unknown> = {};
loop.inner = [loop];

describe("B1: what a handler returns is checked before it is sent", () => {
  test.each<[string, unknown, string, RegExp]>([
    [
      "an unknown type of block",
      { content: [{ type: "txt", text: "" }] },
      "/content/0/type",
      /"text".*"resource", got "txt"/,
    ],
    ["a block without a type", { content: [text, { text: "" }] }, "/content/1/type", /got nothing/],
    ["a text in the place of a block", { content: ["hi"] }, "/content/0", /got "hi": text is \{ type: "text"/],
    ["a block whose text is none", { type: "text", text: 5 }, "/content/0/text", /must be a string, got 5/],
    ["an image without its type", { type: "image", data: png }, "/content/0/mimeType", /must be a string/],
    [
      "an image by its URL",
      { type: "image", data: "data:image/png;base64,AA==", mimeType: "image/png" },
      "/content/0/data",
      /without a data: prefix/,
    ],
    ["a link that is no URI", { type: "resource_link", uri: "my file", name: "f" }, "/content/0/uri", /new URL/],
    [
      "a resource without contents",
      { type: "resource", resource: { uri: "a:b" } },
      "/content/0/resource",
      /text or blob/,
    ],
    [
      "an unknown audience",
      { ...text, annotations: { audience: ["model"] } },
      "/content/0/annotations/audience/0",
      /"user" or "assistant"/,
    ],
    ["isError in words", { content: [], isError: "yes" }, "/isError", /must be a boolean/],
    ["a block among others that are none", [text, { type: "txt" }], "/content/1", /must be a content block/],
    ["an Error", new TypeError("no"), "/structuredContent", /a TypeError: throw it/],
    [
      "an Error with fields",
      Object.assign(new Error("no"), { code: "ENOENT" }),
      "/structuredContent",
      /throw a ToolError/,
    ],
    ["a Map", new Map([["a", 1]]), "/structuredContent", /a Map: give Object\.fromEntries/],
    ["a Set", new Set([1]), "/structuredContent", /a Set: give an array/],
    ["a Response", new Response("hi"), "/structuredContent", /a Response: read it first/],
    ["bytes alone", png, "/structuredContent", /an Uint8Array: give its bytes as image/],
    ["a Buffer in JSON", { file: Buffer.from("hi") }, "/structuredContent/file", /a Buffer: .*base64 string/],
    ["an instance without fields", new Account(), "/structuredContent", /an Account: JSON writes it as \{\}/],
    ["a promise inside", { later: Promise.resolve(1) }, "/structuredContent/later", /a Promise: await it/],
    ["a function", () => 1, "/structuredContent", /a function: give data/],
    ["a function inside", { a: [{ "b/c": () => 1 }] }, "/structuredContent/a/0/b~1c", /a function: give data/],
    ["a bigint", { id: 1n }, "/structuredContent/id", /a bigint: give a string/],
    ["NaN", { mean: Number.NaN }, "/structuredContent/mean", /a finite number, got NaN.*null/],
    ["a hole in an array", { a: [1, undefined] }, "/structuredContent/a/1", /undefined.*null/],
    ["what contains itself", loop, "/structuredContent/inner/0", /contains itself/],
    ["NaN in a whole result", { content: [], structuredContent: { a: Number.NaN } }, "/structuredContent/a", /finite/],
    ["a Map in its _meta", { content: [], _meta: { a: new Map() } }, "/_meta/a", /a Map/],
    ["another type of result", { content: [], resultType: "input_required" }, "/resultType", /inputRequired/],
  ])(
    "a tool that returns %s: internal to the client, the place and the remedy to the operator",
    async (_what, value, place, remedy) => {
      const { error, report } = await outcome("tool", value);
      expect(error).toEqual(internal);
      expect(report).toContain(`The result of the tool t cannot be sent: ${place} `);
      expect(report).toMatch(remedy);
    },
  );

  test.each<[string, unknown, object]>([
    [
      "an image of bytes",
      { type: "image", data: Buffer.from(png), mimeType: "image/png" },
      { type: "image", data: "iVBORw==", mimeType: "image/png" },
    ],
    [
      "audio of a buffer",
      { type: "audio", data: png.buffer, mimeType: "audio/wav" },
      { type: "audio", data: "iVBORw==", mimeType: "audio/wav" },
    ],
    [
      "a view of a part of a buffer",
      { type: "audio", data: png.subarray(1, 3), mimeType: "audio/wav" },
      { type: "audio", data: "UE4=", mimeType: "audio/wav" },
    ],
    [
      "a resource of bytes",
      { type: "resource", resource: { uri: "a:b", blob: png } },
      { type: "resource", resource: { uri: "a:b", blob: "iVBORw==" } },
    ],
  ])("%s goes out in base64, alone, among others, in a whole result and in a prompt", async (_what, value, block) => {
    expect(await result("tool", value)).toEqual({ content: [block] });
    expect(await result("tool", [text, value])).toEqual({ content: [text, block] });
    expect(await result("tool", { content: [value, text] })).toEqual({ content: [block, text] });
    expect(await result("prompt", value)).toEqual({ messages: [{ role: "user", content: block }] });
    await using peer = await speak(returning(value), newest);
    expect(await peer.result("tools/call", { name: "t" })).toEqual({ content: [block] });
  });

  test("a ToolError is checked and encoded as any result", async () => {
    const server = createServer(info);
    server.tool("shot", {}, () => {
      throw new ToolError([text, { type: "image", data: png, mimeType: "image/png" }]);
    });
    server.tool("wrong", {}, () => {
      throw new ToolError([{ type: "txt" } as unknown as typeof text]);
    });
    await using peer = await speak(server, "2025-11-25");
    expect(await peer.result("tools/call", { name: "shot" })).toEqual({
      content: [text, { type: "image", data: "iVBORw==", mimeType: "image/png" }],
      isError: true,
    });
    expect(await peer.error("tools/call", { name: "wrong" })).toEqual(internal);
    expect(peer.talk.reports.join()).toContain("The result of the tool wrong cannot be sent: /content/0/type ");
  });

  test.each<[string, unknown, unknown]>([
    ["rows that are instances of a class", [new Point()], [{ x: 1 }]],
    ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a URL alone", new URL("https://a.b/"), "https://a.b/"],
    ["members that are undefined", { a: undefined, b: 1 }, { b: 1 }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["one object in two places", { a: info, b: info }, { a: info, b: info }],
    ["null", null, null],
  ])("what JSON can say goes out: %s", async (_what, value, written) => {
    expect(await result("tool", value)).toEqual({
      content: [{ type: "text", text: JSON.stringify(written) }],
      structuredContent: written,
    });
  });

  test("a tool with an output schema is checked as well: what its library makes of a value may be no JSON", async () => {
    const server = createServer(info);
    const outputSchema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => ({ value: { given: value, at: Number.POSITIVE_INFINITY } }),
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      },
    };
    server.tool("t", { outputSchema }, () => ({}));
    await using peer = await speak(server, newest);
    expect(await peer.error("tools/call", { name: "t" })).toEqual(internal);
    expect(peer.talk.reports.join()).toContain("/structuredContent/at must be a finite number, got Infinity");
  });

  test.each<[Kind, unknown, string]>([
    [
      "prompt",
      [{ role: "system", content: text }],
      'The result of the prompt p cannot be sent: /messages/0/role must be "user" or "assistant"',
    ],
    ["prompt", { role: "user", content: "hi" }, "/messages/0/content must be an object"],
    ["prompt", { role: "user", content: [text] }, "/messages/0/content must be an object, got an array"],
    ["prompt", { type: "txt" }, "/messages/0/content/type must be"],
    ["prompt", { messages: [], description: 5 }, "/description must be a string, got 5"],
    [
      "prompt",
      ["a", "b"],
      '/messages/0 must be a message, got a string: write { role: "user", content: { type: "text", text: "…" } }, or return one text',
    ],
    [
      "prompt",
      { messages: [{ role: "user", content: text }, text] },
      '/messages/1 must be a message, got a content block: write { role: "user", content: block }',
    ],
    ["prompt", 5, "must be text, a content block, messages, or a whole result, got a number"],
    ["prompt", undefined, "must be text, a content block, messages, or a whole result, got nothing"],
    ["resource", { text: 5 }, "The contents of r:r cannot be sent: /contents/0/text must be a string, got 5"],
    ["resource", { blob: "a b" }, "/contents/0/blob must be base64 or bytes"],
    ["resource", { text: "", uri: "no uri" }, "/contents/0/uri must be a URI"],
    ["resource", ["", { text: "", mimeType: 5 }], "/contents/1/mimeType must be a string, got 5"],
    ["resource", new Map(), "/contents/0 must be text, bytes, or contents with either text or blob"],
    ["completion", [1], "The completion of a of c cannot be sent: /completion/values/0 must be a string, got 1"],
    ["completion", "abc", "must be an array of strings"],
    ["completion", { values: [], total: 1.5 }, "/completion/total must be an integer, got 1.5"],
    ["method", new Map(), "The result of x/m cannot be sent: it must be JSON, got a Map"],
    ["method", { a: [1n] }, "/a/0 must be JSON, got a bigint"],
    ["method", "text", "it must be an object, or undefined for an empty one, got a string"],
  ])("a %s that returns what cannot be sent, case %#", async (kind, value, why) => {
    const { error, report } = await outcome(kind, value);
    expect(error).toEqual(internal);
    expect(report).toContain(why);
  });
});

describe("B1: what a server asks is checked before it is sent", () => {
  const message = (content: unknown): never => ({ messages: [{ role: "user", content }], maxTokens: 1 }) as never;

  test("bytes in a message go out in base64", () => {
    const { params } = sample(message([text, { type: "image", data: png, mimeType: "image/png" }]));
    expect(params).toEqual(message([text, { type: "image", data: "iVBORw==", mimeType: "image/png" }]));
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      "a block that does not exist",
      () => sample(message({ type: "txt" })),
      /createMessage cannot be sent: \/messages\/0\/content.*got "txt"/,
    ],
    [
      "a temperature in words",
      () => sample({ ...(message(text) as object), temperature: "hot" } as never),
      /\/temperature must be a number, got "hot"/,
    ],
    [
      "NaN in its metadata",
      () => sample({ ...(message(text) as object), metadata: { a: Number.NaN } } as never),
      /\/metadata\/a must be a finite number/,
    ],
    [
      "a form without a message",
      () => elicitForm(undefined as never, { type: "object", properties: {} }),
      /elicitation\/create cannot be sent: \/message must be a string, got nothing/,
    ],
    ["a page without a message", () => elicitUrl(5 as never, "https://a.b"), /\/message must be a string, got 5/],
  ])("%s", (_what, ask, why) => {
    expect(ask).toThrow(TypeError);
    expect(ask).toThrow(why);
  });
});

describe("B1: what a client answers is checked before it is sent", () => {
  /** The response to a server, and the reports of the client. */
  async function asked(
    answers: object,
    ask: Parameters<Server["tool"]>[2],
  ): Promise<{ readonly text: string; readonly reports: readonly string[] }> {
    const server = createServer(info);
    server.tool("ask", {}, async (_args, context) => {
      try {
        return JSON.stringify(await ask({}, context));
      } catch (error) {
        return `refused: ${String(error)}`;
      }
    });
    const reports: string[] = [];
    const client = await connect(server, {
      revision: "2025-11-25",
      handlers: answers,
      report: (report) => void reports.push(describeReport(report)),
    });
    const { content } = await client.tools.call("ask");
    await client.close();
    const [block] = content;
    return { text: block?.type === "text" ? block.text : "", reports };
  }

  const said = { role: "assistant", model: "m", content: text };
  const sampling = (answer: unknown): ReturnType<typeof asked> =>
    asked({ sampling: () => answer }, (_args, ctx) =>
      ctx.sample({ messages: [{ role: "user", content: text }], maxTokens: 1 }),
    );

  test("bytes of a model go out in base64", async () => {
    const { text: got } = await sampling({ ...said, content: { type: "image", data: png, mimeType: "image/png" } });
    expect(JSON.parse(got)).toMatchObject({ content: { data: "iVBORw==" } });
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "must be an object, got nothing"],
    ["no model", { ...said, model: undefined }, "/model must be a string, got nothing"],
    ["an unknown role", { ...said, role: "system" }, '/role must be "user" or "assistant", got "system"'],
    ["a text for content", { ...said, content: "hi" }, "/content must be a content block"],
    ["an unknown block", { ...said, content: { type: "txt" } }, "/content/type must be"],
  ])("a model's answer with %s", async (_what, answer, why) => {
    const { text: got, reports } = await sampling(answer);
    expect(got).toMatch(/^refused: .*Internal error/);
    expect(reports.join()).toContain("What handlers.sampling returned cannot be sent: ");
    expect(reports.join()).toContain(why);
  });

  test.each<[string, unknown, string]>([
    ["a path", [{ uri: "/home/me" }], "/roots/0/uri must be a URI"],
    ["a page", [{ uri: "https://a.b" }], "/roots/0/uri must be a file:// URI"],
    ["an invalid name", [{ uri: "file:///a", name: 5 }], "/roots/0/name must be a string, got 5"],
    ["no array", { uri: "file:///a" }, "/roots must be an array, got an object"],
  ])("roots: %s", async (_what, roots, why) => {
    const { text: got, reports } = await asked({ roots: () => roots }, (_args, ctx) => ctx.listRoots());
    expect(got).toMatch(/^refused: .*Internal error/);
    expect(reports.join()).toContain(why);
  });

  test("a form filled in with what is no form", async () => {
    const answers = { elicitation: () => ({ action: "accept", content: { when: new Map() } }) };
    const { text: got, reports } = await asked(answers, (_args, ctx) =>
      ctx.elicit("When?", { type: "object", properties: { when: { type: "string" } } }),
    );
    expect(got).toMatch(/^refused: .*Internal error/);
    expect(reports.join()).toContain(
      "What handlers.elicitation returned cannot be sent: /content/when must be a string",
    );
  });
});

// Messages that are sent here are checked against the published schemas, as in every test (see test/oracle): what passes the
// check and
// does not conform fails the test.
describe.skipIf(!hasSchemas).each(["2025-06-18", "2025-11-25", newest])(
  "B1: whatever passes conforms to %s",
  (version) => {
    const kinds = [
      ["tool", "CallToolResult"],
      ["prompt", "GetPromptResult"],
      ["resource", "ReadResourceResult"],
      ["completion", "CompleteResult"],
    ] as const;

    test.each(kinds)(
      "%s: results of the schema pass, and with mistakes they conform or are refused with a remedy",
      async (kind, name) => {
        const values = fitting(newest, refTo(newest, name));
        const mistakes = fc.array(mutations(newest), { maxLength: 3 });
        let returned: unknown;
        const server = createServer(info);
        server.tool("t", {}, () => returned as string);
        server.prompt("p", {}, () => returned as string);
        server.resource("r:r", {}, () => returned as string);
        server.prompt("c", { arguments: { a: {} }, complete: { a: () => returned as readonly string[] } }, () => "");
        await using peer = await speak(server, version);
        const reports = peer.talk.reports as string[];
        const property = fc.asyncProperty(values, mistakes, async (sound, all) => {
          const { resultType: _, ...given } = sound as Record<string, unknown>;
          const value = all.reduce(mutate, given as unknown);
          returned = kind === "completion" ? (value as { completion?: unknown } | null)?.completion : value;
          const { result: sent, error } = await peer.ask(...requests[kind]);
          const [why, ...more] = reports.splice(0);
          expect(more).toEqual([]);
          if (all.length === 0 && metaIsSound(sound)) expect({ returned, why }).toEqual({ returned, why: undefined });
          if (why !== undefined) expect(why).toMatch(/cannot be sent: \S+ (?:must be|.*cannot be a key of _meta)/);
          expect((sent === undefined) === (error !== undefined)).toBe(true);
        });
        await fc.assert(property, { numRuns: runs(300) });
      },
    );
  },
);

/** The schema has nothing on the keys of a `_meta`; the generator makes some that the specification forbids. */
function metaIsSound(value: unknown): boolean {
  return !JSON.stringify(value).includes("x/b~");
}

describe("B1: types forbid what is refused", () => {
  test("by every tool without an output schema", () => {
    const server = createServer(info);
    const define = (): void => {
      server.tool("image", {}, () => ({ type: "image", data: Buffer.from(""), mimeType: "image/png" }));
      server.tool("buffer", {}, () => ({ type: "audio", data: new ArrayBuffer(1), mimeType: "image/png" }));
      server.tool("whole", {}, () => ({ content: [{ type: "image", data: png, mimeType: "image/png" }] }));
      server.tool("resource", {}, () => ({ type: "resource", resource: { uri: "a:b", blob: png } }));
      server.tool("row", {}, () => new Point());
      server.tool("rows", {}, () => [new Point()]);
      server.tool("data", {}, () => ({ type: "circle", name: "a", message: "b", content: "c" }));
      server.tool("later", {}, () => new Promise((resolve) => resolve("done")));
      server.tool("failing", {}, () => {
        throw new ToolError([{ type: "image", data: png, mimeType: "image/png" }]);
      });
      // @ts-expect-error: a type of block that does not exist
      server.tool("txt", {}, () => ({ content: [{ type: "txt" }] }));
      // @ts-expect-error: a text is no block
      server.tool("words", {}, () => ({ content: ["hi"] }));
      // @ts-expect-error: JSON writes a Map as {}
      server.tool("map", {}, () => new Map<string, number>());
      // @ts-expect-error: JSON writes a Set as {}
      server.tool("set", {}, async () => new Set<number>());
      // @ts-expect-error: an Error is thrown
      server.tool("error", {}, () => new Error("no"));
      // @ts-expect-error: a Response is read first
      server.tool("response", {}, () => new Response(""));
      // @ts-expect-error: and that takes a while
      server.tool("responses", {}, () => [new Response("")]);
      // @ts-expect-error: a function is no data
      server.tool("function", {}, () => () => "hi");
      // @ts-expect-error: bytes of nothing known
      server.tool("bytes", {}, () => png);
      // @ts-expect-error: JSON has no bigint
      server.tool("bigint", {}, () => 1n);
      // @ts-expect-error: whatever it is
      server.tool("unknown", {}, async (): Promise<unknown> => 5);
      server.prompt("image", {}, () => ({ type: "image", data: png, mimeType: "image/png" }));
      // @ts-expect-error: no such role
      server.prompt("role", {}, () => ({ role: "system", content: { type: "text", text: "" } }));
      // @ts-expect-error: no such block
      server.prompt("txt", {}, () => ({ type: "txt", text: "" }));
      server.resource("a:b", {}, () => ({ blob: new ArrayBuffer(1) }));
      // @ts-expect-error: neither text nor bytes
      server.resource("a:c", {}, () => new Map());
      // @ts-expect-error: values are strings
      server.prompt("c", { arguments: { a: {} }, complete: { a: () => [1] } }, () => "");
    };
    expect(define).toBeTypeOf("function");
  });
});
