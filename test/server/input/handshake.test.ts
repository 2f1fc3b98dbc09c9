import { handshakeVersions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import { failure, initialized, parse, request, success } from "../../testing/frames.js";
import { type Talk, talkTo } from "../../testing/talks.js";
import { answerOf, askingServer, type Effects } from "./questions.js";

const everything = { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} };

async function open(talk: Talk, protocolVersion: string, capabilities: object = everything): Promise<void> {
  const clientInfo = { name: "raw", version: "1" };
  await talk.ask(request(0, "initialize", { protocolVersion, capabilities, clientInfo }));
  talk.peer.send(initialized);
}

const withForms = handshakeVersions.filter((version) => revisionOf(version)?.facts.elicitation !== "none");

describe.each(withForms)("in %s", (version) => {
  test("the same handler asks with requests, and its effect happens once", async () => {
    const effects: Effects = { booked: 0 };
    await using talk = talkTo(askingServer(effects));
    await open(talk, version);
    const first = parse(await talk.ask(request(1, "tools/call", { name: "book" })));
    expect(first).toMatchObject({ id: 1, method: "elicitation/create", params: { message: "Who travels?" } });
    const second = parse(await talk.ask(success(1, answerOf("Who travels?"))));
    expect(second).toMatchObject({ id: 2, method: "elicitation/create", params: { message: "Book for Ada?" } });
    const answer = parse(await talk.ask(success(2, answerOf("Book for Ada?"))));
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: "ticket 1 for Ada: booked" }] } });
    expect(effects.booked).toBe(1);
  });

  test("several questions at once are on their way at the same time", async () => {
    await using talk = talkTo(askingServer());
    await open(talk, version);
    talk.peer.send(request(1, "tools/call", { name: "at_once" }));
    const asked = [parse(await talk.peer.next()), parse(await talk.peer.next())];
    expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "roots/list"]);
    talk.peer.send(success(2, { roots: [{ uri: "file:///home" }] }));
    const answer = parse(await talk.ask(success(1, answerOf("Who?"))));
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: "Ada in file:///home" }] } });
  });

  test("a handler that returns its questions is run again with the answers", async () => {
    await using talk = talkTo(askingServer());
    await open(talk, version);
    await talk.ask(request(1, "tools/call", { name: "returning" }));
    expect(parse(await talk.ask(success(1, answerOf("Who?"))))).toMatchObject({
      result: { content: [{ text: '{"action":"accept","content":{"name":"Ada"}} {"asked":1}' }] },
    });
  });

  test("a person who declines is an answer, and a client that fails is an error", async () => {
    await using talk = talkTo(askingServer());
    await open(talk, version);
    await talk.ask(request(1, "tools/call", { name: "book" }));
    expect(parse(await talk.ask(success(1, { action: "decline" })))).toMatchObject({
      result: { content: [{ text: "ticket 1: decline" }] },
    });
    await talk.ask(request(2, "tools/call", { name: "book" }));
    expect(parse(await talk.ask(failure(2, -1, "User rejected")))).toMatchObject({ id: 2, error: { code: -1 } });
  });

  test("an undeclared capability is refused by its name, and nothing is asked", async () => {
    await using talk = talkTo(askingServer());
    await open(talk, version, {});
    expect(parse(await talk.ask(request(1, "tools/call", { name: "book" })))).toMatchObject({
      id: 1,
      error: { code: -32600, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
  });

  test("cancelling the call cancels the question", async () => {
    await using talk = talkTo(askingServer());
    await open(talk, version);
    await talk.ask(request(1, "tools/call", { name: "book" }));
    const cancelled = await talk.ask('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    expect(parse(cancelled)).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  });

  test.each(["returns", "throws", "returns with two of them open"])(
    "a question that is open when the handler %s is cancelled before the result goes out",
    async (how) => {
      await using talk = talkTo(impatientServer(how));
      await open(talk, version);
      expect(parse(await talk.ask(request(1, "tools/call", { name: "ask" })))).toMatchObject({ id: 1 });
      if (how === "returns with two of them open") await talk.peer.next(); // The other question.
      talk.peer.send(request(2, "tools/call", { name: "go_on" }));
      const asked = how === "returns with two of them open" ? [1, 2] : [1];
      const next: string[] = [];
      for (let left = asked.length + 2; left > 0; left -= 1) next.push(gist(parse(await talk.peer.next())));
      const cancelled = asked.map((id) => `cancelled ${id}: the call that asked has ended`);
      expect(next.filter((each) => each !== "response 2")).toEqual([...cancelled, "response 1"]);
    },
  );
});

function gist({ id, method, params }: ReturnType<typeof parse>): string {
  const { requestId, reason } = (params ?? {}) as { readonly requestId?: unknown; readonly reason?: unknown };
  return method === "notifications/cancelled" ? `cancelled ${requestId}: ${reason}` : `response ${id}`;
}

/** A server whose tool `ask` does not wait for the answer, but for a call of `go_on`. */
function impatientServer(how: string): Server {
  const server = createServer({ name: "impatient", version: "1.0.0" });
  const goOn = deferred<void>();
  const form = { type: "object", properties: {} } as const;
  server.tool("ask", {}, async (_, ctx) => {
    const asked = ctx.elicit("Sure?", form);
    if (how === "returns with two of them open") void ctx.listRoots();
    await Promise.race([asked, goOn.promise]);
    if (how === "throws") throw new ToolError("gave up");
    return "gave up";
  });
  server.tool("go_on", {}, () => {
    goOn.resolve();
    return "";
  });
  return server;
}

test.each(handshakeVersions.filter((version) => !withForms.includes(version)))(
  "%s has no forms: nothing is asked",
  async (version) => {
    await using talk = talkTo(askingServer());
    await open(talk, version);
    expect(parse(await talk.ask(request(1, "tools/call", { name: "book" })))).toMatchObject({
      error: { code: -32600 },
    });
  },
);

test("a form says what its revision knows", async () => {
  await using older = talkTo(askingServer());
  await open(older, "2025-06-18");
  const { params } = parse(await older.ask(request(1, "tools/call", { name: "book" })));
  expect(params).not.toHaveProperty("mode");
  await older.ask(success(1, { action: "cancel" }));
  await using newer = talkTo(askingServer());
  await open(newer, "2025-11-25");
  expect(parse(await newer.ask(request(1, "tools/call", { name: "book" })))).toMatchObject({
    params: { mode: "form" },
  });
  await newer.ask(success(1, { action: "cancel" }));
});

test("a URL elicitation has an id if the revision requires one", async () => {
  await using talk = talkTo(askingServer());
  await open(talk, "2025-11-25");
  const { params } = parse(await talk.ask(request(1, "tools/call", { name: "page" })));
  expect(params).toMatchObject({
    mode: "url",
    url: "https://example.com/login",
    elicitationId: expect.any(String) as string,
  });
  expect(parse(await talk.ask(success(1, { action: "accept" })))).toMatchObject({
    result: { content: [{ text: "accept" }] },
  });
});
