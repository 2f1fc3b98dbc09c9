import { join } from "node:path";
import type { Client } from "@parlance/mcp/client";
import { connect } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { assertAtRest, createFakeClock, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { turn } from "./mcp/talks.js";
import { type Line, type Transcript, transcripts } from "./transcripts/read.js";
import { servers } from "./transcripts/servers.js";

const all = transcripts(join(import.meta.dirname, "transcripts"));
const info = { name: "client", version: "1.0.0" };

describe.each(all)("$name in $version", (transcript) => {
  test("is what our server says", async () => {
    const make = servers[transcript.server];
    if (make === undefined) throw new Error(`there is no server ${transcript.server}`);
    const [near, far] = memoryChannels();
    const connection = serveChannel(make(), far, { clock: createFakeClock() });
    const peer = rawPeer(near);
    const words = new Drawn();
    for (const line of transcript.lines) {
      if (line.kind === "client") peer.send(words.give(line.frame));
      if (line.kind === "server") expect(words.take(await peer.next())).toEqual(line.frame);
    }
    await turn();
    assertAtRest(connection);
    await peer[Symbol.asyncDispose]();
  });

  if (transcript.only === "server") return;
  test("is what our client says", async () => {
    const [near, far] = memoryChannels();
    const peer = rawPeer(far);
    const program = run(transcript, near);
    for (const line of transcript.lines) {
      if (line.kind === "client") expect(JSON.parse(await peer.next())).toEqual(line.frame);
      if (line.kind === "server") peer.send(JSON.stringify(line.frame));
    }
    await program;
    await peer[Symbol.asyncDispose]();
  });
});

/** What a server draws anew each time, by the member that holds it; and the word that stands for it in a file. */
const drawn: ReadonlyMap<string, string> = new Map([
  ["requestState", "STATE"],
  ["elicitationId", "ID"],
]);

/** Puts the words of a file in the place of what was drawn, and back. */
class Drawn {
  readonly #values = new Map<string, unknown>();

  take(frame: string): unknown {
    return JSON.parse(frame, (key, value: unknown) => {
      if (drawn.has(key)) this.#values.set(key, value);
      return drawn.get(key) ?? value;
    });
  }

  give(frame: unknown): string {
    return JSON.stringify(frame, (key, value: unknown) => this.#values.get(key) ?? value);
  }
}

type Verb = (client: Client, args: readonly unknown[]) => Promise<unknown>;

const verbs: Readonly<Record<string, Verb>> = {
  call: (client, [method, params]) => client.call(method as string, params as Record<string, unknown>),
  fail: (client, [method, params]) =>
    expect(client.call(method as string, params as Record<string, unknown>)).rejects.toBeInstanceOf(Error),
  "tools.list": (client) => client.tools.list().all(),
  "tools.call": (client, [name, args]) => client.tools.call(name as string, args as Record<string, unknown>),
  "tools.follow": (client, [name, args]) =>
    client.tools.call(name as string, args as Record<string, unknown>, { onProgress: () => undefined }),
  "tools.fail": (client, [name, args]) =>
    expect(client.tools.call(name as string, args as Record<string, unknown>)).rejects.toBeInstanceOf(Error),
};

/** What the `$` lines do, one after the other. */
async function run({ lines, version }: Transcript, channel: Parameters<typeof connect>[0]): Promise<void> {
  const client = await connect(channel, { info, revision: version, clock: createFakeClock() });
  for (const { verb, args } of lines.filter(isDo)) {
    const act = verbs[verb];
    if (act === undefined) throw new Error(`a transcript cannot do ${verb}`);
    await act(client, args);
  }
  await turn();
  assertAtRest(client.connection);
  await client.close();
}

function isDo(line: Line): line is Extract<Line, { kind: "do" }> {
  return line.kind === "do";
}
