import { Conversation } from "@parlance/mcp/wire";
import { monotonic } from "../monotonic.js";
import { Transcript } from "../recorder/transcript.js";
import { type PlayOptions, ServerPlayer, type Stage } from "./server-player.js";

/** Plays the server of a recording on stdin and stdout, until stdin ends. */
export async function playOnStdio(recording: Conversation, options: PlayOptions, stage: Stage): Promise<ServerPlayer> {
  const player = new ServerPlayer(recording, options, stage);
  // What the client says is only read here, not judged.
  const live = new Conversation({ rules: [] });
  const transcript = new Transcript(({ entry }) => {
    const row = entry && live.push(entry);
    if (row !== undefined) player.receive(row);
  });
  player.begin();
  for await (const bytes of process.stdin as AsyncIterable<Uint8Array>)
    transcript.observe({ kind: "bytes", stream: "stdin", t: monotonic(), bytes });
  transcript.end();
  await player.end();
  return player;
}
