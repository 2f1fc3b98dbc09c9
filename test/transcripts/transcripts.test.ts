import { connect } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { assertNoLeaks, createFakeClock, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { turn } from "../testing/talks.js";
import { answersOf, Program } from "./program.js";
import { transcripts } from "./read.js";
import { servers } from "./servers.js";

const all = transcripts(import.meta.dirname);
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
    assertNoLeaks(connection);
    await peer[Symbol.asyncDispose]();
  });

  if (transcript.only === "server") return;
  test("is what our client says", async () => {
    const { lines, version } = transcript;
    const [near, far] = memoryChannels();
    const peer = rawPeer(far);
    const answers = answersOf(transcript.answers);
    const opening = connect(near, { info, revision: version, clock: createFakeClock(), handlers: answers });
    let program: Program | undefined;
    let acting: Promise<void> = Promise.resolve();
    for (const line of lines) {
      if (line.kind === "client") expect(JSON.parse(await peer.next())).toEqual(line.frame);
      if (line.kind === "server") peer.send(JSON.stringify(line.frame));
      if (line.kind !== "do") continue;
      program ??= new Program(await opening);
      await acting; // One after the other.
      acting = program.act(line.verb, line.args);
      acting.catch(() => undefined); // It is waited for below.
    }
    await acting;
    const client = await opening;
    await turn();
    assertNoLeaks(client.connection);
    await client.close();
    await peer[Symbol.asyncDispose]();
  });
});

/** Random values of a server, by their members, and the words that stand for them in a file. */
const drawn: ReadonlyMap<string, string> = new Map([
  ["requestState", "STATE"],
  ["elicitationId", "ID"],
  ["taskId", "TASK"],
  ["createdAt", "TIME"],
  ["lastUpdatedAt", "TIME"],
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
