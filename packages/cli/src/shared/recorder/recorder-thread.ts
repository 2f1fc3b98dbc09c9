// The thread that writes a recording. All slow work is done here: cutting, encoding and hashing the observations, and waiting for
// the disk. The traffic is in another thread and never waits for this one.

import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Conversation, Entry } from "@parlance/wire";
import { milliseconds, monotonic } from "../monotonic.js";
import type { FromRecorder, Observation, RecorderStart, ToRecorder } from "./recorder-messages.js";
import { RecordingFile } from "./recording-file.js";
import { recordingDirectory } from "./recording-name.js";
import { Transcript } from "./transcript.js";

/** Milliseconds between attempts to write when the disk is full. */
const retryAfter = 50;

/** Milliseconds before pruning: a starting server needs the CPU first. */
const pruneAfter = 250;

/** Milliseconds of retries at the end before a full disk is given up. */
const lastGrace = 1_000;

const { path, header, zero, outstanding, watched, judged } = workerData as RecorderStart;
const counter = new Int32Array(outstanding);
const file = new RecordingFile(path, header);
const transcript = new Transcript(
  (entry) => {
    file.append(entry);
    if (watched || judged) entries.push(entry);
  },
  (from, to, lost) => file.lose(from, to, lost, "the recorder was too far behind"),
);
let conversation: Conversation | undefined;
let entries: Entry[] = [];
let isOpened = false;
let retry: NodeJS.Timeout | undefined;
let look: NodeJS.Timeout | undefined;

function now(): number {
  return milliseconds(monotonic() - zero);
}

function tell(message: FromRecorder): void {
  parentPort?.postMessage(message);
}

function flush(): void {
  const flushed = file.flush();
  report();
  if (flushed === "all" || retry !== undefined) return;
  retry = setTimeout(
    () => {
      retry = undefined;
      flush();
    },
    flushed === "some" ? 0 : retryAfter,
  );
}

function report(): void {
  if (file.isOpen && !isOpened) tell({ kind: "opened", path: file.path });
  isOpened = file.isOpen;
  if (entries.length === 0) return;
  if (watched) tell({ kind: "entries", entries });
  const violations = judged ? entries.flatMap(judge) : [];
  if (violations.length > 0) tell({ kind: "violations", violations });
  entries = [];
}

function judge(entry: Entry): readonly string[] {
  const { verdicts = [] } = conversation?.push(entry) ?? {};
  const violations = verdicts.filter(({ level }) => level === "must");
  return violations.map(({ n, rule, party, says }) => `frame ${n}: ${rule.id}, ${party}: ${says}`);
}

function lookAtUnfinished(): void {
  const next = transcript.lookAtUnfinished(now());
  look = next === undefined ? undefined : setTimeout(lookAtUnfinished, Math.max(1, next - now()));
  flush();
}

function observe(observations: readonly Observation[]): void {
  for (const observation of observations) {
    transcript.observe(observation);
    Atomics.sub(counter, 0, weightOf(observation));
  }
  flush();
  if (look === undefined) lookAtUnfinished();
}

function weightOf(observation: Observation): number {
  if (observation.kind === "frame") return observation.frame.bytes.length;
  return "bytes" in observation ? observation.bytes.length : 0;
}

async function end(t: number): Promise<void> {
  clearTimeout(look);
  transcript.end();
  file.finish(milliseconds(t));
  let since = now();
  for (let flushed = file.flush(); flushed !== "all" && now() - since < lastGrace; flushed = file.flush()) {
    if (flushed === "some") since = now();
    await new Promise((resolve) => setTimeout(resolve, flushed === "some" ? 0 : retryAfter));
  }
  clearTimeout(retry);
  report();
  tell({ kind: "outcome", outcome: file.close() });
  parentPort?.close();
}

/**
 * Prunes old recordings when a new one begins. Errors are ignored, because they must not stop the recording. If the run ends
 * earlier, the next one prunes.
 */
async function pruneOthers(): Promise<void> {
  if (dirname(path) !== recordingDirectory(process.env)) return;
  const { prune, retentionOf } = await import("../recordings/prune-recordings.js");
  const retention = retentionOf(process.env);
  if (retention !== undefined) await prune(process.env, retention);
}

setTimeout(() => void pruneOthers().catch(() => undefined), pruneAfter).unref();

// The rules take longer to load than a recording takes to begin, so they are loaded only if needed. Messages wait for the
// listener.
if (judged) conversation = new (await import("./judge.js")).Conversation({ keepRows: false });

parentPort?.on("message", (message: ToRecorder) => {
  if ("end" in message) void end(message.end);
  else observe(message.observations);
});

// The file is open already: report its name before the first frame.
report();
