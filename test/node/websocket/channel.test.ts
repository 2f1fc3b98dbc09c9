import { execFile } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { promisify } from "node:util";
import { type Channel, openConnection, webSocketChannel } from "@parlance/mcp/jsonrpc";
import { createServer as createMcpServer } from "@parlance/mcp/server";
import { createFakeClock, rawPeer } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { WebSocketOptions } from "../../../packages/mcp/src/transport/websocket.js";

const mebibyte = 1024 * 1024;

/** Opens a channel and keeps what it delivers, in order. */
function record(channel: Channel): string[] {
  const seen: string[] = [];
  channel.open({
    frame: (text) => void seen.push(text),
    refuse: ({ reason, bytes }) => void seen.push(`refused: ${reason}, ${bytes} bytes`),
    end: (error) => void seen.push(error === undefined ? "end" : `end: ${error.message}`),
  });
  return seen;
}

/** Resolves when that has come, and nothing else. */
async function has(seen: readonly string[], ...expected: readonly string[]): Promise<void> {
  await expect.poll(() => seen.length).toBeGreaterThanOrEqual(expected.length);
  await turn();
  expect(seen).toEqual(expected);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const servers: (WebSocketServer | Server)[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    if (server instanceof WebSocketServer) for (const client of server.clients) client.terminate();
    server.close();
  }
});

/** A server of WebSockets that is none of ours. */
async function bareServer(): Promise<{ readonly url: string; readonly client: Promise<WebSocket> }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  await once(server, "listening");
  const client = once(server, "connection").then(([socket]) => socket as WebSocket);
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, client };
}

/** A server that answers a request of HTTP with these words, or with none. */
async function tcpServer(answer?: string): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined).once("data", () => answer === undefined || socket.end(answer));
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A channel, and the socket of a bare server at its other end. */
async function linked(options: WebSocketOptions = {}): Promise<{ readonly channel: Channel; readonly far: WebSocket }> {
  const { url, client } = await bareServer();
  const channel = nodeWebSocketChannel(url, options);
  const far = await client;
  await isRead(far);
  return { channel, far };
}

/** Resolves when the other side has read what was sent. */
async function isRead(socket: WebSocket): Promise<void> {
  socket.ping();
  await once(socket, "pong");
}

/** The texts that a socket receives, and how it is closed. */
function heard(socket: WebSocket): string[] {
  const seen: string[] = [];
  socket.on("message", (data) => void seen.push(String(data)));
  socket.on("close", (code) => void seen.push(`closed: ${code}`));
  return seen;
}

describe("a channel over a WebSocket", () => {
  test("offers the subprotocol, and sends what was sent before it has opened", async () => {
    const { url, client } = await bareServer();
    const channel = nodeWebSocketChannel(url);
    for (const text of ["1", "2", "3"]) expect(channel.send(text)).toBeUndefined();
    const far = await client;
    expect(far.protocol).toBe("mcp");
    await has(heard(far), "1", "2", "3");
    await channel.close();
  });

  test("is sent before it closes, however much it is, and says that all is well", async () => {
    const { channel, far } = await linked();
    record(channel);
    const seen = heard(far);
    const long = "x".repeat(8 * mebibyte);
    void channel.send(long);
    void channel.send("last");
    await channel.close();
    await has(seen, long, "last", "closed: 1000");
    expect(channel.send("nobody listens")).toBeUndefined();
    await channel.close();
  });

  test("closes after the messages that were sent before it opened", async () => {
    const { url, client } = await bareServer();
    const channel = nodeWebSocketChannel(url);
    void channel.send("1");
    const closed = channel.close();
    await has(heard(await client), "1", "closed: 1000");
    await closed;
  });

  test("that is closed before it has opened does not open", async () => {
    const channel = nodeWebSocketChannel(await tcpServer());
    const seen = record(channel);
    await channel.close();
    expect(seen).toEqual([]);
  });

  test("delivers what came before it was opened, in order, and nothing once it is closed", async () => {
    const { channel, far } = await linked();
    for (const text of ["1", "2", "3"]) far.send(text);
    await isRead(far);
    const seen: string[] = [];
    channel.open({
      frame(text) {
        seen.push(text);
        if (text === "2") void channel.close();
      },
      refuse: () => undefined,
      end: () => void seen.push("end"),
    });
    await expect.poll(() => seen).toEqual(["1", "2"]);
    await channel.close();
    expect(seen).toEqual(["1", "2"]);
  });

  test("delivers nothing while it is paused, not even what it has read", async () => {
    const { channel, far } = await linked();
    const seen: string[] = [];
    channel.open({
      frame(text) {
        seen.push(text);
        if (text === "2") channel.pause?.();
      },
      refuse: () => undefined,
      end: () => void seen.push("end"),
    });
    for (const text of ["1", "2", "3", "4"]) far.send(text);
    await expect.poll(() => seen).toEqual(["1", "2"]);
    far.close(1000);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(seen).toEqual(["1", "2"]);
    channel.resume?.();
    await has(seen, "1", "2", "3", "4", "end");
    await channel.close();
  });

  test("that is paused before it has opened pushes back as well", async () => {
    const { url, client } = await bareServer();
    const channel = nodeWebSocketChannel(url);
    const seen = record(channel);
    channel.pause?.();
    const far = await client;
    const frame = "x".repeat(mebibyte);
    for (let count = 0; count < 12; count += 1) far.send(frame);
    for (let turns = 0; turns < 200; turns += 1) await turn();
    expect(far.bufferedAmount).toBeGreaterThan(0);
    channel.resume?.();
    await has(seen, ...Array.from({ length: 12 }, () => frame));
    await channel.close();
  });

  test("refuses bytes, and goes on", async () => {
    const { channel, far } = await linked();
    const seen = record(channel);
    far.send(Buffer.from("[]"));
    far.send("1");
    await has(seen, "refused: not-text, 2 bytes", "1");
    await channel.close();
  });

  test("ends when a message is too long, before it is there", async () => {
    const { channel, far } = await linked({ frameBytes: 1_000 });
    const seen = record(channel);
    const heardFar = heard(far);
    far.send("x".repeat(1_000));
    far.send("x".repeat(1_001));
    await has(seen, "x".repeat(1_000), "end: the WebSocket broke: Max payload size exceeded");
    await channel.close();
    await has(heardFar, "closed: 1009");
  });

  test("reports why the peer has closed, with hidden characters escaped", async () => {
    const { channel, far } = await linked();
    const seen = record(channel);
    far.close(4_000, "too\u001b[2Kmuch");
    await has(seen, 'end: the peer has closed the WebSocket: 4000 "too\\u001b[2Kmuch"');
    await channel.close();
  });

  test("gives a peer that does not answer the close two seconds", async () => {
    const clock = createFakeClock();
    const { channel, far } = await linked({ clock });
    record(channel);
    far.pause();
    const closed = channel.close();
    clock.advance(1_999);
    expect(await Promise.race([closed.then(() => "closed"), turn()])).toBeUndefined();
    clock.advance(1);
    await closed;
    expect(clock.armed).toBe(0);
  });
});

describe("a server that opens no WebSocket", () => {
  const said = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: why"}}';
  const chosen = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n";

  test.each([
    [
      "turns the client away",
      "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
      "the server responded with status 403",
    ],
    [
      "answers something else",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
      'the server responded with status 200: "[]"',
    ],
    [
      "says why",
      `HTTP/1.1 400 Bad Request\r\nContent-Length: ${said.length}\r\n\r\n${said}`,
      'the server responded with status 400: "Invalid Request: why"',
    ],
    ["has nothing to say", "HTTP/1.1 204 No Content\r\n\r\n", "the server responded with status 204"],
    [
      "has not read the question",
      `HTTP/1.1 101 Switching Protocols\r\n${chosen}`,
      "Invalid Sec-WebSocket-Accept header",
    ],
    ["goes", "", "socket hang up"],
  ])("because it %s is an error that says so", async (_what, answer, why) => {
    const channel = nodeWebSocketChannel(await tcpServer(answer));
    await has(record(channel), `end: the WebSocket could not be opened: ${why}`);
    await channel.close();
  });

  test("because no server listens is an error that says so", async () => {
    const channel = nodeWebSocketChannel("ws://127.0.0.1:1/");
    await has(record(channel), "end: the WebSocket could not be opened: connect ECONNREFUSED 127.0.0.1:1");
  });

  test("because it never answers ends a channel that is paused when that is resumed", async () => {
    const clock = createFakeClock();
    const channel = nodeWebSocketChannel(await tcpServer(), { clock, openTimeout: 1_000 });
    const seen = record(channel);
    channel.pause?.();
    clock.advance(1_000);
    expect(seen).toEqual([]);
    channel.resume?.();
    await has(seen, "end: the WebSocket has not opened within 1000 ms");
    await channel.close();
  });

  test("because it never answers is given up after 10 s, and calls fail", async () => {
    const clock = createFakeClock();
    const connection = openConnection(nodeWebSocketChannel(await tcpServer(), { clock }), { clock });
    const call = connection.call("anything");
    clock.advance(9_999);
    expect(connection.phase).toBe("open");
    clock.advance(1);
    await expect(call).rejects.toThrow("the WebSocket has not opened within 10000 ms");
    await connection.closed;
    expect(clock.armed).toBe(0);
  });
});

/** A socket with nothing but what the web has: it tells nobody what was taken, reads on, and leaves no peer. */
class WebLikeSocket extends WebSocket {
  constructor(url: string | URL, protocols: string[]) {
    super(url, protocols);
    const { send } = this;
    const web = { send: (text: string) => send.call(this, text, {}), pause: undefined, resume: undefined };
    Object.assign(this, web, { terminate: undefined });
  }
}

describe("a channel over the WebSocket of the platform", () => {
  test("looks for room while there is none", async () => {
    const clock = createFakeClock();
    const { channel, far } = await linked({ clock, WebSocket: WebLikeSocket });
    const seen = record(channel);
    const received = heard(far);
    const long = "x".repeat(16 * mebibyte);
    const room = channel.send(long);
    expect(room).toBeInstanceOf(Promise);
    await has(received, long);
    expect(await Promise.race([room, turn().then(() => "no room")])).toBe("no room");
    clock.advance(10);
    await room;
    clock.advance(10);
    expect([clock.armed, seen]).toEqual([0, []]);
    await channel.close();
  });

  test("gives up a peer that does not read, and does not wait for it", async () => {
    const clock = createFakeClock();
    const { channel, far } = await linked({ clock, WebSocket: WebLikeSocket });
    const seen = record(channel);
    far.pause();
    void channel.send("x".repeat(16 * mebibyte));
    await turn();
    clock.advance(30_000);
    clock.advance(30_000); // Some of it went on its way at first.
    await has(seen, "end: the peer does not read: nothing was read for 30000 ms");
    await channel.close();
    expect(clock.armed).toBe(0);
  });

  test("refuses a message that is too long, by its id, and goes on", async () => {
    const { channel, far } = await linked({ WebSocket: WebLikeSocket, frameBytes: 1_000 });
    const connection = openConnection(channel, { handle: () => "pong" });
    const received = heard(far);
    far.send(`{"jsonrpc":"2.0","id":"long","method":"${"x".repeat(1_000)}"}`);
    far.send('{"jsonrpc":"2.0","id":"short","method":"ping"}');
    await expect.poll(() => received.length).toBe(2);
    expect(received[0]).toMatch(
      /^\{"jsonrpc":"2.0","id":"long","error":\{"code":-32600,.*at most 1000 bytes are accepted/,
    );
    expect(received[1]).toBe('{"jsonrpc":"2.0","id":"short","result":"pong"}');
    await connection.close();
  });

  test("does not take a server for one that has chosen no subprotocol", async () => {
    const { url } = await bareServer();
    class SilentSocket extends WebSocket {
      constructor(address: string | URL) {
        super(address);
      }
    }
    const channel = webSocketChannel(url, { WebSocket: SilentSocket });
    await has(record(channel), 'end: the server has not chosen the subprotocol mcp, but ""');
    await channel.close();
  });

  test("is asked for by name where there is none", () => {
    const { WebSocket: own } = globalThis;
    Reflect.deleteProperty(globalThis, "WebSocket");
    try {
      const remedy = "There is no WebSocket on this platform: use @parlance/mcp/websocket, or give one in the options";
      expect(() => webSocketChannel("ws://127.0.0.1/")).toThrow(new TypeError(remedy));
    } finally {
      if (own !== undefined) Object.assign(globalThis, { WebSocket: own });
    }
  });

  test("carries a conversation, in a process that has nothing else", async () => {
    const server = createMcpServer({ name: "s", version: "1" });
    server.tool("double", {}, (_args, ctx) => {
      ctx.log("info", "x".repeat(2 * mebibyte));
      return "done";
    });
    await using listener = await serveWebSocket(server);
    const program = `
      import { connect } from "@parlance/mcp/client";
      import { webSocketChannel } from "@parlance/mcp/jsonrpc";
      for (const revision of ["2025-11-25", "2026-07-28"]) {
        const client = await connect(() => webSocketChannel(process.argv[1]), { revision });
        const { content } = await client.tools.call("double", {});
        console.log(client.revision, content[0].text);
        await client.close();
      }`;
    const flags = ["--experimental-websocket", "--no-warnings", "--input-type=module", "--eval", program, listener.url];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, flags);
    expect([stdout, stderr]).toEqual(["2025-11-25 done\n2026-07-28 done\n", ""]);
    await expect.poll(() => listener.connections.size).toBe(0);
  });
});

test("a client of ws is served as any other", async () => {
  const server = createMcpServer({ name: "s", version: "1" });
  await using listener = await serveWebSocket(server);
  const peer = rawPeer(nodeWebSocketChannel(new WebSocket(listener.url, "mcp")));
  peer.send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  expect(await peer.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  await peer.close();
});
