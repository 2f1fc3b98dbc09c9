import { Conversation, type Entry, type HeaderEntry, type RecordingItem } from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { RecordedLines, readRecordingFile } from "./read-recording.js";

type EndEntry = Extract<Entry, { k: "end" }>;
type RecordingDamage = NonNullable<RecordingItem["damage"]>;

/** A recording that was read to its end. */
export interface LoadedRecording {
  readonly conversation: Conversation;
  readonly header: HeaderEntry | undefined;
  readonly end: EndEntry | undefined;
  readonly damages: readonly RecordingDamage[];
  /** The line of an entry in the file, by its number; of a gap by its time. */
  readonly lineOf: (place: { readonly n: number } | { readonly gapAt: number }) => number | undefined;
}

/** How a recording is read. */
export interface LoadOptions {
  /** Stops reading; the result is what was read so far. */
  readonly stop: AbortSignal;
  /** Takes every line, in order. */
  readonly onEntry?: (entry: Entry) => void;
}

/** Reads a whole recording. @throws Failure for a file that cannot be opened */
export async function loadRecording(path: string, { stop, onEntry }: LoadOptions): Promise<LoadedRecording> {
  const conversation = new Conversation();
  const damages: RecordingDamage[] = [];
  const lines = new RecordedLines();
  let header: HeaderEntry | undefined;
  let end: EndEntry | undefined;
  for await (const item of readRecordingFile(path, stop)) {
    if (stop.aborted) break;
    if (item.damage !== undefined) {
      damages.push(item.damage);
      continue;
    }
    const { entry, place } = item;
    if (entry.k === "hdr") header = entry;
    if (entry.k === "end") end = entry;
    lines.note(entry, place.line);
    conversation.push(entry);
    onEntry?.(entry);
  }
  if (lines.isEmpty && header === undefined && !stop.aborted) throw noRecording(path, damages);
  conversation.finish();
  return { conversation, header, end, damages, lineOf: lines.of };
}

function noRecording(path: string, damages: readonly RecordingDamage[]): Failure {
  return new Failure(`${path === "-" ? "stdin" : path} holds no line of a recording`, {
    exitCode: exitCodes.damaged,
    seen: damages.slice(0, 3).map(({ line, says }) => `line ${line}: ${says}`),
  });
}
