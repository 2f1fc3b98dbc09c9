import type { Readable } from "node:stream";
import type { Conversation } from "@parlance/mcp/wire";
import { type PlayOptions, ServerPlayer, type Stage } from "./server-player.js";
import { Transcript } from "./transcript.js";

/** Plays the server of a recording on stdin and stdout, until stdin ends. */
export async function playOnStdio(recording: Conversation, options: PlayOptions, stage: Stage): Promise<ServerPlayer> {
  const player = new ServerPlayer(recording, options, stage);
  // What the client says is only read here, not judged.
  const transcript = new Transcript([]);
  player.begin();
  for await (const line of byteLines(process.stdin)) player.receive(transcript.frame("c2s", line));
  await player.end();
  return player;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The lines of a stream, without their line breaks. Empty ones say nothing. */
async function* byteLines(stream: Readable): AsyncIterable<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let end = held.indexOf(newline); end >= 0; end = held.indexOf(newline)) {
      const line = held.subarray(0, held[end - 1] === carriageReturn ? end - 1 : end);
      held = held.subarray(end + 1);
      if (line.length > 0) yield line;
    }
  }
  if (held.length > 0) yield held;
}
