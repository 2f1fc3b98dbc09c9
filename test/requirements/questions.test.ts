import {
  type Context,
  createServer,
  elicitForm,
  type Servable,
  type Server,
  type ServerOptions,
} from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { createStateSeal } from "../../packages/mcp/src/server/input/request-state.js";
import { initialized, parse, request, stateless, success } from "../testing/frames.js";
import { echoServer } from "../testing/servers.js";
import { talkTo } from "../testing/talks.js";

const forms = { elicitation: {} };
const yes = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] };
const missing = (requiredCapabilities: object): object => ({
  error: {
    code: -32_021,
    message: expect.stringMatching(/^Missing required client capability: [a-z.]+$/),
    data: { requiredCapabilities },
  },
});

/** A server with one tool, which asks. */
function asking(ask: (context: Context) => Promise<unknown>, options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: "asking", version: "1", ...options });
  server.tool("ask", {}, async (_args, context) => JSON.stringify(await ask(context)));
  return server;
}

/** A call of that tool by a client of the stateless era. */
function call(capabilities: object, more: object = {}): string {
  const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
  return stateless(1, "tools/call", { name: "ask", ...more }, meta);
}

const confirming = (context: Context): Promise<unknown> => context.elicit("Sure?", yes);

/** A sound result of each method that says nothing. */
const emptyResults: Readonly<Record<string, object>> = {
  "tools/call": { content: [] },
  "prompts/get": { messages: [] },
  "resources/read": { contents: [] },
  "tools/list": { tools: [] },
  "prompts/list": { prompts: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "completion/complete": { completion: { values: [] } },
};

describe("what is asked", () => {
  test("capabilities of one request say nothing about the next", async () => {
    await using talk = talkTo(asking(confirming));
    expect(parse(await talk.ask(call(forms))).result?.resultType).toBe("input_required");
    expect(parse(await talk.ask(call({})))).toMatchObject(missing({ elicitation: { form: {} } }));
  });

  test.each([
    ["page", { form: {} }],
    ["form", { url: {} }],
  ])("a form is no page: %j", async (what, elicitation) => {
    const server = asking((context) =>
      what === "page" ? context.elicitUrl("Log in", "https://example.com/login") : confirming(context),
    );
    await using talk = talkTo(server);
    const needed = what === "page" ? { url: {} } : { form: {} };
    expect(parse(await talk.ask(call({ elicitation })))).toMatchObject(missing({ elicitation: needed }));
  });

  test("tools are given to a model only where the client can", async () => {
    const messages = [{ role: "user", content: { type: "text", text: "Say hi" } }] as const;
    const look = { name: "look", inputSchema: { type: "object" } } as const;
    const server = asking((context) => context.sample({ messages, maxTokens: 10, tools: [look] }));
    await using talk = talkTo(server);
    expect(parse(await talk.ask(call({ sampling: {} })))).toMatchObject(missing({ sampling: { tools: {} } }));
    const asked = parse(await talk.ask(call({ sampling: { tools: {} } }))).result;
    expect(Object.values(asked?.inputRequests ?? {})).toMatchObject([{ method: "sampling/createMessage" }]);
  });

  test("a page that is no URL is not asked for", async () => {
    await using talk = talkTo(asking((context) => context.elicitUrl("Log in", "example dot com")));
    expect(parse(await talk.ask(call({ elicitation: { url: {} } }))).error?.code).toBe(-32_603);
    expect(talk.reports.join()).toContain("Invalid URL");
  });

  test("a question says nothing of how long it may be kept", async () => {
    const server = createServer({ name: "asking", version: "1" });
    server.resource("a:b", { ttlMs: 60_000, cacheScope: "public" }, async (_uri, context) => {
      await confirming(context);
      return "";
    });
    await using talk = talkTo(server);
    const meta = { "io.modelcontextprotocol/clientCapabilities": forms };
    const asked = parse(await talk.ask(stateless(1, "resources/read", { uri: "a:b" }, meta))).result;
    expect(asked?.resultType).toBe("input_required");
    expect(asked).not.toHaveProperty("ttlMs");
    expect(asked).not.toHaveProperty("cacheScope");
  });

  test.each([
    ["tools/call", true],
    ["prompts/get", true],
    ["resources/read", true],
    ["tools/list", false],
    ["prompts/list", false],
    ["resources/list", false],
    ["resources/templates/list", false],
    ["completion/complete", false],
  ])("%s may ask: %s", async (method, may) => {
    const served: Servable = {
      ...echoServer(),
      run: (_method, _params, operation) => ({ ...emptyResults[method], may: operation.input !== undefined }),
    };
    await using talk = talkTo(served);
    expect(parse(await talk.ask(stateless(1, method))).result?.may).toBe(may);
  });
});

describe("a form", () => {
  test("a form keeps what the protocol knows of a field, and leaves out the rest", () => {
    const { params } = elicitForm("Who?", {
      type: "object",
      properties: {
        name: { type: "string", title: "Name", minLength: 1, pattern: "^A", format: "email" },
        phone: { type: "string", format: "phone" },
        age: { type: "integer", minimum: 0, multipleOf: 2, default: 18 },
        colour: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 2, uniqueItems: true },
      },
      required: ["name", "age"],
      additionalProperties: false,
    });
    expect(params.requestedSchema).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", minLength: 1, format: "email" },
        phone: { type: "string" },
        age: { type: "integer", minimum: 0, default: 18 },
        colour: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 2 },
      },
      required: ["name"],
    });
  });

  test.each([
    ["an object", { type: "object", properties: {} }],
    ["a list of anything", { type: "array", items: { type: "string" } }],
    ["one of several kinds", { type: ["string", "null"] }],
    ["anything", {}],
  ])("a form cannot ask for %s", (_name, field) => {
    expect(() => elicitForm("What?", { type: "object", properties: { field } })).toThrow(
      /^A form cannot ask for field: /,
    );
  });

  test.each(["2025-06-18", "2025-11-25"])("an answer to a request is checked as well: %s", async (protocolVersion) => {
    await using talk = talkTo(asking(confirming));
    const clientInfo = { name: "raw", version: "1" };
    await talk.ask(request(0, "initialize", { protocolVersion, capabilities: forms, clientInfo }));
    talk.peer.send(initialized);
    for (const answer of [
      { action: "accept", content: { yes: "maybe" } },
      { action: "accept" },
      { action: "perhaps" },
    ]) {
      const { id } = parse(await talk.ask(request("call", "tools/call", { name: "ask" })));
      expect(parse(await talk.ask(success(id ?? "", answer)))).toMatchObject({ id: "call", error: { code: -32_602 } });
    }
  });
});

describe("the state of a call", () => {
  test("a state is refused when its time is over", async () => {
    let now = 0;
    await using talk = talkTo(asking(confirming, { requestState: { ttl: 1_000, now: () => now } }));
    const again = async (): Promise<string> => {
      const { requestState, inputRequests } = parse(await talk.ask(call(forms))).result ?? {};
      const [key = ""] = Object.keys(inputRequests ?? {});
      return call(forms, { requestState, inputResponses: { [key]: { action: "accept", content: { yes: true } } } });
    };
    const [inTime, late] = [await again(), await again()];
    now = 999;
    expect(parse(await talk.ask(inTime)).result).toMatchObject({ resultType: "complete" });
    now = 1_000;
    expect(parse(await talk.ask(late)).error).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/requestState" }] },
    });
  });

  test("a state opens for its own principal only, and for its own method", async () => {
    const seal = createStateSeal();
    const binding = { principal: "ada", method: "tools/call", params: { name: "ask" } };
    const sealed = await seal.seal({ round: 2 }, binding);
    expect(await seal.open(sealed, binding)).toEqual({ round: 2 });
    for (const other of [
      { principal: "eve" },
      { principal: undefined },
      { principal: "" },
      { method: "prompts/get" },
    ]) {
      expect(await seal.open(sealed, { ...binding, ...other })).toBeUndefined();
    }
    expect(await createStateSeal().open(sealed, binding)).toBeUndefined();
  });
});
