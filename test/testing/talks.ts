import type { Channel, Connection } from "@parlance/mcp/jsonrpc";
import { describeReport, memoryChannels, tapChannel } from "@parlance/mcp/jsonrpc";
import { type Servable, serveChannel } from "@parlance/mcp/server";
import { assertNoLeaks, createFakeClock, type FakeClock, type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { expect } from "vitest";
import type { TransportOptions } from "../../packages/mcp/src/session/options.js";
import { initialize, initialized, ping, pong } from "./frames.js";

/** A server in memory, and a raw peer that speaks to it. */
export interface Talk extends AsyncDisposable {
  readonly peer: RawPeer;
  readonly connection: Connection;
  readonly clock: FakeClock;
  /** The reports of the server's side, in words. */
  readonly reports: readonly string[];
  /** Writes a frame and reads the next one. */
  ask(frame: string): Promise<string>;
}

/** Ends with the leak check: nothing under way, no frame unread, the connection closed, no timer armed. */
export function talkTo(served: Servable, options: TransportOptions = {}): Talk {
  const clock = createFakeClock();
  const reports: string[] = [];
  const [near, far] = memoryChannels();
  const report = options.report ?? ((each) => void reports.push(describeReport(each)));
  const connection = serveChannel(served, far, { clock, ...options, report });
  const peer = rawPeer(near);
  return {
    peer,
    connection,
    clock,
    reports,
    ask(frame) {
      peer.send(frame);
      return peer.next();
    },
    async [Symbol.asyncDispose]() {
      await turn();
      assertNoLeaks(connection);
      await peer[Symbol.asyncDispose]();
      await connection.closed;
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

/** The same behind the three steps that open a conversation. */
export async function conversationWith(
  served: Servable,
  version: string,
  options: TransportOptions = {},
): Promise<Talk> {
  const talk = talkTo(served, options);
  expect(await talk.ask(initialize(version))).toContain(`"protocolVersion":"${version}"`);
  talk.peer.send(initialized);
  return talk;
}

/** The server still answers, and has nothing else to say before it does. */
export async function expectAlive(talk: Talk): Promise<void> {
  expect(await talk.ask(ping)).toBe(pong);
}

/** A server that a test plays by hand: one raw peer for each transport that the client makes. */
export interface Played extends AsyncDisposable {
  readonly dial: () => Channel;
  readonly clock: FakeClock;
  /** The frames of the client, on all transports. */
  readonly sent: readonly string[];
  /** The server's end of the next transport, as soon as there is one. */
  next(): Promise<RawPeer>;
}

/** Ends with the leak check: every transport is closed, no frame unread, no timer armed. */
export function play(): Played {
  const clock = createFakeClock();
  const sent: string[] = [];
  const peers: RawPeer[] = [];
  let taken = 0;
  let open = 0;
  return {
    clock,
    sent,
    dial() {
      const [near, far] = memoryChannels();
      peers.push(rawPeer(far));
      open += 1;
      const tapped = tapChannel(near, (each) => {
        if (each.kind === "sent") sent.push(each.frame);
      });
      return onClose(tapped, () => (open -= 1));
    },
    async next() {
      for (let turns = 0; turns < 20 && peers[taken] === undefined; turns += 1) await turn();
      const peer = peers[taken];
      if (peer === undefined) throw new Error("the client has made no further transport");
      taken += 1;
      return peer;
    },
    async [Symbol.asyncDispose]() {
      expect(open, "transports that the client has left open").toBe(0);
      expect(taken, "transports that the test has seen").toBe(peers.length);
      for (const peer of peers) await peer[Symbol.asyncDispose]();
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

/** A channel that tells when it is closed for the first time. */
function onClose(channel: Channel, told: () => void): Channel {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    told();
    return channel.close();
  };
  return { ...channel, close: () => (closing ??= close()) };
}

/** Lets everything that is on its way in memory arrive, without time. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
