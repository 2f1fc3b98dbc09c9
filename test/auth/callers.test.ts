import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { jwtAuth, type ResourceServer } from "@parlance/mcp/auth";
import type { Identity } from "@parlance/mcp/http";
import { serveTcp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { rawPeer } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Asked, sessionGet, sessionPost, statelessPost, written } from "../http/server/asked.js";
import { openSession } from "../http/server/handlers.js";
import { type Site, site, until } from "../http/server/site.js";
import type { Answer } from "../http/server/wire.js";
import {
  type Frame,
  initialize,
  initialized,
  modern,
  notification,
  parse,
  request,
  stateless,
} from "../testing/frames.js";
import { audience, type Issuer, startIssuer } from "./authorization-server.js";

/** Who calls, by the three names that together are the key of what a server keeps. */
interface User {
  readonly issuer: "one" | "another";
  readonly subject: string;
  readonly clientId: string;
}

const ada: User = { issuer: "one", subject: "ada", clientId: "app" };

/** Callers with valid credentials, each of which differs from Ada in one name. */
const strangers: readonly (readonly [what: string, user: User])[] = [
  ["another user", { ...ada, subject: "mallory" }],
  ["another client of the same user", { ...ada, clientId: "another" }],
  ["the same subject at another issuer", { ...ada, issuer: "another" }],
];

let issuers: Readonly<Record<User["issuer"], Issuer>>;
beforeAll(async () => {
  issuers = { one: await startIssuer(), another: await startIssuer() };
});
afterAll(async () => {
  for (const issuer of Object.values(issuers)) await issuer[Symbol.asyncDispose]();
});

const bearer = async ({ issuer, subject, clientId }: User): Promise<string> =>
  `Bearer ${await issuers[issuer].token({ sub: subject, client_id: clientId })}`;

/** Accepts the tokens of both issuers. */
function auth(): ResourceServer {
  const { one, another } = issuers;
  const [first, second] = [one, another].map(({ url }) => jwtAuth({ issuer: url, audience })) as [
    ResourceServer,
    ResourceServer,
  ];
  return {
    ...first,
    authorizationServers: [one.url, another.url],
    verify: (token, asked) => (decodeJwt(token).iss === another.url ? second : first).verify(token, asked),
  };
}

const identityOf = ({ issuer, subject, clientId }: User): Identity => ({
  principal: JSON.stringify([issuers[issuer].url, subject, clientId]),
  issuer: issuers[issuer].url,
  subject,
  clientId,
});

/** What Ada does on the server, and what it kept for her. */
interface Kept {
  readonly server: Server;
  /** Who was charged, and by which draw. */
  readonly charges: string[];
  /** How often `once` has run its work. */
  draws: number;
  readonly running: Set<string>;
  release(): void;
}

const yes = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] } as const;

function keeping(): Kept {
  const requestState = { secrets: ["a secret that is long enough"] };
  const server = createServer({ name: "notes", version: "1.0.0", requestState, pageSize: 1 });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const kept: Kept = { server, charges: [], draws: 0, running: new Set(), release };
  const isAda = (caller: Identity | undefined): boolean => caller?.principal === identityOf(ada).principal;
  server.tool("a-first", {}, () => "");
  server.tool("b-of-ada", { visible: isAda }, () => "");
  server.tool("later", { execution: { taskSupport: "optional" } }, () => "done");
  server.tool("draw", {}, (_, ctx) => ctx.once("draw", () => `${++kept.draws}`));
  server.tool("buy", {}, async (_, ctx) => {
    const draw = await ctx.once("draw", () => ++kept.draws);
    await ctx.elicit("Buy?", yes);
    kept.charges.push(`${ctx.auth?.subject} ${draw}`);
    return "bought";
  });
  server.tool("slow", {}, async (_, { auth: caller, signal }) => {
    kept.running.add(caller?.principal ?? "");
    await Promise.race([released, once(signal, "abort")]);
    return signal.aborted ? "cancelled" : "done";
  });
  server.resourceTemplate("notes:/{n}", {}, () => "");
  return kept;
}

/** A caller on some transport, in frames: no client stands between it and the server. */
interface Caller {
  /** Begins a call; the returned function waits for its response. */
  call(id: string, method: string, params?: object): () => Promise<Frame>;
  notify(method: string, params: object): Promise<unknown>;
  /** Subscribes to a resource by a request with that id. */
  subscribe(id: string, uri: string): Promise<unknown>;
  /** The URI of the next update. */
  updated(): Promise<unknown>;
}

type Era = "2025-11-25" | "2026-07-28";

const forms = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
const isUpdate = ({ method }: Frame): boolean => method === "notifications/resources/updated";

/** A connection, on which all frames come one after the other. */
async function conversation(era: Era, send: (frame: string) => void, next: () => Promise<string>): Promise<Caller> {
  const seen: Frame[] = [];
  const find = async (isIt: (frame: Frame) => boolean): Promise<Frame> => {
    const place = seen.findIndex(isIt);
    const [found] = place < 0 ? [] : seen.splice(place, 1);
    if (found !== undefined) return found;
    for (let frame = parse(await next()); ; frame = parse(await next())) {
      if (isIt(frame)) return frame;
      seen.push(frame);
    }
  };
  const call: Caller["call"] = (id, method, params = {}) => {
    send(era === modern ? stateless(id, method, params, forms) : request(id, method, params));
    return () => find((frame) => frame.id === id);
  };
  if (era !== modern) {
    send(initialize(era));
    await find(({ id }) => id === 0);
    send(initialized);
  }
  return {
    call,
    notify: async (method, params) => send(notification(method, params)),
    async subscribe(id, uri) {
      if (era !== modern) return call(id, "resources/subscribe", { uri })();
      call(id, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
      return find(({ method }) => method === "notifications/subscriptions/acknowledged");
    },
    updated: async () => (await find(isUpdate)).params?.uri,
  };
}

/** Opens a caller on a server; `ends` are called when the test is over, the latest first. */
type Enter = (era: Era, server: Server, ends: (() => unknown)[]) => Promise<(user: User) => Promise<Caller>>;

const overWebSocket: Enter = async (era, server, ends) => {
  const listener = await serveWebSocket(server, { auth: auth(), report: () => undefined });
  ends.push(() => listener.close());
  return async (user) => {
    const peer = rawPeer(nodeWebSocketChannel(listener.url, { headers: { authorization: await bearer(user) } }));
    ends.push(() => peer.close());
    const send = (frame: string): void => peer.send(frame);
    return conversation(era, send, () => peer.next());
  };
};

const overTcp: Enter = async (era, server, ends) => {
  // As a service that knows its callers by their addresses.
  const users = new Map<number, User>();
  const listening = await serveTcp(
    server,
    { port: 0 },
    {
      async auth({ remotePort = 0 }) {
        await until(() => users.has(remotePort));
        return identityOf(users.get(remotePort) ?? ada);
      },
      report: () => undefined,
    },
  );
  ends.push(() => listening.close());
  return async (user) => {
    const { port } = listening.address as { readonly port: number };
    const socket = connect(port, "127.0.0.1");
    ends.push(() => socket.destroy());
    await once(socket, "connect");
    users.set(socket.localPort ?? 0, user);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const send = (frame: string): void => void socket.write(`${frame}\n`);
    return conversation(era, send, async () => (await lines.next()).value ?? "");
  };
};

/** Over HTTP, each call is a request of its own, and updates come on a stream. */
const overHttp: Enter = async (era, server, ends) => {
  const at = await site(server, { auth: auth(), report: () => undefined });
  ends.push(() => at[Symbol.asyncDispose]());
  return async (user) => {
    const authorization = await bearer(user);
    const session = era === modern ? "" : await openSession(at, era, { authorization });
    const post = (id: string, method: string, params: object): Asked =>
      era === modern
        ? statelessPost(method, params, { authorization }, { id, meta: forms })
        : sessionPost(session, request(id, method, params), { authorization });
    const stream = await at.open();
    ends.push(() => stream.cut());
    const call: Caller["call"] = (id, method, params = {}) => {
      const answer = at.ask(post(id, method, params));
      return async () => frameOf(await answer);
    };
    return {
      call,
      notify: (method, params) => {
        const headers = era === modern ? { "mcp-protocol-version": era, "mcp-method": method } : {};
        const own = era === modern ? {} : { "mcp-session-id": session };
        return at.ask({ headers: { authorization, ...headers, ...own }, body: notification(method, params) });
      },
      async subscribe(id, uri) {
        const filter = { notifications: { resourceSubscriptions: [uri] } };
        const asked =
          era === modern ? post(id, "subscriptions/listen", filter) : sessionGet(session, { authorization });
        stream.write(written(asked));
        expect((await stream.head()).status).toBe(200);
        return era === modern ? stream.message() : call(id, "resources/subscribe", { uri })();
      },
      async updated() {
        for (;;) {
          const frame = parse(await stream.message());
          if (isUpdate(frame)) return frame.params?.uri;
        }
      },
    };
  };
};

/** The response in JSON, or at the end of a stream. */
const frameOf = ({ body }: Answer): Frame => parse(/^data: (?<data>\{.*"id".*)$/m.exec(body)?.groups?.data ?? body);

const transports = { HTTP: overHttp, "a WebSocket": overWebSocket, TCP: overTcp };
const eras: readonly Era[] = ["2025-11-25", "2026-07-28"];

/** State that a server keeps for Ada, and how a stranger tries to use it. */
interface Attack {
  readonly state: string;
  /** Where there is such state. Default: in both eras. */
  readonly era?: Era;
  run(kept: Kept, ada: Caller, stranger: Caller): Promise<void>;
}

const refused = { error: { code: -32_602 } };

const attacks: readonly Attack[] = [
  {
    state: "a task",
    era: "2025-11-25",
    async run(_kept, owner, stranger) {
      const started = await owner.call("1", "tools/call", { name: "later", arguments: {}, task: { ttl: 60_000 } })();
      const { taskId } = Object(started.result?.task);
      const unknown = await stranger.call("2", "tasks/get", { taskId: "unknown" })();
      expect(await stranger.call("2", "tasks/get", { taskId })()).toEqual(unknown);
      for (const method of ["tasks/result", "tasks/cancel"])
        expect(await stranger.call("3", method, { taskId })(), method).toMatchObject(refused);
      expect((await stranger.call("4", "tasks/list")()).result).toMatchObject({ tasks: [] });
      expect((await owner.call("5", "tasks/list")()).result).toMatchObject({ tasks: [{ taskId }] });
      expect((await owner.call("6", "tasks/result", { taskId })()).result).toMatchObject({
        content: [{ text: "done" }],
      });
    },
  },
  {
    state: "the requestState of a call, and what ctx.once has done in it",
    era: "2026-07-28",
    async run(kept, owner, stranger) {
      const buy = { name: "buy", arguments: {} };
      const { requestState } = (await owner.call("1", "tools/call", buy)()).result ?? {};
      const responses = { "question-1": { action: "accept", content: { yes: true } } };
      const round = { ...buy, requestState, inputResponses: responses };
      expect(await stranger.call("2", "tools/call", round)()).toMatchObject(refused);
      expect([kept.draws, kept.charges]).toEqual([1, []]);
      // The same call by the stranger is another one.
      const own = (await stranger.call("3", "tools/call", buy)()).result ?? {};
      await stranger.call("4", "tools/call", { ...round, requestState: own.requestState })();
      await owner.call("5", "tools/call", round)();
      expect(kept.charges).toEqual([expect.stringMatching(/ 2$/), "ada 1"]);
    },
  },
  {
    state: "the result of ctx.once in a call with the same id",
    async run(_kept, owner, stranger) {
      const draws = [owner, stranger].map((caller) =>
        caller.call("same", "tools/call", { name: "draw", arguments: {} }),
      );
      const results = await Promise.all(draws.map(async (draw) => (await draw()).result?.content));
      expect(new Set(results.map((content) => JSON.stringify(content))).size).toBe(2);
    },
  },
  {
    state: "a running call",
    async run(kept, owner, stranger) {
      const slow = owner.call("slow", "tools/call", { name: "slow", arguments: {} });
      await until(() => kept.running.size === 1);
      await stranger.notify("notifications/cancelled", { requestId: "slow", reason: "not mine" });
      // The server has read the cancellation when it responds to what comes after it.
      await stranger.call("after", "tools/list")();
      kept.release();
      expect((await slow()).result).toMatchObject({ content: [{ text: "done" }] });
    },
  },
  {
    state: "a subscription",
    async run({ server }, owner, stranger) {
      await owner.subscribe("same", "notes:/of-ada");
      await stranger.subscribe("other", "notes:/open");
      await stranger.notify("notifications/cancelled", { requestId: "same" });
      await stranger.call("end", "resources/unsubscribe", { uri: "notes:/of-ada" })();
      server.changed.resource("notes:/of-ada");
      server.changed.resource("notes:/open");
      expect(await owner.updated()).toBe("notes:/of-ada");
      expect(await stranger.updated()).toBe("notes:/open");
    },
  },
  {
    state: "a cursor",
    async run(_kept, owner, stranger) {
      const page = (caller: Caller, cursor: unknown): Promise<Frame> =>
        caller.call("page", "tools/list", cursor === undefined ? {} : { cursor })();
      const pages: Frame[] = [];
      for (let cursor: unknown; pages.length === 0 || cursor !== undefined; cursor = pages.at(-1)?.result?.nextCursor) {
        pages.push(await page(owner, cursor));
      }
      const hidden = pages.find(({ result }) => JSON.stringify(result?.tools).includes("b-of-ada"))?.result?.nextCursor;
      expect(hidden).toBeTypeOf("string");
      for (const cursor of [undefined, ...pages.map(({ result }) => result?.nextCursor)]) {
        const { result } = await page(stranger, cursor);
        expect(JSON.stringify(result ?? {})).not.toContain("b-of-ada");
      }
      // For the stranger, the cursor after the hidden tool is like one after a tool that does not exist.
      expect(await page(stranger, hidden)).toMatchObject(refused);
      expect(await page(stranger, hidden)).toEqual(await page(stranger, encodeURIComponent("tools nothing")));
    },
  },
];

describe.each(Object.entries(transports))("over %s", (_transport, enter) => {
  for (const era of eras) {
    for (const { state, run } of attacks.filter((attack) => (attack.era ?? era) === era)) {
      test.each(strangers)(`S14, ${era}: ${state} of Ada is out of reach of %s`, async (_what, user) => {
        const ends: (() => unknown)[] = [];
        try {
          const kept = keeping();
          const open = await enter(era, kept.server, ends);
          await run(kept, await open(ada), await open(user));
        } finally {
          for (const end of ends.reverse()) await end();
        }
      });
    }
  }
});

describe.each(strangers)("a session over HTTP of Ada, for %s", (_what, user) => {
  const opened = async (at: Site): Promise<readonly [ofAda: string, session: string, ofStranger: string]> => {
    const authorization = await bearer(ada);
    return [authorization, await openSession(at, "2025-11-25", { authorization }), await bearer(user)];
  };

  test("S14: does not exist for POST, GET and DELETE, and goes on", async () => {
    await using at = await site(keeping().server, { auth: auth(), report: () => undefined });
    const [ofAda, session, authorization] = await opened(at);
    const ask = (id: string): readonly Asked[] => [
      sessionPost(id, request(1, "ping"), { authorization }),
      sessionGet(id, { authorization }),
      { method: "DELETE", headers: { "mcp-session-id": id, authorization } },
    ];
    const [taken, unknown] = [ask(session), ask("unknown")].map((all) => Promise.all(all.map((each) => at.ask(each))));
    const shown = (answers: readonly Answer[] = []) => answers.map(({ status, body }) => [status, body]);
    expect(shown(await taken)).toEqual(shown(await unknown));
    expect((await taken)?.map(({ status }) => status)).toEqual([404, 404, 404]);
    const ping = sessionPost(session, request(1, "ping"), { authorization: ofAda });
    expect((await at.ask(ping)).status).toBe(200);
  });

  test("S14: has streams that resume for Ada alone", async () => {
    const { server } = keeping();
    await using at = await site(server, { auth: auth(), report: () => undefined });
    const [ofAda, session, authorization] = await opened(at);
    const subscribe = request(1, "resources/subscribe", { uri: "notes:/of-ada" });
    await at.ask(sessionPost(session, subscribe, { authorization: ofAda }));
    using stream = await at.open();
    stream.write(written(sessionGet(session, { authorization: ofAda })));
    expect((await stream.head()).status).toBe(200);
    const first = await stream.event();
    server.changed.resource("notes:/of-ada");
    expect(await stream.message()).toContain("notes:/of-ada");
    stream.cut();
    const last = { "last-event-id": first?.id };
    const own = await openSession(at, "2025-11-25", { authorization });
    const inOther = await at.ask(sessionGet(session, { ...last, authorization }));
    const inOwn = await at.ask(sessionGet(own, { ...last, authorization }));
    expect([inOther.status, inOwn.status]).toEqual([404, 400]);
    expect(inOther.body + inOwn.body).not.toContain("of-ada");
    using again = await at.open();
    again.write(written(sessionGet(session, { ...last, authorization: ofAda })));
    expect((await again.head()).status).toBe(200);
    expect(await again.message()).toContain("notes:/of-ada");
  });
});
