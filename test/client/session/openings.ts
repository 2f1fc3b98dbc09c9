import { type Client, type ClientOptions, connect } from "@parlance/mcp/client";
import { assertNoLeaks, type FakeClock, type RawPeer } from "@parlance/mcp/testing";
import { discoverResult, failure, initializeResult, modern } from "../../testing/frames.js";
import { type Played, play, turn } from "../../testing/talks.js";

/** The client of the tests in which the server is played by hand. */
export const info = { name: "me", version: "1" };

/** The question of that client. */
export function discover(id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"me","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`;
}

/** The greeting of that client. */
export function greeting(id: number, version = "2025-11-25"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}`;
}

/** The answer of a server that speaks other versions. */
export function unsupported(id: number, supported: readonly unknown[]): string {
  return failure(id, -32_022, "Unsupported protocol version", { supported, requested: "2026-07-28" });
}

/** Lets the server answer each frame of its client with the next of `answers`; `""` is silence. */
export async function answerWith(played: Played, answers: readonly string[]): Promise<RawPeer> {
  const peer = await played.next();
  for (const answer of answers) {
    await peer.next();
    if (answer !== "") peer.send(answer);
  }
  return peer;
}

/** The error of a promise. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    return new Error(`no error, but ${String(await promise)}`);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A client with an open session, and its server, which the test plays. */
export interface Opened extends AsyncDisposable {
  readonly client: Client;
  readonly peer: RawPeer;
  readonly clock: FakeClock;
  /** The frames of the client, the opening included. */
  readonly sent: readonly string[];
}

/** Opens a session in that revision, with a server of these capabilities. Ends with the leak checks of both sides. */
export async function openWith(
  version: string,
  options: ClientOptions = {},
  capabilities: object = { tools: {} },
): Promise<Opened> {
  const played = play();
  const opening = connect(played.dial, { info, clock: played.clock, revision: version, ...options });
  const peer = await played.next();
  await peer.next();
  peer.send(
    version === modern ? discoverResult(1, [modern], capabilities) : initializeResult(1, version, capabilities),
  );
  const client = await opening;
  if (version !== modern) await peer.next();
  return {
    client,
    peer,
    clock: played.clock,
    sent: played.sent,
    async [Symbol.asyncDispose]() {
      await turn();
      assertNoLeaks(client.connection);
      await client.close();
      await played[Symbol.asyncDispose]();
    },
  };
}
