import { versions } from "@parlance/mcp";
import { connect, type InputHandlers } from "@parlance/mcp/client";
import { createServer, RpcError, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import { errorOf, type Opened, openWith } from "../../client/session/openings.js";
import { failure, notification, parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";

const core = "2025-11-25";
const done = { content: [{ type: "text", text: "done" }] };
const login = "https://example.com/login";

/** The server wants the page to be visited, under an id of this time. */
async function want({ peer }: Opened, elicitationId: string, url = login): Promise<void> {
  const { id = "", method } = parse(await peer.next());
  expect(method).toBe("tools/call");
  const elicitations = [{ mode: "url", message: "Log in", url, elicitationId }];
  peer.send(failure(id, -32_042, "URL elicitation required", { elicitations }));
  await turn();
}

async function complete({ peer }: Opened, elicitationId: string): Promise<void> {
  peer.send(notification("notifications/elicitation/complete", { elicitationId }));
  await turn();
}

/** A person who visits every page, and says so when `retry` resolves. */
function visitor(seen: string[], retry?: () => PromiseLike<unknown>): InputHandlers {
  return {
    urlElicitation({ url }) {
      seen.push(url);
      return { action: "accept", ...(retry === undefined ? {} : { retry: retry() }) };
    },
  };
}

describe("C6: a call whose server requires a URL elicitation with a new id each time", () => {
  test("asks for the page once, and does nothing by itself until its time is over", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = errorOf(open.client.tools.call("t", {}, { totalTimeout: 100_000 }));
    await want(open, "1");
    const sent = open.sent.length;
    for (let second = 1; second < 100; second += 1) {
      open.clock.advance(1_000);
      await turn();
    }
    expect(open.sent).toHaveLength(sent);
    open.clock.advance(1_000);
    expect(await call).toMatchObject({ reason: "timeout", cause: { code: -32_042 } });
    expect((await call).message).toContain("make the call again");
    expect(seen).toEqual([login]);
    expect(open.clock.armed).toBe(0);
  });

  test("is bounded by the `timeout` of the call as well", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = errorOf(open.client.tools.call("t", {}, { timeout: 5_000 }));
    await want(open, "1");
    open.clock.advance(5_000);
    expect(await call).toMatchObject({ reason: "timeout" });
    expect(seen).toEqual([login]);
  });

  test("fails with the server's error if the same URL is required again", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = errorOf(open.client.tools.call("t"));
    await want(open, "1");
    await complete(open, "1");
    await want(open, "2");
    expect(await call).toMatchObject({ code: -32_042, data: { elicitations: [{ elicitationId: "2" }] } });
    expect(seen).toEqual([login]);
  });

  test("requests another URL that the server requires next", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = open.client.tools.call("t");
    await want(open, "1");
    await complete(open, "1");
    await want(open, "2", "https://example.com/consent");
    await complete(open, "2");
    open.peer.send(success(parse(await open.peer.next()).id ?? "", done));
    expect(await call).toEqual(done);
    expect(seen).toEqual([login, "https://example.com/consent"]);
  });

  test("shows a page once that one error names twice", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = open.client.tools.call("t");
    const { id = "" } = parse(await open.peer.next());
    const page = { mode: "url", message: "Log in", url: login };
    const elicitations = ["1", "2"].map((elicitationId) => ({ ...page, elicitationId }));
    open.peer.send(failure(id, -32_042, "URL elicitation required", { elicitations }));
    await turn();
    await complete(open, "2");
    open.peer.send(success(parse(await open.peer.next()).id ?? "", done));
    expect(await call).toEqual(done);
    expect(seen).toEqual([login]);
  });
});

describe("C6: when a call is made again is the choice of its caller", () => {
  test("by `retry` of the handler, if the server sends no notification", async () => {
    const pressed = deferred<undefined>();
    await using open = await openWith(core, { handlers: visitor([], () => pressed.promise) });
    const call = open.client.tools.call("t");
    await want(open, "1");
    const sent = open.sent.length;
    pressed.resolve(undefined);
    await turn();
    expect(open.sent).toHaveLength(sent + 1);
    open.peer.send(success(parse(await open.peer.next()).id ?? "", done));
    expect(await call).toEqual(done);
  });

  test("who gives up with a `retry` that rejects: the call fails as the server said", async () => {
    const gaveUp = (): Promise<never> => Promise.reject(new Error("the person closed the dialog"));
    await using open = await openWith(core, { handlers: visitor([], gaveUp) });
    const call = errorOf(open.client.tools.call("t"));
    await want(open, "1");
    expect(await call).toMatchObject({ code: -32_042 });
  });

  test("and `retry` never crosses the wire", async () => {
    await using open = await openWith(core, { handlers: visitor([], () => new Promise(() => undefined)) });
    const url = { mode: "url", message: "Log in", url: login, elicitationId: "1" };
    open.peer.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "elicitation/create", params: url }));
    expect(parse(await open.peer.next()).result).toEqual({ action: "accept" });
  });
});

/** A server that wants its client to log in, and notes when it has. */
function guarded(): { server: Server; visited: (elicitationId: string) => void } {
  const waiting = new Map<string, (elicitationId: string) => void>();
  let isLoggedIn = false;
  const server = createServer({ name: "guarded", version: "1" });
  server.tool("secret", {}, (_args, { completeElicitation }) => {
    if (isLoggedIn) return "secret";
    const elicitationId = `login-${waiting.size}`;
    waiting.set(elicitationId, completeElicitation);
    const elicitations = [{ mode: "url", message: "Log in", url: login, elicitationId }];
    throw new RpcError(-32_042, "URL elicitation required", { elicitations });
  });
  server.tool("ask", {}, async (_args, { elicitUrl, completeElicitation }) => {
    const { action } = await elicitUrl("Log in", login, { elicitationId: "own-id" });
    completeElicitation("own-id");
    return action;
  });
  return {
    server,
    visited(elicitationId) {
      isLoggedIn = true;
      waiting.get(elicitationId)?.(elicitationId);
    },
  };
}

describe("C6: a server reports that a URL elicitation is complete", () => {
  test("after the call that wanted it, and the client makes the call again", async () => {
    const { server, visited } = guarded();
    const seen: (string | undefined)[] = [];
    await using client = await connect(server, {
      revision: core,
      handlers: {
        urlElicitation({ elicitationId }) {
          seen.push(elicitationId);
          setImmediate(() => visited(elicitationId ?? ""));
          return { action: "accept" };
        },
      },
    });
    expect((await client.tools.call("secret")).content).toEqual([{ type: "text", text: "secret" }]);
    expect(seen).toEqual(["login-0"]);
  });

  test.each(versions)("in the revision that has a word for it, and in no other: %s", async (revision) => {
    const told: unknown[] = [];
    const asked: object[] = [];
    await using client = await connect(guarded().server, {
      revision,
      onNotification: (method, params) => told.push([method, params]),
      handlers: {
        urlElicitation(params) {
          asked.push(params);
          return { action: "accept" };
        },
      },
    });
    await client.tools.call("ask").catch(() => undefined); // Older revisions have no pages to visit.
    await client.ping();
    const has = revision === core;
    expect(told).toEqual(has ? [["notifications/elicitation/complete", { elicitationId: "own-id" }]] : []);
    const ids = asked.map((params) => ("elicitationId" in params ? params.elicitationId : undefined));
    expect(ids).toEqual(has ? ["own-id"] : revision > core ? [undefined] : []);
  });
});
