import {
  Conversation,
  describeRedaction,
  type Entry,
  type HeaderEntry,
  type RecordingItem,
  Redaction,
  type reportOf,
  type Verdict,
} from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure } from "../failure.js";
import type { Pace } from "../pace.js";
import { RecordedLines, RecordingReader, readRecordingFile } from "./read-recording.js";
import { childHeader } from "./recording-text.js";

type ReportOptions = Parameters<typeof reportOf>[0];
type SecretsOptions = NonNullable<ConstructorParameters<typeof Redaction>[0]>;

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

/** What a file of a recording holds. */
export interface RecordedConversation {
  /** The name of the recording. */
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of an entry in the file, by its number; of a gap by its time. */
  readonly lineOf: NonNullable<ReportOptions["lineOf"]>;
}

/** Opens the recording that an argument names. @throws Failure for one that cannot be opened, or is damaged */
export async function openRecorded(word: string, pace: Pace): Promise<RecordedConversation> {
  const reader = await RecordingReader.find(word, pace);
  return recordedConversation(reader, reader.entries());
}

/** Reads entries into a conversation. */
export async function recordedConversation(
  { title, uri, lines }: RecordingReader,
  from: AsyncIterable<Entry>,
): Promise<RecordedConversation> {
  const entries: Entry[] = [];
  const conversation = new Conversation();
  for await (const entry of from) {
    entries.push(entry);
    conversation.push(entry);
  }
  conversation.finish();
  return { title, entries, conversation, uri, lineOf: lines.of };
}

/** The lines of a recording without its secrets, and how many pieces were covered so far. */
export interface RedactedEntries {
  readonly entries: AsyncIterable<Entry>;
  readonly covered: number;
}

/**
 * Reads a recording to judge it and to find its secrets; gives its lines without them, and with the verdicts, as they are read
 * a second time.
 */
export async function redactedEntries(source: RecordingReader, options: SecretsOptions): Promise<RedactedEntries> {
  const redaction = new Redaction(options);
  const verdicts = await judged(source, redaction);
  const words = describeRedaction(options);
  const covered = async function* (): AsyncGenerator<Entry> {
    for await (const entry of source.entries()) {
      const own = entry.k === "f" || entry.k === "h" ? (verdicts.get(entry.n) ?? []) : undefined;
      const line = redaction.cover(entry, own);
      yield line.k === "hdr" ? childHeader(line, words) : line;
    }
  };
  return {
    entries: covered(),
    get covered() {
      return redaction.covered;
    },
  };
}

/** The verdicts on the frames and heads that have some, by their numbers. */
async function judged(source: RecordingReader, redaction: Redaction): Promise<ReadonlyMap<number, readonly Verdict[]>> {
  const conversation = new Conversation({ keepRows: false });
  const verdicts = new Map<number, readonly Verdict[]>();
  for await (const entry of source.entries()) {
    redaction.learn(entry);
    const row = conversation.push(entry);
    // The head of an HTTP request gets its verdicts when the response arrives.
    if (row?.n !== undefined && (entry.k === "h" || row.verdicts.length > 0)) verdicts.set(row.n, row.verdicts);
  }
  conversation.finish();
  return verdicts;
}
