import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Connection, describeReport, openConnection } from "@parlance/mcp/jsonrpc";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { webSocketUpgrade } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";
import type { Closed } from "../../../packages/mcp/src/jsonrpc/connection.js";
import type {
  AcceptWebSocket,
  WebSocketUpgradeOptions,
} from "../../../packages/mcp/src/node/websocket/websocket-upgrade.js";
import { frame, opcodes, open, type Wire } from "./wire.js";

/** A client that a test plays by hand, and the conversation that a server has with it. */
interface Served extends AsyncDisposable {
  readonly wire: Wire;
  readonly connection: Connection;
  readonly clock: FakeClock;
  readonly reports: readonly string[];
  /** The server's end of the connection. */
  readonly socket: Socket;
  /** How often the server was asked. */
  readonly asked: () => number;
  /** How the conversation has ended; the server takes another client all the same. */
  ended(): Promise<string>;
}

const kibibyte = 1024;
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":"pong"}';

async function serve(options: WebSocketUpgradeOptions = {}): Promise<Served> {
  const clock = createFakeClock();
  const reports: string[] = [];
  let asked = 0;
  const accept: AcceptWebSocket = (channel) =>
    openConnection(channel, {
      clock,
      report: (each) => void reports.push(describeReport(each)),
      handle(method) {
        asked += 1;
        return method === "large" ? "x".repeat(64 * kibibyte) : "pong";
      },
    });
  const upgrade = webSocketUpgrade(accept, { clock, ...options });
  const server = createServer().on("upgrade", upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const connecting = once(server, "connection");
  const wire = await open(url);
  const [socket] = (await connecting) as [Socket];
  const [connection] = upgrade.connections;
  if (connection === undefined) throw new Error("the server has no conversation");
  return {
    wire,
    connection,
    clock,
    reports,
    socket,
    asked: () => asked,
    async ended() {
      const closed = await connection.closed;
      using other = await open(url);
      other.text(ping);
      expect(await other.message()).toBe(pong);
      return told(closed);
    },
    async [Symbol.asyncDispose]() {
      wire.socket.destroy();
      await upgrade.close();
      await new Promise((resolve) => server.close(resolve));
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

function told({ reason, error }: Closed): string {
  return error === undefined ? reason : `${reason}: ${error.message}`;
}

describe("what a client sends", () => {
  test("as bytes is refused, and the conversation goes on", async () => {
    await using served = await serve();
    served.wire.send(opcodes.binary, ping);
    expect(await served.wire.message()).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"reason":"a binary message: frames are text"}}}',
    );
    served.wire.text(ping);
    expect(await served.wire.message()).toBe(pong);
    expect(served.reports).toEqual(['received "": a binary message: frames are text']);
  });

  test("in fragments is one message, and control frames may stand between them", async () => {
    await using served = await serve();
    const { wire } = served;
    wire.send(opcodes.text, ping.slice(0, 10), false);
    wire.send(opcodes.ping, "still there?");
    wire.send(opcodes.more, ping.slice(10, 20), false);
    wire.send(opcodes.more, ping.slice(20));
    expect(await wire.next()).toMatchObject({ opcode: opcodes.pong, payload: Buffer.from("still there?") });
    expect(await wire.message()).toBe(pong);
  });

  test("of the greatest length is taken, and of one byte more ends the conversation before it is there", async () => {
    const options = { limits: { frameBytes: 1_000 } };
    await using served = await serve(options);
    served.wire.text(ping.padEnd(1_000));
    expect(await served.wire.message()).toBe(pong);
    served.wire.socket.write(frame(opcodes.text, ping.padEnd(1_001)).subarray(0, 20));
    expect(await served.wire.closing()).toBe("1009");
    expect(await served.ended()).toBe("failed: the WebSocket broke: Max payload size exceeded");
  });

  test("in as many fragments as may be is taken, and in one more ends the conversation", async () => {
    await using served = await serve();
    const fragments = (count: number): void => {
      for (let each = 0; each < count; each += 1) {
        served.wire.send(each === 0 ? opcodes.text : opcodes.more, each === 0 ? ping : " ", each === count - 1);
      }
    };
    fragments(1_024);
    expect(await served.wire.message()).toBe(pong);
    fragments(1_025);
    expect(await served.wire.closing()).toBe("1008");
    expect(await served.ended()).toBe("failed: the WebSocket broke: Too many message fragments");
  });

  test.each<[string, (wire: Wire) => void, string, string]>([
    [
      "text that is not UTF-8",
      (wire) => wire.send(opcodes.text, new Uint8Array([0x22, 0xff, 0x22])),
      "1007",
      "invalid UTF-8 sequence",
    ],
    [
      "a frame without a mask",
      (wire) => void wire.socket.write(new Uint8Array([0x81, 1, 0x31])),
      "1002",
      "MASK must be set",
    ],
    ["a frame of no kind", (wire) => wire.send(3, "1"), "1002", "invalid opcode 3"],
    ["a compressed frame", (wire) => wire.send(0x40 | opcodes.text, "1"), "1002", "RSV1 must be clear"],
    ["a fragment of nothing", (wire) => wire.send(opcodes.more, "1"), "1002", "invalid opcode 0"],
  ])("as %s ends the conversation", async (_what, send, code, why) => {
    await using served = await serve();
    send(served.wire);
    expect(await served.wire.closing()).toBe(code);
    expect(await served.ended()).toContain(`failed: the WebSocket broke: Invalid WebSocket frame: ${why}`);
  });

  test("and does not end is dropped with the connection", async () => {
    await using served = await serve();
    served.wire.socket.end(frame(opcodes.text, ping).subarray(0, 20));
    expect(await served.ended()).toBe("failed: the WebSocket broke");
    expect([served.asked(), served.reports]).toEqual([1, []]); // The client that came after it has asked.
  });
});

describe("a client that goes", () => {
  test.each<[string, (wire: Wire) => void, string]>([
    ["without a word", (wire) => void wire.socket.end(), "failed: the WebSocket broke"],
    ["by a reset", (wire) => void wire.socket.resetAndDestroy(), "failed: the WebSocket broke"],
    ["as it should", (wire) => wire.send(opcodes.close, closing(1000, "done")), "ended"],
    ["to another page", (wire) => wire.send(opcodes.close, closing(1001)), "ended"],
    ["without a reason", (wire) => wire.send(opcodes.close), "ended"],
    [
      "because of this side",
      (wire) => wire.send(opcodes.close, closing(1008, "too \u202emuch")),
      'failed: the peer has closed the WebSocket: 1008 "too \\u{202e}much"',
    ],
    [
      "for reasons of its own",
      (wire) => wire.send(opcodes.close, closing(4001)),
      "failed: the peer has closed the WebSocket: 4001",
    ],
  ])("%s is known to have gone", async (_how, go, ended) => {
    await using served = await serve();
    const { wire } = served;
    go(wire);
    void wire.closing().then(
      () => wire.socket.end(),
      () => undefined, // Not everybody that goes waits for an answer.
    );
    expect(await served.ended()).toBe(ended);
  });

  test("is answered all that it asked before", async () => {
    await using served = await serve();
    const { wire } = served;
    wire.socket.write(Buffer.concat([frame(opcodes.text, ping), frame(opcodes.close, closing(1000))]));
    expect(await wire.message()).toBe(pong);
    expect(await wire.closing()).toBe("1000");
  });
});

describe("a client that says nothing", () => {
  test("is asked every 15 s whether it is there, and given up 10 s later", async () => {
    await using served = await serve();
    const { clock, wire } = served;
    clock.advance(14_999);
    clock.advance(1);
    expect((await wire.next()).opcode).toBe(opcodes.ping);
    clock.advance(9_999);
    expect(served.connection.phase).toBe("open");
    clock.advance(1);
    expect(await served.ended()).toBe("failed: the peer has sent nothing for 10000 ms");
    await wire.gone();
  });

  test("is asked again when it has answered", async () => {
    await using served = await serve({ pingInterval: 1_000, pongTimeout: 500 });
    const { clock, wire } = served;
    for (let round = 0; round < 3; round += 1) {
      clock.advance(round === 0 ? 1_000 : 500);
      expect((await wire.next()).opcode).toBe(opcodes.ping);
      wire.send(opcodes.pong);
      wire.text(ping); // Behind its answer the pong has been read.
      expect(await wire.message()).toBe(pong);
      clock.advance(500);
    }
    expect(served.connection.phase).toBe("open");
  });

  test("counts as alive during a long message, for which its pong has to wait", async () => {
    await using served = await serve({ pingInterval: 1_000, pongTimeout: 500 });
    const { clock, wire, socket } = served;
    const message = frame(opcodes.text, ping.padEnd(100_000));
    clock.advance(1_000);
    expect((await wire.next()).opcode).toBe(opcodes.ping);
    const { bytesRead } = socket;
    wire.socket.write(message.subarray(0, 50_000));
    await expect.poll(() => socket.bytesRead).toBe(bytesRead + 50_000);
    clock.advance(500);
    wire.socket.write(message.subarray(50_000));
    expect(await wire.message()).toBe(pong);
  });
});

describe("a client that does not read", () => {
  test("is not read either, and costs no more than the limits", async () => {
    const highWaterBytes = 256 * kibibyte;
    await using served = await serve({ highWaterBytes });
    const { wire, clock, socket, asked, connection } = served;
    for (let count = 0; count < 2_000; count += 1) wire.text('{"jsonrpc":"2.0","id":1,"method":"large"}');
    await untilStalled(served);
    const [waiting, before] = [socket.writableLength, asked()];
    expect(waiting).toBeLessThan(highWaterBytes + 2 * 64 * kibibyte);
    await turn();
    clock.advance(29_000);
    expect([connection.phase, asked(), socket.writableLength]).toEqual(["open", before, waiting]);
    clock.advance(1_000);
    expect(told(await connection.closed)).toBe("failed: the peer does not read: nothing was read for 30000 ms");
    expect(socket.destroyed).toBe(true);
  });

  test("gets its response as soon as it reads", async () => {
    await using served = await serve({ highWaterBytes: 256 * kibibyte });
    const { wire, clock } = served;
    for (let count = 0; count < 1_000; count += 1) wire.text('{"jsonrpc":"2.0","id":1,"method":"large"}');
    await untilStalled(served);
    for (let count = 0; count < 1_000; count += 1) {
      const answer = wire.message();
      while ((await Promise.race([answer, turn()])) === undefined) clock.advance(10);
      expect((await answer).length).toBeGreaterThan(64 * kibibyte);
    }
  });

  test("has not gone because its pong was not read", async () => {
    await using served = await serve({ highWaterBytes: 256 * kibibyte });
    const { connection, wire, socket, clock } = served;
    clock.advance(15_000);
    expect((await wire.next()).opcode).toBe(opcodes.ping);
    while (!socket.isPaused()) {
      connection.notify("news", ["x".repeat(64 * kibibyte)]);
      await turn();
    }
    wire.send(opcodes.pong);
    clock.advance(10_000);
    await turn();
    expect(connection.phase).toBe("open");
  });

  test("is given up when a server goes on all the same", async () => {
    await using served = await serve({ highWaterBytes: 100 * kibibyte, maxQueuedBytes: 1_000 * kibibyte });
    const { connection, socket } = served;
    let most = 0;
    while (connection.phase === "open") {
      connection.notify("news", ["x".repeat(64 * kibibyte)]);
      most = Math.max(most, socket.writableLength);
      await turn();
    }
    expect(told(await connection.closed)).toMatch(/^failed: the peer does not read: 10\d{5} bytes wait to be read$/);
    expect(most).toBeLessThan(1_000 * kibibyte + 2 * 64 * kibibyte);
  });
});

/** The system between the two has taken all that it takes, and nothing goes any further. */
async function untilStalled({ socket, asked, clock }: Served): Promise<void> {
  for (let still = 0, before = ""; still < 50; ) {
    clock.advance(10);
    await turn();
    const now = `${asked()} ${socket.writableLength}`;
    still = now === before && socket.writableLength > 0 ? still + 1 : 0;
    before = now;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function closing(code: number, reason = ""): Buffer {
  const start = Buffer.alloc(2);
  start.writeUInt16BE(code);
  return Buffer.concat([start, Buffer.from(reason)]);
}
