import { once } from "node:events";
import { type HttpOptions, rpcHandler } from "@parlance/mcp/http";
import { createService } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { networkOf } from "../../../packages/mcp/src/http/server/peers.js";
import type { ServeHttpOptions } from "../../../packages/mcp/src/node/http/serve-http.js";
import { type Asked, sessionPost, statelessCall, statelessPost, written } from "../../http/server/asked.js";
import { openSession } from "../../http/server/handlers.js";
import { read } from "../../http/server/obeying.js";
import { type Site, site, until } from "../../http/server/site.js";
import { Wire } from "../../http/server/wire.js";
import { turn } from "../../jsonrpc/transports.js";
import { parse, ping, stateless } from "../../testing/frames.js";
import { talkTo } from "../../testing/talks.js";

const info = { name: "fair", version: "1" };
const listening = { notifications: { toolsListChanged: true } };

/** Every client says in a header where it comes from. */
const byHeader: HttpOptions = { addressOf: (request) => request.header("x-from") };
const attacker = { "x-from": "192.0.2.1" };
const victim = { "x-from": "192.0.2.2" };

function fair(): Server {
  const server = createServer(info);
  server.tool("echo", {}, () => "alive");
  return server;
}

function listen(headers: Asked["headers"]): Asked {
  return statelessPost("subscriptions/listen", listening, headers);
}

/** Opens subscriptions until one is refused; the connections of those that are open. */
async function listenAll(
  at: Site,
  most: number,
  headers: Asked["headers"] = attacker,
): Promise<{ readonly wires: readonly Wire[]; readonly statuses: number[] }> {
  const wires: Wire[] = [];
  const statuses: number[] = [];
  for (let count = 0; count < most; count += 1) {
    const wire = await at.open();
    wire.write(written(listen(headers)));
    statuses.push((await wire.head()).status);
    wires.push(wire);
  }
  return { wires, statuses };
}

interface Listening extends AsyncDisposable {
  open(): Promise<Wire>;
}

async function listeningAt(server: Server, options: ServeHttpOptions): Promise<Listening> {
  const http = await serveHttp(server, options);
  return { open: () => Wire.open(http.port), [Symbol.asyncDispose]: () => http.close() };
}

/** Every client says in a header who it is; all come from one address. */
const byName: HttpOptions = {
  auth: (request) => {
    const principal = request.header("authorization");
    return principal === undefined ? undefined : { principal };
  },
};
const [alice, mallory] = [{ authorization: "alice" }, { authorization: "mallory" }];

describe("A5: open subscriptions", () => {
  test("take no place of calls: a call after 128 of them on a connection is answered", async () => {
    await using talk = talkTo(fair());
    for (let id = 1; id <= 128; id += 1) talk.peer.send(stateless(id, "subscriptions/listen", listening));
    talk.peer.send(stateless(200, "tools/call", { name: "echo" }));
    const frames = [];
    for (let count = 0; count < 129; count += 1) frames.push(parse(await talk.peer.next()));
    const refused = frames.filter(({ error }) => error?.code === 42_900).map(({ id }) => id);
    expect(refused).toEqual(Array.from({ length: 64 }, (_none, index) => 65 + index));
    expect(frames.at(-1)).toMatchObject({ id: 200, result: { content: [{ text: "alive" }] } });
    for (let requestId = 1; requestId <= 64; requestId += 1) {
      talk.peer.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`);
    }
    await turn();
  });

  test("of one address have a bound, and another address has its own", async () => {
    await using at = await site(fair(), byHeader);
    const { wires, statuses } = await listenAll(at, 66);
    expect(statuses).toEqual([...Array<number>(64).fill(200), 429, 429]);
    using wire = await at.open();
    wire.write(written(listen(victim)));
    expect((await wire.head()).status).toBe(200);
    for (const each of wires) each[Symbol.dispose]();
  });
});

test("A5: open subscriptions of one principal have a bound, and another one at its address has its own", async () => {
  await using at = await site(fair(), byName);
  const { wires, statuses } = await listenAll(at, 66, mallory);
  expect(statuses).toEqual([...Array<number>(64).fill(200), 429, 429]);
  using wire = await at.open();
  wire.write(written(listen(alice)));
  expect((await wire.head()).status).toBe(200);
  for (const each of wires) each[Symbol.dispose]();
});

describe("A5: calls", () => {
  test("of one principal have a bound, and another one at its address has its own", async () => {
    const server = fair();
    const ends: (() => void)[] = [];
    server.tool("slow", {}, () => new Promise<string>((resolve) => void ends.push(() => resolve("done"))));
    await using at = await site(server, byName);
    const lanes = await Promise.all(Array.from({ length: 8 }, () => at.open()));
    const some = Buffer.concat(
      Array.from({ length: 64 }, () => Buffer.from(written(statelessCall("slow", {}, mallory)))),
    );
    for (const lane of lanes) lane.write(some);
    await until(() => ends.length === 512);
    expect((await at.ask(statelessCall("echo", {}, mallory))).status).toBe(429);
    expect((await at.ask(statelessCall("echo", {}, alice))).status).toBe(200);
    for (const lane of lanes) lane[Symbol.dispose]();
    for (const end of ends) end();
  });

  test("of plain JSON-RPC have the same bounds, by principal and by address", async () => {
    for (const [options, from, other, most] of [
      [byName, mallory, alice, 512],
      [byHeader, attacker, victim, 2_048],
    ] as const) {
      const ends: (() => void)[] = [];
      const service = createService()
        .method("slow", () => new Promise<string>((resolve) => void ends.push(() => resolve("done"))))
        .method("echo", () => "alive");
      const { auth, addressOf } = options;
      const handler = rpcHandler(service.call, { ...(auth && { auth }), ...(addressOf && { addressOf }) });
      const send = (method: string, headers: Readonly<Record<string, string>>): Promise<Response> => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
        const all = { host: "localhost", "content-type": "application/json", ...headers };
        return handler(new Request("http://localhost/", { method: "POST", headers: all, body }));
      };
      const running = Array.from({ length: most }, () => send("slow", from));
      await until(() => ends.length === most);
      expect((await send("echo", from)).status).toBe(429);
      expect((await send("echo", other)).status).toBe(200);
      for (const end of ends) end();
      expect(new Set((await Promise.all(running)).map(({ status }) => status))).toEqual(new Set([200]));
      handler.close();
    }
  });

  test("of one address have a bound before that of all", async () => {
    const server = fair();
    const ends: (() => void)[] = [];
    server.tool("slow", {}, () => new Promise<string>((resolve) => void ends.push(() => resolve("done"))));
    await using at = await site(server, byHeader);
    using flood = await at.open();
    flood.write(
      Buffer.concat(Array.from({ length: 10 }, () => Buffer.from(written(statelessCall("echo", {}, attacker))))),
    );
    for (let count = 0; count < 10; count += 1) expect((await flood.answer()).status).toBe(200);
    const lanes = await Promise.all(Array.from({ length: 8 }, () => at.open()));
    // Requests of one connection run side by side, and are answered in order.
    const some = Buffer.concat(
      Array.from({ length: 257 }, () => Buffer.from(written(statelessCall("slow", {}, attacker)))),
    );
    for (const lane of lanes) lane.write(some);
    await until(() => ends.length === 2_048);
    expect((await at.ask(statelessCall("echo", {}, attacker))).status).toBe(429);
    expect((await at.ask(statelessCall("echo", {}, victim))).status).toBe(200);
    for (const lane of lanes) lane[Symbol.dispose]();
    for (const end of ends) end();
  });
});

describe("A5: sessions", () => {
  test("of one principal make room for each other, longest idle first, and leave those of others alone", async () => {
    await using at = await site(fair(), { ...byName, sessions: { maxPerPrincipal: 2, max: 3 } });
    const other = await openSession(at, "2025-11-25", alice);
    const [first, second] = [
      await openSession(at, "2025-11-25", mallory),
      await openSession(at, "2025-11-25", mallory),
    ];
    expect((await at.ask(sessionPost(first, ping, mallory))).status).toBe(200);
    const third = await openSession(at, "2025-11-25", mallory);
    const statuses: number[] = [];
    for (const id of [first, second, third]) statuses.push((await at.ask(sessionPost(id, ping, mallory))).status);
    statuses.push((await at.ask(sessionPost(other, ping, alice))).status);
    expect(statuses).toEqual([200, 404, 200, 200]);
  });

  test("of one address make room for each other, longest idle first, and leave those of others alone", async () => {
    await using at = await site(fair(), { ...byHeader, sessions: { maxPerAddress: 3 } });
    const other = await openSession(at, "2025-11-25", victim);
    const [first, second, third] = [
      await openSession(at, "2025-11-25", attacker),
      await openSession(at, "2025-11-25", attacker),
      await openSession(at, "2025-11-25", attacker),
    ];
    expect((await at.ask(sessionPost(first, ping, attacker))).status).toBe(200);
    const fourth = await openSession(at, "2025-11-25", attacker);
    const statuses: number[] = [];
    for (const id of [first, second, third, fourth, other]) {
      statuses.push((await at.ask(sessionPost(id, ping, victim))).status);
    }
    expect(statuses).toEqual([200, 404, 200, 200, 200]);
  });

  test("that are in use make no room", async () => {
    await using at = await site(fair(), { ...byHeader, sessions: { max: 2 } });
    const used = await openSession(at, "2025-11-25", victim);
    using _reader = await read(at, used, victim);
    const idle = await openSession(at, "2025-11-25", attacker);
    await openSession(at, "2025-11-25", attacker);
    expect((await at.ask(sessionPost(used, ping, victim))).status).toBe(200);
    expect((await at.ask(sessionPost(idle, ping, attacker))).status).toBe(404);
  });
});

describe("A5: connections of serveHttp", () => {
  const alive = written(statelessCall("echo"));

  /** The last response of the server before it closed a connection: none, unless it timed out. */
  async function closed({ socket }: Wire): Promise<string> {
    let said = "";
    socket.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
    });
    if (!socket.destroyed) await once(socket, "close");
    return said;
  }

  test("that are idle make room, longest idle first; one whose request is not complete counts as idle", async () => {
    await using at = await listeningAt(fair(), { maxConnectionsPerAddress: 3 });
    using used = await at.open();
    using stalled = await at.open();
    using idle = await at.open();
    stalled.write("POST /mcp HTTP/1.1\r\nhost: localhost\r\n");
    expect((await used.ask(alive)).status).toBe(200);
    using fourth = await at.open();
    using fifth = await at.open();
    expect(await Promise.all([closed(stalled), closed(idle)])).toEqual(["", ""]);
    for (const wire of [used, fourth, fifth]) expect((await wire.ask(alive)).status).toBe(200);
  });

  test("that are in use keep their places, and one too many of an address is closed", async () => {
    await using at = await listeningAt(fair(), { maxConnectionsPerAddress: 2 });
    const wires = [await at.open(), await at.open()];
    for (const wire of wires) {
      wire.write(written(listen({})));
      expect((await wire.head()).status).toBe(200);
    }
    expect(await closed(await at.open())).toBe("");
    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    for (const wire of wires) wire[Symbol.dispose]();
  });

  test("that are idle keep their places when too many come at once", async () => {
    await using at = await listeningAt(fair(), { maxConnectionsPerAddress: 128 });
    const open = (count: number): Promise<Wire[]> => Promise.all(Array.from({ length: count }, () => at.open()));
    const first = await open(128);
    const next = await open(100);
    const isClosed = (): readonly boolean[] => [...first, ...next].map(({ socket }) => socket.destroyed);
    for (const { socket } of [...first, ...next]) socket.resume();
    await until(() => isClosed().filter(Boolean).length === 100);
    expect(first.filter(({ socket }) => !socket.destroyed).length).toBeGreaterThanOrEqual(28 + 4);
    for (const wire of [...first, ...next]) wire[Symbol.dispose]();
  });

  test("of all addresses make room where there are most", async () => {
    await using at = await listeningAt(fair(), { maxConnections: 2 });
    using first = await at.open();
    using second = await at.open();
    using third = await at.open();
    expect(await closed(first)).toBe("");
    for (const wire of [second, third]) expect((await wire.ask(alive)).status).toBe(200);
  });
});

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:0DB8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:db8:0:1::", "2001:db8:0:1::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  [undefined, undefined],
])("A5: the network of %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
