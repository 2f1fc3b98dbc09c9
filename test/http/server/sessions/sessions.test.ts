import { handshakeVersions } from "@parlance/mcp";
import type { Auth } from "@parlance/mcp/http";
import { describe, expect, test } from "vitest";
import { initialize, notification, parse, ping, request, stateless, success } from "../../../testing/frames.js";
import { type Asked, sessionGet, sessionPost, statelessPost, written } from "../asked.js";
import { type Door, doors, openSession } from "../handlers.js";
import { read } from "../obeying.js";
import { shop } from "../shop.js";
import { type Site, site, until } from "../site.js";
import type { Answer } from "../wire.js";

/** Callers say who they are, and that is believed. */
const authenticate: Extract<Auth, (request: never) => unknown> = ({ header }) => {
  const principal = header("authorization");
  return principal === undefined ? undefined : { principal };
};
const alice = { authorization: "alice" };
const mallory = { authorization: "mallory" };
const unknown = "3f0c7a52-9f0e-4a3b-8d3c-5a1f7be0c1d2";

function remove(session: string, headers: Asked["headers"] = {}): Asked {
  return { method: "DELETE", headers: { "mcp-session-id": session, ...headers } };
}

/** All of an answer but the hour. */
function without({ headers, ...rest }: Answer): object {
  return { ...rest, headers: [...headers].filter(([name]) => name !== "date") };
}

async function isThere(door: Door, session: string, headers: Asked["headers"] = {}): Promise<boolean> {
  const { status } = await door.ask(sessionPost(session, ping, headers));
  if (status !== 200 && status !== 404) throw new Error(`a ping is answered with ${status}`);
  return status === 200;
}

describe.each(doors)("on $on", ({ open }) => {
  test.each(handshakeVersions)("a conversation of %s is a session, whose id comes with the answer", async (version) => {
    await using door = await open(shop());
    const opened = await door.ask({ body: initialize(version) });
    expect(parse(opened.body).result).toMatchObject({ protocolVersion: version });
    const session = opened.headers.get("mcp-session-id") ?? "";
    expect(await door.ask(sessionPost(session, notification("notifications/initialized")))).toMatchObject({
      status: 202,
      body: "",
    });
    const called = await door.ask(sessionPost(session, request(1, "tools/list")));
    expect(called.status).toBe(200);
    expect(called.headers.has("mcp-session-id")).toBe(false);
    expect(parse(called.body).result).toHaveProperty("tools");
  });

  test("ids of sessions are legal, and do not follow from others", async () => {
    await using door = await open(shop());
    const ids = new Set<string>();
    for (let opened = 0; opened < 200; opened += 1) ids.add(await openSession(door));
    expect(ids.size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
    // Random bits in every place: of 200 ids no two begin alike.
    expect(new Set([...ids].map((id) => id.slice(0, 8))).size).toBe(200);
  });

  test("what was refused opens no session", async () => {
    await using door = await open(shop());
    const noParams = await door.ask({ body: request(1, "initialize") });
    expect(noParams.status).toBe(200);
    expect(noParams.headers.has("mcp-session-id")).toBe(false);
    expect(parse(noParams.body).error?.code).toBe(-32_602);
  });

  test("a version that is spoken but is not that of the session is no fault; of one that was agreed on none is needed", async () => {
    await using door = await open(shop());
    const session = await openSession(door, "2025-06-18");
    for (const version of [undefined, "2025-06-18", "2025-11-25"])
      expect((await door.ask(sessionPost(session, ping, { "mcp-protocol-version": version }))).status).toBe(200);
  });

  test("a session that its client has ended is unknown, and so it is when it is ended again", async () => {
    await using door = await open(shop());
    const session = await openSession(door);
    expect(await door.ask(remove(session))).toMatchObject({ status: 204, body: "" });
    expect(await isThere(door, session)).toBe(false);
    expect((await door.ask(sessionGet(session))).status).toBe(404);
    expect((await door.ask(remove(session))).status).toBe(404);
  });

  test("a session of somebody else is, byte for byte, one that never was", async () => {
    await using door = await open(shop(), { auth: authenticate });
    const session = await openSession(door, "2025-03-26", alice);
    const uses: readonly ((id: string) => Asked)[] = [
      (id) => sessionPost(id, ping, mallory),
      (id) => sessionPost(id, initialize("2025-11-25"), mallory),
      (id) => sessionPost(id, notification("notifications/initialized"), mallory),
      (id) => sessionPost(id, success(1, {}), mallory),
      (id) => sessionPost(id, `[${ping}]`, mallory),
      (id) => sessionPost(id, "{", mallory),
      (id) => sessionPost(id, ping, { ...mallory, "mcp-protocol-version": "1900-01-01" }),
      (id) => sessionGet(id, mallory),
      (id) => sessionGet(id, { ...mallory, "last-event-id": "0-1" }),
      (id) => remove(id, mallory),
    ];
    for (const use of uses)
      expect(without(await door.ask(use(session)))).toEqual(without(await door.ask(use(unknown))));
    expect((await door.ask(remove(session, { authorization: "" }))).status).toBe(404);
    expect((await door.ask(remove(session))).status).toBe(401);
    expect(await isThere(door, session, alice)).toBe(true);
  });

  test("what a call remembers is nothing to somebody else", async () => {
    await using door = await open(shop(), { auth: authenticate });
    const params = { name: "ask", arguments: {} };
    const capabilities = { meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } } };
    const asked = await door.ask(statelessPost("tools/call", params, alice, capabilities));
    const { requestState, inputRequests } = parse(asked.body).result as {
      readonly requestState: string;
      readonly inputRequests: object;
    };
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "accept", content: { text: "Ada" } } };
    const answered = (who: Asked["headers"]): Promise<Answer> =>
      door.ask(statelessPost("tools/call", { ...params, requestState, inputResponses }, who, capabilities));
    expect(parse((await answered(mallory)).body).error?.code).toBe(-32_602);
    expect(parse((await answered(alice)).body).result).toMatchObject({ content: [{ text: "Ada" }] });
  });
});

describe("a session ends", () => {
  const idle = 15 * 60_000;

  test("when it was idle for a while, and requests of another caller do not count", async () => {
    await using at = await site(shop(), { auth: authenticate });
    const session = await openSession(at, "2025-11-25", alice);
    for (let day = 0; day < 3; day += 1) {
      at.clock.advance(idle - 1);
      expect(await isThere(at, session, alice)).toBe(true);
    }
    at.clock.advance(idle - 1);
    expect(await isThere(at, session, mallory)).toBe(false);
    at.clock.advance(1);
    expect(await isThere(at, session, alice)).toBe(false);
  });

  test("not while its client reads, or waits for an answer; but after twelve hours it does", async () => {
    await using at = await site();
    const reading = await openSession(at);
    const waiting = await openSession(at);
    const left = await openSession(at);
    using reader = await at.open();
    reader.write(written(sessionGet(reading)));
    await reader.head();
    using caller = await at.open();
    caller.write(written(sessionPost(waiting, request(1, "tools/call", { name: "until-cancelled" }))));
    await until(() => at.running.has("until-cancelled"));
    at.clock.advance(2 * idle);
    expect(await isThere(at, left)).toBe(false);
    expect([await isThere(at, reading), await isThere(at, waiting)]).toEqual([true, true]);
    for (let hours = 0; hours < 12; hours += 1) at.clock.advance(3_600_000);
    expect([await isThere(at, reading), await isThere(at, waiting)]).toEqual([false, false]);
    expect(await reader.messages()).toEqual([]);
    await caller.head();
    expect(await caller.messages()).toEqual([]);
    expect(at.running.size).toBe(0);
  });

  test("when its client ends it: what it reads ends, and what it has called is stopped", async () => {
    await using at = await site();
    const session = await openSession(at);
    using reader = await at.open();
    reader.write(written(sessionGet(session)));
    await reader.head();
    using caller = await at.open();
    caller.write(written(sessionPost(session, request(1, "tools/call", { name: "until-cancelled" }))));
    await until(() => at.running.has("until-cancelled"));
    expect((await at.ask(remove(session))).status).toBe(204);
    expect(await reader.messages()).toEqual([]);
    await caller.head();
    expect(await caller.messages()).toEqual([]);
    await until(() => at.running.size === 0);
  });
});

describe("there are no more sessions", () => {
  async function open(at: Site, headers: Asked["headers"] = {}): Promise<Answer> {
    return at.ask({ headers, body: initialize("2025-11-25") });
  }

  test("than a server keeps, where all are in use: 503, and when to come back", async () => {
    await using at = await site(shop(), { sessions: { max: 2 } });
    const first = await openSession(at);
    using _first = await read(at, first);
    using _second = await read(at, await openSession(at));
    const { status, headers, body } = await open(at);
    expect({ status, retry: headers.get("retry-after"), error: parse(body).error?.data }).toEqual({
      status: 503,
      retry: "60",
      error: { reason: "all 2 sessions of this server are in use" },
    });
    await at.ask(remove(first));
    expect((await open(at)).status).toBe(200);
  });

  test("of one caller than it may have; others have theirs", async () => {
    await using at = await site(shop(), { auth: authenticate, sessions: { maxPerPrincipal: 1 } });
    const session = await openSession(at, "2025-11-25", alice);
    using _reader = await read(at, session, alice);
    expect((await open(at, alice)).status).toBe(503);
    expect((await open(at, mallory)).status).toBe(200);
    await at.ask(remove(session, alice));
    expect((await open(at, alice)).status).toBe(200);
  });

  test("and the stateless era needs none", async () => {
    await using at = await site(shop(), { sessions: { max: 0 } });
    expect((await open(at)).status).toBe(503);
    const { status, headers } = await at.ask({ ...statelessPost("tools/list"), body: stateless(1, "tools/list") });
    expect({ status, session: headers.get("mcp-session-id") }).toEqual({ status: 200, session: undefined });
  });
});
