import { handshakeVersions, versions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, inputRequired, listRoots, type Operation, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { openAsked } from "./open.js";

function serverWith(offers: (server: Server) => void): Server {
  const server = createServer({ name: "asking", version: "1" });
  offers(server);
  return server;
}

/** Each way in which a server asks. */
const asks: readonly (readonly [string, object, (server: Server) => void])[] = [
  [
    "roots",
    { roots: {} },
    (server) => void server.tool("ask", {}, async (_, context) => `${await context.listRoots()}`),
  ],
  [
    "a form",
    { elicitation: { form: {} } },
    (server) => void server.tool("ask", {}, async (_, ctx) => (await ctx.elicit("Sure?", z.object({}))).action),
  ],
  [
    "a page",
    { elicitation: { url: {} } },
    (server) =>
      void server.tool("ask", {}, async (_, ctx) => (await ctx.elicitUrl("See", "https://example.com")).action),
  ],
  [
    "a model",
    { sampling: {} },
    (server) =>
      void server.tool("ask", {}, async (_, ctx) => {
        const messages = [{ role: "user", content: { type: "text", text: "Hi" } }] as const;
        return (await ctx.sample({ messages, maxTokens: 1 })).model;
      }),
  ],
  [
    "roots, by returning",
    { roots: {} },
    (server) => void server.tool("ask", {}, () => inputRequired({ where: listRoots() })),
  ],
  [
    "roots, in a question of its own making",
    { roots: {} },
    (server) => void server.tool("ask", {}, () => inputRequired({ where: { method: "roots/list", params: {} } })),
  ],
  [
    "several things",
    { roots: {} },
    (server) => void server.tool("ask", {}, async (_, c) => `${await c.requestInput({ w: listRoots() })}`),
  ],
];

describe.each(versions)("a client of %s that has declared", (version) => {
  const { era, codes } = revisionOf(version) ?? {};
  const isStateless = era === "stateless";
  const code = codes?.missingRequiredClientCapability ?? -32_600;

  test.each([
    ["nothing", {}],
    ["what is no capability", { roots: true, sampling: "yes", elicitation: null }],
    ["the capabilities of others", { experimental: { roots: {} }, extensions: {}, tasks: {} }],
  ])("%s is asked nothing", async (_name, capabilities) => {
    // In the stateless era such capabilities are no capabilities, and the request is refused for that.
    const isRefused = isStateless && "roots" in capabilities;
    for (const [what, requiredCapabilities, offer] of asks) {
      await using client = await openAsked(serverWith(offer), { version, isStateless }, capabilities);
      const { error } = parse(await client.ask("tools/call", { name: "ask" }));
      expect(error, what).toMatchObject(isRefused ? { code: -32_602 } : { code, data: { requiredCapabilities } });
    }
  });
});

describe.each([
  ["2024-11-05", "no elicitation"],
  ["2025-03-26", "no elicitation"],
  ["2025-06-18", "forms only"],
  ["2025-11-25", "forms and URLs"],
  ["2026-07-28", "forms and URLs"],
])("a handler sees the capabilities of a client of %s, which has %s,", (version, has) => {
  const isStateless = revisionOf(version)?.era === "stateless";

  /** What a handler reads, and whether it could ask for a form. */
  async function seen(capabilities: object): Promise<readonly [elicitation: unknown, asked: boolean]> {
    let elicitation: unknown;
    const server = serverWith((each) => {
      each.tool("ask", {}, async (_, { client, elicit }) => {
        ({ elicitation } = client.capabilities);
        return (await elicit("Sure?", { type: "object" })).action;
      });
    });
    await using client = await openAsked(server, { version, isStateless }, capabilities);
    const { error, method, id = "" } = parse(await client.ask("tools/call", { name: "ask" }));
    if (method !== undefined) await client.talk.ask(success(id, { action: "decline" }));
    return [elicitation, error === undefined];
  }

  const modes = { form: {}, url: {} };
  test.each<[object, object | undefined, object | undefined]>([
    [{}, undefined, undefined],
    [{ elicitation: {} }, { form: {} }, { form: {} }],
    [{ elicitation: { form: {} } }, { form: {} }, { form: {} }],
    [{ elicitation: { url: {} } }, { form: {} }, { url: {} }],
    [{ elicitation: modes }, { form: {} }, modes],
  ])("in the newest shape: %j", async (declared, formsOnly, withModes) => {
    const expected = has === "no elicitation" ? undefined : has === "forms only" ? formsOnly : withModes;
    expect(await seen(declared)).toEqual([expected, expected !== undefined && "form" in expected]);
  });
});

describe.each(handshakeVersions)("a middleware that calls the client itself in %s", (version) => {
  /** The outcome of a call that requests input of a client with these capabilities. */
  async function callBack(method: string, params: object, capabilities: object): Promise<string> {
    let outcome = "";
    const server = serverWith((each) => {
      each.tool("t", {}, () => "");
      each.use((next) => async (called, given, operation) => {
        await askBack(operation);
        return next(called, given, operation);
      });
    });
    const askBack = async ({ callback }: Operation): Promise<void> => {
      if (callback === undefined) throw new Error("no way back");
      await callback(method, { ...params }).then(
        () => (outcome = "answered"),
        (error: unknown) => (outcome = String(error)),
      );
    };
    await using client = await openAsked(server, { version, isStateless: false }, capabilities);
    const frame = parse(await client.ask("tools/call", { name: "t" }));
    if (frame.method !== undefined) await client.talk.ask(success(frame.id ?? "", { roots: [] }));
    await turn();
    return outcome;
  }

  const message = { role: "user", content: { type: "text", text: "Hi" } };
  const form = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };

  test.each<[string, object, object]>([
    ["roots/list", {}, { roots: {} }],
    ["sampling/createMessage", { messages: [message], maxTokens: 1 }, { sampling: {} }],
    ["elicitation/create", form, { elicitation: {} }],
    ["tasks/list", {}, { tasks: { list: {} } }],
    ["tasks/cancel", { taskId: "1" }, { tasks: { cancel: {} } }],
    ["tasks/get", { taskId: "1" }, { tasks: {} }],
    ["tasks/result", { taskId: "1" }, { tasks: {} }],
  ])("gets %s through only if it was declared and exists", async (method, params, capabilities) => {
    expect(await callBack(method, params, {})).toMatch(/Missing required client capability|has no such request/);
    const exists = revisionOf(version)?.requests.server.has(method) === true;
    expect(await callBack(method, params, capabilities)).toMatch(exists ? /^answered$/ : /has no such request/);
  });

  test.each(["ping", "acme/anything"])("gets %s through", async (method) => {
    expect(await callBack(method, {}, {})).toBe("answered");
  });

  test.each(["tools/list", "initialize"])(
    "does not get %s through, which is no request of a server",
    async (method) => {
      expect(await callBack(method, {}, { roots: {}, sampling: {}, elicitation: {} })).toMatch(/has no such request/);
    },
  );
});

test.each<[string, object, string]>([
  ["2025-03-26", { elicitation: { form: {} } }, "elicitation.form, which revision 2025-03-26 does not have"],
  ["2025-06-18", { elicitation: { url: {} } }, "elicitation.url, which revision 2025-06-18 does not have"],
  ["2025-06-18", {}, "elicitation.form"],
])("in %s, a client that declares %j is told what it lacks", async (version, capabilities, lacking) => {
  const [, , offer] = asks[lacking.includes("url") ? 2 : 1] ?? [];
  await using client = await openAsked(
    serverWith((server) => offer?.(server)),
    { version, isStateless: false },
    capabilities,
  );
  const { error } = parse(await client.ask("tools/call", { name: "ask" }));
  expect(error?.message).toBe(`Missing required client capability: ${lacking}`);
});
