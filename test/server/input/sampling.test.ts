import { revisionOf, revisions } from "@parlance/mcp/protocol";
import { createServer, sample } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { parse, success } from "../../testing/frames.js";
import { openAsked } from "./open.js";

type Params = Parameters<typeof sample>[0];

const text = { type: "text", text: "Hi" } as const;
const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} }) as const;
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [] }) as const;
const look = { name: "look", inputSchema: { type: "object" } } as const;

const asks = { role: "user", content: text } as const;
const uses = { role: "assistant", content: [text, use("a"), use("b")] } as const;
const answers = { role: "user", content: [result("b"), result("a")] } as const;

function tooling(...messages: Params["messages"]): Params {
  return { messages, maxTokens: 10, tools: [look] };
}

describe("what is asked of a model", () => {
  test("may use tools whose results follow", () => {
    expect(() => sample(tooling(asks, uses, answers))).not.toThrow();
    expect(() => sample(tooling(asks, uses, answers, uses, answers, asks))).not.toThrow();
    const one = { role: "assistant", content: use("a") } as const;
    expect(() => sample(tooling(asks, one, { role: "user", content: result("a") }))).not.toThrow();
  });

  test.each<[string, string, Params]>([
    ["/messages/1", "a use without a result", tooling(asks, uses)],
    [
      "/messages/1",
      "a use with another's result",
      tooling(asks, uses, { role: "user", content: [result("a"), result("c")] }),
    ],
    ["/messages/1", "two uses and one result", tooling(asks, uses, { role: "user", content: result("a") })],
    ["/messages/1", "a use, and its result too late", tooling(asks, uses, asks, answers)],
    [
      "/messages/2",
      "a result among other content",
      tooling(asks, uses, { role: "user", content: [...answers.content, text] }),
    ],
    ["/messages/1", "results of no use", tooling(asks, answers)],
    ["/messages/0", "results at the beginning", tooling(answers)],
    ["/messages/0", "a use by the user", tooling({ role: "user", content: use("a") }, answers)],
    ["/messages/1", "a result by the assistant", tooling(asks, { role: "assistant", content: result("a") })],
    ["/messages/0", "a message with an unknown role", tooling({ ...asks, role: "system" as "user" })],
    ["/messages/0", "a message without content", tooling({ role: "user", content: [] })],
    ["/messages", "no messages", { maxTokens: 10 } as Params],
    ["/maxTokens", "no number of tokens", { messages: [asks] } as unknown as Params],
    ["/toolChoice", "a choice without tools", { messages: [asks], maxTokens: 10, toolChoice: { mode: "required" } }],
    ["/toolChoice", "a choice of no tools", { messages: [asks], maxTokens: 10, tools: [], toolChoice: {} }],
  ])("is refused before it is sent, naming %s: %s", (path, _name, params) => {
    expect(() => sample(params)).toThrow(TypeError);
    expect(() => sample(params)).toThrow(new RegExp(`^sampling/createMessage: (?:.*; )?${path} must`));
  });
});

describe.each(revisions.map(({ version }) => version))("in %s", (version) => {
  const facts = revisionOf(version)?.facts;
  const isStateless = revisionOf(version)?.era === "stateless";

  /** The request that a client with all capabilities receives. */
  async function asked(params: Params, capabilities: object): Promise<{ params?: unknown; error?: unknown }> {
    const server = createServer({ name: "asking", version: "1" });
    server.tool("ask", {}, async (_args, context) => (await context.sample(params)).model);
    await using client = await openAsked(server, { version, isStateless }, capabilities);
    const frame = parse(await client.ask("tools/call", { name: "ask" }));
    if (frame.method !== undefined) {
      await client.talk.ask(success(frame.id ?? "", { role: "assistant", content: text, model: "m" }));
      return { params: frame.params };
    }
    const [question] = Object.values((frame.result?.inputRequests ?? {}) as Record<string, { params: unknown }>);
    return { params: question?.params, error: frame.error };
  }

  test.each<[string, Params]>([
    ["tools", { messages: [asks], maxTokens: 10, tools: [look] }],
    ["a choice of tools", { messages: [asks], maxTokens: 10, tools: [look], toolChoice: { mode: "auto" } }],
    ["uses of tools", { messages: [asks, uses, answers], maxTokens: 10 }],
  ])("%s go to a client that declares them, where the revision has them", async (_name, params) => {
    const missing = { data: { requiredCapabilities: { sampling: { tools: {} } } } };
    expect((await asked(params, { sampling: {} })).error).toMatchObject(missing);
    const told = await asked(params, { sampling: { tools: {} } });
    if (facts?.samplingTools === true) expect(told.params).toMatchObject(params);
    else expect(told.error).toMatchObject(missing);
  });

  test("what cannot be asked is a bug of the handler: it is reported, and nothing is sent", async () => {
    const { params, error } = await asked(tooling(asks, uses), { sampling: { tools: {} } });
    expect(params).toBeUndefined();
    expect(error).toEqual({ code: -32_603, message: "Internal error" });
  });
});
