import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { type Channel, messagePortChannel, webSocketChannel, webStreamChannel } from "@parlance/mcp/jsonrpc";
import { streamChannel, tcpChannel } from "@parlance/mcp/node";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { WebSocket, WebSocketServer } from "ws";
import type { SocketAddress } from "../../packages/mcp/src/node/listen.js";
import type { WebStreamOptions } from "../../packages/mcp/src/transport/web-streams.js";

/** Options of every channel under test. Message ports leave the bound on frames to the connection. */
export type LinkOptions = Omit<WebStreamOptions, "clock" | "framing">;

/** A channel under test and one of the same kind at its other end, on a clock that stands still. */
export interface Link {
  readonly near: Channel;
  readonly far: Channel;
  readonly clock: FakeClock;
}

/** A channel under test, and a peer that writes what no channel would. */
export interface RawLink {
  readonly near: Channel;
  readonly clock: FakeClock;
  frame(text: string): void;
  /** Writes what is no frame. */
  noise(): void;
  /** Ends the side of the peer. */
  end(): void;
  /** Where the transport can break: breaks it. */
  ruin?(): void;
  /** Where frames come in pieces: writes the beginning of one. */
  half?(): void;
}

/** A way to connect two ends, as the contract of channels sees it. */
export interface Transport {
  readonly link: (options?: LinkOptions) => Promise<Link>;
  readonly raw: (options?: LinkOptions) => Promise<RawLink>;
  /** The refusal of noise. */
  readonly refusal: string;
}

const notUtf8 = new Uint8Array([0x22, 0xff, 0x22, 0x0a]);
const encoder = new TextEncoder();

/** A socket, and the channel that has reached it. */
async function dialled(
  address: SocketAddress,
  options: LinkOptions,
): Promise<{ socket: Socket; near: Channel; clock: FakeClock }> {
  const listener = createServer({ allowHalfOpen: true }).listen(
    "path" in address ? address.path : address.port,
    () => undefined,
  );
  await once(listener, "listening");
  const bound = listener.address();
  const clock = createFakeClock();
  const target = typeof bound === "object" && bound !== null ? { port: bound.port } : address;
  const near = tcpChannel(target, { ...options, clock });
  const [socket] = (await once(listener, "connection")) as [Socket];
  listener.close();
  return { socket, near, clock };
}

function overSockets(address: () => SocketAddress, canBreak: boolean): Transport {
  return {
    async link(options = {}) {
      const { socket, near, clock } = await dialled(address(), options);
      return { near, far: streamChannel(socket, socket, { clock }), clock };
    },
    async raw(options = {}) {
      const { socket, near, clock } = await dialled(address(), options);
      socket.resume();
      return {
        near,
        clock,
        frame: (text) => void socket.write(`${text}\n`),
        noise: () => void socket.write(notUtf8),
        half: () => void socket.write('{"half'),
        end: () => void socket.end(),
        ...(canBreak ? { ruin: () => void socket.resetAndDestroy() } : {}),
      };
    },
    refusal: "not-utf8",
  };
}

const overPorts: Transport = {
  async link(options = {}) {
    const { port1, port2 } = new MessageChannel();
    const clock = createFakeClock();
    return { near: messagePortChannel(port1, { ...options, clock }), far: messagePortChannel(port2, { clock }), clock };
  },
  async raw(options = {}) {
    const { port1, port2 }: { port1: MessagePort; port2: MessagePort } = new MessageChannel();
    const clock = createFakeClock();
    return {
      near: messagePortChannel(port1, { ...options, clock }),
      clock,
      frame: (text) => port2.postMessage(text),
      noise: () => port2.postMessage({ jsonrpc: "2.0", method: "not a string" }),
      end: () => port2.close(),
    };
  },
  refusal: "not-text",
};

const overWebStreams: Transport = {
  async link(options = {}) {
    const [there, back] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
    const clock = createFakeClock();
    return {
      near: webStreamChannel({ readable: there.readable, writable: back.writable }, { ...options, clock }),
      far: webStreamChannel({ readable: back.readable, writable: there.writable }, { clock }),
      clock,
    };
  },
  async raw(options = {}) {
    const [there, back] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
    const clock = createFakeClock();
    const writer = there.writable.getWriter();
    void back.readable.pipeTo(new WritableStream()).catch(() => undefined); // Reads and forgets, until it is ruined.
    return {
      near: webStreamChannel({ readable: there.readable, writable: back.writable }, { ...options, clock }),
      clock,
      frame: (text) => void writer.write(encoder.encode(`${text}\n`)),
      noise: () => void writer.write(notUtf8),
      half: () => void writer.write(encoder.encode('{"half')),
      end: () => void writer.close(),
      ruin: () => void writer.abort(new Error("the cable was cut")),
    };
  },
  refusal: "not-utf8",
};

/** The two ends of a WebSocket, both of them open. */
async function webSockets(): Promise<readonly [WebSocket, WebSocket]> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const far = once(server, "connection");
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(near, "open");
  server.close();
  return [near, (await far)[0] as WebSocket];
}

const overWebSockets: Transport = {
  async link(options = {}) {
    const [near, far] = await webSockets();
    const clock = createFakeClock();
    return { near: webSocketChannel(near, { ...options, clock }), far: webSocketChannel(far), clock };
  },
  async raw(options = {}) {
    const [near, far] = await webSockets();
    const clock = createFakeClock();
    return {
      near: webSocketChannel(near, { ...options, clock }),
      clock,
      frame: (text) => far.send(text),
      noise: () => far.send(notUtf8),
      end: () => far.close(1000),
      ruin: () => far.terminate(),
    };
  },
  refusal: "not-text",
};

const folder = mkdtempSync(join(tmpdir(), "links-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let paths = 0;

/** The transports that the contract is held against. */
export const transports: Readonly<Record<string, Transport>> = {
  TCP: overSockets(() => ({ port: 0 }), true),
  "a Unix socket": overSockets(() => {
    paths += 1;
    return { path: join(folder, `${paths}.sock`) };
  }, false),
  "a message port": overPorts,
  "web streams": overWebStreams,
  "a WebSocket": overWebSockets,
};
