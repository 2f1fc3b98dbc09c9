import { PassThrough, type Readable, type Writable } from "node:stream";
import {
  type Channel,
  type Connection,
  type ConnectionOptions,
  contentLength,
  type Framing,
  lines,
  memoryChannels,
  openConnection,
} from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { assertNoLeaks, createFakeClock, type FakeClock, type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { expect } from "vitest";

/** A connection under test and, at its other end, a peer that writes what the test says. */
export interface Talk extends AsyncDisposable {
  readonly connection: Connection;
  readonly peer: RawPeer;
  readonly clock: FakeClock;
}

/** The same over streams, where the peer can also write bytes that are no frame. */
export interface StreamTalk extends Talk {
  write(bytes: Uint8Array): void;
}

export interface Transport {
  readonly name: "memory" | "lines" | "Content-Length";
  open(options?: ConnectionOptions): Talk;
}

/** The three transports that must all give the same answers. Over streams the peer writes in pieces of odd sizes. */
export const transports: readonly Transport[] = [
  { name: "memory", open: overMemory },
  { name: "lines", open: (options) => overStreams(lines, options) },
  { name: "Content-Length", open: (options) => overStreams(contentLength, options) },
];

/** A talk in memory: for what does not depend on the transport. */
export function overMemory(options: ConnectionOptions = {}): Talk {
  const clock = createFakeClock();
  const [left, right] = memoryChannels();
  return talk(openConnection(left, { clock, ...options }), rawPeer(right), clock);
}

/** A talk over a byte stream in each direction. */
export function overStreams(framing: Framing, options: ConnectionOptions = {}): StreamTalk {
  const clock = createFakeClock();
  const there = new PassThrough();
  const back = new PassThrough();
  const frameBytes = options.limits?.frameBytes;
  const near = streamChannel(there, back, { framing, clock, ...(frameBytes === undefined ? {} : { frameBytes }) });
  const peer = rawPeer(inPieces(back, there, framing));
  return { ...talk(openConnection(near, { clock, ...options }), peer, clock), write: (bytes) => there.write(bytes) };
}

/** The channel of a peer whose bytes arrive in pieces that respect neither frames nor characters. */
function inPieces(input: Readable, output: Writable, framing: Framing): Channel {
  const channel = streamChannel(input, output, { framing, clock: createFakeClock() });
  return {
    open: (receiver) => channel.open(receiver),
    close: () => channel.close(),
    send(frame) {
      for (const piece of pieces(Buffer.from(framing.encode(frame)))) output.write(piece);
    },
  };
}

const pieceSizes = [1, 2, 3, 5, 7, 11, 4_099];

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = pieceSizes[turn % pieceSizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Ends with the leak check: nothing under way, no frame unread, both directions closed, no timer armed. */
function talk(connection: Connection, peer: RawPeer, clock: FakeClock): Talk {
  return {
    connection,
    peer,
    clock,
    async [Symbol.asyncDispose]() {
      await turn();
      assertNoLeaks(connection);
      await peer[Symbol.asyncDispose]();
      await connection.closed;
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

/** Lets everything that is on its way arrive, without time. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The connection still answers, and has nothing else to say before it does. */
export async function expectAlive({ peer }: Talk): Promise<void> {
  peer.send('{"jsonrpc":"2.0","id":"alive","method":"ping"}');
  expect(await peer.next()).toBe('{"jsonrpc":"2.0","id":"alive","result":"pong"}');
}
