import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { createServer, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { failure, request, stateless, success } from "../../testing/frames.js";
import { conversationWith, talkTo } from "../../testing/talks.js";
import { speak } from "../speak.js";

const serverInfo = { name: "prompts", version: "1" };

function prompts(): Server {
  const server = createServer(serverInfo);
  const review = {
    description: "Review code",
    arguments: { code: { description: "What to review", required: true }, tone: {} },
  } as const;
  server.prompt("review", review, ({ code, tone }) => `Review in a ${tone ?? "kind"} tone: ${code}`);
  const schema = z.object({
    topic: z.string().min(2).describe("What about"),
    language: z.enum(["en", "de"]).default("en").meta({ title: "Language" }),
  });
  server.prompt("explain", { arguments: schema }, ({ topic, language }) => ({
    description: topic,
    messages: [
      { role: "user", content: { type: "text", text: `Explain ${topic} in ${language}` } },
      { role: "assistant", content: { type: "text", text: "Gladly." } },
    ],
  }));
  server.prompt("plain", {}, () => "Hello");
  return server;
}

const said = (text: string): object => ({ messages: [{ role: "user", content: { type: "text", text } }] });

describe("on the wire", () => {
  test("of the handshake era", async () => {
    await using talk = await conversationWith(prompts(), "2025-03-26");
    expect(await talk.ask(request(1, "prompts/list"))).toBe(
      success(1, {
        prompts: [
          {
            name: "review",
            description: "Review code",
            arguments: [{ name: "code", description: "What to review", required: true }, { name: "tone" }],
          },
          {
            name: "explain",
            arguments: [{ name: "topic", description: "What about", required: true }, { name: "language" }],
          },
          { name: "plain" },
        ],
      }),
    );
    expect(await talk.ask(request(2, "prompts/get", { name: "plain" }))).toBe(success(2, said("Hello")));
    expect(await talk.ask(request(3, "prompts/get", { name: "no" }))).toBe(
      failure(3, -32_602, "Unknown prompt: no", {
        errors: [{ path: "/name", message: "is not a prompt of this server" }],
      }),
    );
  });

  test("of the stateless era", async () => {
    await using talk = talkTo(prompts());
    expect(await talk.ask(stateless(1, "prompts/get", { name: "review", arguments: { code: "1" } }))).toBe(
      success(1, {
        ...said("Review in a kind tone: 1"),
        resultType: "complete",
        _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      }),
    );
  });
});

describe.each(versions)("in %s", (version) => {
  test("arguments reach the handler as their definition says", async () => {
    await using peer = await speak(prompts(), version);
    const review = { name: "review", arguments: { code: "a", tone: "stern" } };
    expect(await peer.result("prompts/get", review)).toEqual(said("Review in a stern tone: a"));
    expect(await peer.result("prompts/get", { name: "explain", arguments: { topic: "tea" } })).toEqual({
      description: "tea",
      messages: [
        { role: "user", content: { type: "text", text: "Explain tea in en" } },
        { role: "assistant", content: { type: "text", text: "Gladly." } },
      ],
    });
  });

  test.each([
    ["review", undefined, ["/arguments/code"]],
    ["review", {}, ["/arguments/code"]],
    ["review", { code: 7 }, ["/arguments/code"]],
    ["review", { code: "a", depth: "1" }, ["/arguments/depth"]],
    ["review", { tone: null }, ["/arguments/code", "/arguments/tone"]],
    ["plain", { any: "1" }, ["/arguments/any"]],
    ["explain", { topic: "t" }, ["/arguments/topic"]],
    ["explain", { topic: "tea", language: "fr" }, ["/arguments/language"]],
  ])("arguments that do not fit are -32602, each by its place: %s %j", async (name, args, paths) => {
    await using peer = await speak(prompts(), version);
    const error = await peer.error("prompts/get", { name, arguments: args });
    expect(error).toMatchObject({ code: -32_602, data: expect.anything() as unknown });
    const { errors } = error.data as { errors: { path: string; message: string }[] };
    expect(error.message).toBe(`Invalid arguments for prompt ${name}: ${errors[0]?.path}: ${errors[0]?.message}`);
    expect(errors.map(({ path }) => path).toSorted()).toEqual(paths);
  });

  test.each([
    [{}, "/name"],
    [{ name: 7 }, "/name"],
    [{ name: "review", arguments: [] }, "/arguments"],
    [{ name: "review", arguments: null }, "/arguments"],
    [{ name: "constructor" }, "/name"],
    [{ name: "__proto__" }, "/name"],
  ])("params that are none are -32602: %j", async (params, path) => {
    await using peer = await speak(prompts(), version);
    expect(await peer.error("prompts/get", params)).toMatchObject({ code: -32_602, data: { errors: [{ path }] } });
  });

  test("a server without prompts does not know their methods", async () => {
    await using peer = await speak(createServer(serverInfo), version);
    expect(await peer.error("prompts/list")).toMatchObject({ code: -32_601 });
    expect(await peer.error("prompts/get", { name: "a" })).toMatchObject({ code: -32_601 });
  });
});

describe("a handler may return", () => {
  const text = { type: "text", text: "a" } as const;
  const assistant = { role: "assistant", content: text } as const;

  test.each([
    ["text", "a", [{ role: "user", content: text }]],
    ["a block", text, [{ role: "user", content: text }]],
    ["a message", assistant, [assistant]],
    ["messages", [assistant, assistant], [assistant, assistant]],
    ["no message", [], []],
    ["a whole result", { messages: [assistant] }, [assistant]],
  ])("%s", async (_name, value, messages) => {
    const server = createServer(serverInfo);
    server.prompt("a", {}, () => value);
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.result("prompts/get", { name: "a" })).toEqual({ messages });
  });

  test.each([[undefined], [null], [7], [{}], [["a"]], [[{ role: "user" }]]])(
    "nothing else: %j is a fault of the server",
    async (value) => {
      const server = createServer(serverInfo);
      server.prompt("a", {}, () => value as unknown as string);
      await using peer = await speak(server, "2026-07-28");
      expect(await peer.error("prompts/get", { name: "a" })).toEqual({ code: -32_603, message: "Internal error" });
    },
  );

  test("what waits for a person", async () => {
    const server = createServer(serverInfo);
    server.prompt("a", {}, async (_args, ctx) => (await ctx.elicit("Who?", z.object({ name: z.string() }))).action);
    await using talk = talkTo(server);
    const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    expect(JSON.parse(await talk.ask(stateless(1, "prompts/get", { name: "a" }, capable)))).toMatchObject({
      result: { resultType: "input_required" },
    });
  });
});

describe("a definition is refused", () => {
  test("but not for saying in another way that an argument is a string", () => {
    const schema = z.object({
      a: z.union([z.literal("x"), z.literal("y")]),
      b: z.literal("z"),
      c: z.string().optional(),
    });
    expect(() => createServer(serverInfo).prompt("a", { arguments: schema }, () => "")).not.toThrow();
  });

  test.each(["", "a\n", "\ud800", "x".repeat(129)])("with the name %j", (name) => {
    expect(() => createServer(serverInfo).prompt(name, {}, () => "")).toThrow(TypeError);
  });

  test.each([
    [z.object({ count: z.number() })],
    [z.object({ when: z.union([z.string(), z.number()]) })],
    [z.object({ any: z.unknown() })],
  ])("with an argument that the wire cannot carry", (schema) => {
    expect(() => createServer(serverInfo).prompt("a", { arguments: schema }, () => "")).toThrow("must be a string");
  });

  test("with a schema that is no object", () => {
    expect(() => createServer(serverInfo).prompt("a", { arguments: z.string() }, () => "")).toThrow("object");
  });

  test("with a completer of an argument that it does not have", () => {
    const complete = { b: [] } as unknown as { a: [] };
    expect(() => createServer(serverInfo).prompt("p", { arguments: { a: {} }, complete }, () => "")).toThrow(
      'The prompt p has no "b" to complete: did you mean a?',
    );
  });
});

test("a prompt takes other words for its arguments", async () => {
  const server = prompts();
  const registration = server.prompt("greet", { arguments: { name: { required: true } } }, ({ name }) => `Hi ${name}`);
  registration.update({ title: "Greet", arguments: { name: { title: "Name", required: true } } });
  await using peer = await speak(server, "2026-07-28");
  expect(((await peer.result("prompts/list")).prompts as object[]).at(-1)).toEqual({
    name: "greet",
    title: "Greet",
    arguments: [{ name: "name", title: "Name", required: true }],
  });
  // @ts-expect-error The handler counts on it.
  registration.update({ arguments: { name: {} } });
});

test("the compiler knows what an argument may have, as a completion is a member of the prompt", () => {
  const define = (): unknown =>
    // @ts-expect-error The function belongs into `complete`, beside `arguments`.
    createServer(serverInfo).prompt("p", { arguments: { a: { required: true, complete: () => ["x"] } } }, ({ a }) => a);
  expect(define).toThrow('The argument a: unknown member "complete"');
});

test("the compiler knows which arguments there are", () => {
  const server = createServer(serverInfo);
  server.prompt("a", { arguments: { code: { required: true }, tone: { required: false }, name: {} } }, (args) => {
    expectTypeOf(args.code).toEqualTypeOf<string>();
    expectTypeOf(args.tone).toEqualTypeOf<string | undefined>();
    expectTypeOf(args.name).toEqualTypeOf<string | undefined>();
    return "";
  });
  server.prompt("b", { arguments: z.object({ day: z.iso.date().transform((day) => new Date(day)) }) }, (args) => {
    expectTypeOf(args.day).toEqualTypeOf<Date>();
    return "";
  });
  server.prompt("c", {}, (args) => {
    expectTypeOf(args).toEqualTypeOf<Readonly<Record<string, never>>>();
    return "";
  });
});

test.each(versions)(
  "a ToolError of a prompt has its message, and is no fault of the server, in %s",
  async (version) => {
    const server = createServer(serverInfo);
    server.prompt("note", {}, () => {
      throw new ToolError("There is no note 9");
    });
    await using client = await connect(server, { revision: version });
    await expect(client.prompts.get("note")).rejects.toMatchObject({ code: -32_603, message: "There is no note 9" });
  },
);

test("a field that is still wrapped in completable() of the official SDK is named, with what to write", () => {
  const server = createServer({ name: "ported", version: "1" });
  // As the SDK marks it: its completion would be dropped in silence.
  const topic = Object.defineProperty(z.string(), Symbol.for("mcp.completable"), {
    value: { complete: () => ["tea"] },
  });
  expect(() => server.prompt("p", { arguments: { topic } }, () => "")).toThrow(
    "The prompt p: completable() of the official SDK has no effect here: write arguments: { topic: … } without it, and complete: { topic: (typed) => […] }",
  );
});
