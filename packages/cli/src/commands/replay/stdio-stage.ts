import { Conversation } from "@parlance/wire";
import type { FaultPlan } from "../../shared/faults/fault-option.js";
import { FaultyStream } from "../../shared/faults/faulty-stream.js";
import { monotonic } from "../../shared/monotonic.js";
import type { LineStream } from "../../shared/recorder/recorder-messages.js";
import { Transcript } from "../../shared/recorder/transcript.js";
import { type PlayOptions, ServerPlayer } from "./server-player.js";

/** Options for playing a recording on stdio. */
export interface StdioPlayOptions extends PlayOptions {
  /** Applies faults to the frames of the server. */
  readonly faults: FaultPlan | undefined;
}

/** Plays the server of a recording on stdin and stdout, until stdin ends. */
export async function playOnStdio(recording: Conversation, options: StdioPlayOptions): Promise<ServerPlayer> {
  const { faults } = options;
  const faulty = faults && faultyOutput(faults);
  // With faults, messages are judged, because a filter may test the verdicts.
  const live = new Conversation(faults === undefined ? { rules: [] } : {});
  const transcript = new Transcript(({ entry }) => {
    const row = entry && live.push(entry);
    if (row?.from === "client") player.receive(row);
    else if (row !== undefined) faulty?.take(row);
  });
  const observe = (stream: LineStream, bytes: Uint8Array): void =>
    transcript.observe({ kind: "bytes", stream, t: monotonic(), bytes });
  const player = new ServerPlayer(recording, options, {
    send: (bytes, lineBreak) => {
      const line = Buffer.concat([bytes, Buffer.from(lineBreak)]);
      if (faulty === undefined) process.stdout.write(line);
      else observe("stdout", line);
    },
    log: (bytes) => process.stderr.write(bytes),
    exit: leave,
  });
  player.begin();
  for await (const bytes of process.stdin as AsyncIterable<Uint8Array>) observe("stdin", bytes);
  transcript.end();
  await player.end();
  await faulty?.end();
  return player;
}

function faultyOutput({ rules, seed }: FaultPlan): FaultyStream {
  return new FaultyStream(() => rules, seed, {
    write: (bytes) => process.stdout.write(bytes),
    stderr: (text) => process.stderr.write(`${text}\n`),
    close: () => process.stdout.end(),
    exit: leave,
    // A replay is not recorded.
    applied: () => undefined,
    passed: () => undefined,
  });
}

function leave(code: number): void {
  process.stdout.write("", () => process.exit(code));
}
