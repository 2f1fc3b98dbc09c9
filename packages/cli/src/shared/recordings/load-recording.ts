import { setFlagsFromString } from "node:v8";
import {
  Conversation,
  describeRedaction,
  type Entry,
  type HeaderEntry,
  type RecordingItem,
  Redaction,
  recordedVerdict,
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

type RecordingDamage = NonNullable<RecordingItem["damage"]>;

/** A recording that was read to its end. */
export interface LoadedRecording {
  readonly conversation: Conversation;
  readonly damages: readonly RecordingDamage[];
  /** The line of an entry in the file by its number, or of a gap by its time. */
  readonly lineOf: (place: { readonly n: number } | { readonly gapAt: number }) => number | undefined;
}

/** Options of reading a recording. */
export interface LoadOptions {
  /** Stops reading when aborted; the result has the entries so far. */
  readonly stop: AbortSignal;
  /** Called with every entry, in order. */
  readonly onEntry?: (entry: Entry) => void;
}

/** Reads a whole recording. @throws Failure for a file that cannot be opened */
export async function loadRecording(path: string, { stop, onEntry }: LoadOptions): Promise<LoadedRecording> {
  const conversation = new Conversation();
  const damages: RecordingDamage[] = [];
  const lines = new RecordedLines();
  let hasHeader = false;
  for await (const item of readRecordingFile(path, stop)) {
    if (stop.aborted) break;
    if (item.damage !== undefined) {
      damages.push(item.damage);
      continue;
    }
    const { entry, place } = item;
    if (entry.k === "hdr") hasHeader = true;
    lines.note(entry, place.line);
    conversation.push(entry);
    onEntry?.(entry);
  }
  if (lines.isEmpty && !hasHeader && !stop.aborted) throw noRecording(path, damages);
  conversation.finish();
  return { conversation, damages, lineOf: lines.of };
}

function noRecording(path: string, damages: readonly RecordingDamage[]): Failure {
  return new Failure(`${path === "-" ? "stdin" : path} has no line of a recording`, {
    exitCode: exitCodes.damaged,
    seen: damages.slice(0, 3).map(({ line, says }) => `line ${line}: ${says}`),
  });
}

/** The contents of a recording file. */
export interface RecordedConversation {
  /** The name of the recording. */
  readonly title: string;
  readonly header: HeaderEntry | undefined;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of an entry in the file by its number, or of a gap by its time. */
  readonly lineOf: NonNullable<ReportOptions["lineOf"]>;
}

/** Opens the recording that an argument names. @throws Failure if it cannot be opened or is damaged */
export async function openRecorded(word: string, pace: Pace): Promise<RecordedConversation> {
  const reader = await RecordingReader.find(word, pace);
  return recordedConversation(reader, reader.lists());
}

/** Reads entries into a conversation. */
export async function recordedConversation(
  { title, uri, lines }: RecordingReader,
  from: AsyncIterable<readonly Entry[]>,
): Promise<RecordedConversation> {
  const entries: Entry[] = [];
  const conversation = new Conversation();
  for await (const list of from)
    for (const entry of list) {
      entries.push(entry);
      conversation.push(entry);
    }
  conversation.finish();
  const header = entries.find((entry) => entry.k === "hdr");
  return { title, header, entries, conversation, uri, lineOf: lines.of };
}

/** The result of the first pass over a recording. */
export interface Survey {
  readonly header: HeaderEntry | undefined;
  readonly rows: number;
  readonly violations: number;
  /** The version of each session, as far as it is known. */
  readonly versions: readonly (string | undefined)[];
  /** The numbers of the frames with the response, by the frame of the request (the first one of a batch). */
  readonly answers: ReadonlyMap<number, number>;
}

/** The lines of a recording in the second pass, with their verdicts. */
export interface JudgedEntries {
  readonly lists: () => AsyncGenerator<readonly Entry[]>;
  readonly survey: Survey;
  /** The number of covered pieces so far. */
  readonly covered: number;
}

/**
 * Reads a recording twice. The first pass judges it and, with options for secrets, finds these; the second yields its lines with
 * verdicts and without secrets. Only one list of lines is in memory at a time.
 */
export async function judgedEntries(
  source: RecordingReader,
  options: SecretsOptions | undefined,
): Promise<JudgedEntries> {
  collectSooner();
  const redaction = options && new Redaction(options);
  const { verdicts, ...survey } = await surveyed(source, redaction);
  const words = options && describeRedaction(options);
  const { header: original } = survey;
  const covered = original && redaction?.cover(original);
  const header = covered === undefined ? original : childHeader(covered, words ?? []);
  const line = (entry: Entry): Entry => {
    if (entry.k === "hdr") return header ?? entry;
    if (entry.k !== "f" && entry.k !== "h") return redaction?.cover(entry) ?? entry;
    const own = verdicts.get(entry.n) ?? none;
    if (redaction === undefined) return { ...entry, v: own.map(recordedVerdict) };
    return redaction.cover(entry, own);
  };
  return {
    async *lists() {
      for await (const entries of source.lists()) yield entries.map(line);
    },
    survey: { ...survey, header },
    get covered() {
      return redaction?.covered ?? 0;
    },
  };
}

/**
 * Keeps the heap small. Most of the read data becomes garbage at once, and V8 would collect it only at four times the size of the
 * live heap.
 */
function collectSooner(): void {
  try {
    setFlagsFromString("--heap-growing-percent=100");
  } catch {
    // An engine without this flag uses more memory.
  }
}

const none: readonly Verdict[] = [];

/** The first pass. The verdicts are by the numbers of frames and heads. */
async function surveyed(
  source: RecordingReader,
  redaction: Redaction | undefined,
): Promise<Survey & { readonly verdicts: ReadonlyMap<number, readonly Verdict[]> }> {
  const conversation = new Conversation({ keepRows: false });
  const verdicts = new Map<number, readonly Verdict[]>();
  const answers = new Map<number, number>();
  let header: HeaderEntry | undefined;
  let rows = 0;
  const see = (entry: Entry): void => {
    if (entry.k === "hdr") header = entry;
    redaction?.learn(entry);
    const row = conversation.push(entry);
    if (row === undefined) return;
    rows += 1;
    // The head of an HTTP request gets its verdicts when the response arrives.
    if (row.n !== undefined && (entry.k === "h" || row.verdicts.length > 0)) verdicts.set(row.n, row.verdicts);
    for (const { operation, context, frame } of row.messages) {
      if (context.pairing?.is !== "answer" || operation === undefined) continue;
      if (operation.request.pointer === "" || operation.request.pointer === "/0")
        answers.set(operation.request.frame.n, frame.n);
    }
  };
  for await (const entries of source.lists()) entries.forEach(see);
  conversation.finish();
  const violations = [...verdicts.values()].flat().filter(({ level }) => level === "must").length;
  const versions = conversation.sessions.map(({ revision }) => revision?.version);
  return { header, rows, violations, versions, answers, verdicts };
}
