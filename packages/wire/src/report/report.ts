import { Conversation, type ConversationOptions } from "../conversation/conversation.js";
import { getOrInsert } from "../conversation/get-or-insert.js";
import { type RecordedOperation, requestText } from "../conversation/message.js";
import { endOf, isProbe, type Pending } from "../conversation/pending.js";
import type { Row } from "../conversation/row.js";
import { checkExpectation, type Expectation, type ExpectationResult } from "../filter/expectation.js";
import type { Entry, GapEntry, LifeEntry } from "../recording/entry.js";
import type { RecordingDamage } from "../recording/recording.js";
import { type Level, levels, type Verdict } from "../rules/rule.js";

/**
 * The findings that can fail a report: verdicts by their level, unanswered requests, crashes, and entries that are missing or damaged.
 */
export type Concern = Level | "pending" | "crash" | "empty" | "gap" | "damage";

/** Every concern. */
export const concerns: readonly Concern[] = [...levels, "pending", "crash", "empty", "gap", "damage"];

/** The concerns that fail a report by default. */
export const defaultConcerns: readonly Concern[] = ["must", "pending", "crash", "empty", "damage"];

/** A finding about a line of a recording. */
export type PlacedVerdict<Said> = Said & {
  /** The number of the line, from 1; undefined if it was not read from a file. */
  readonly line: number | undefined;
};

/** The counts of a report. */
export interface ReportTally {
  /** The number of frames. */
  readonly frames: number;
  /** The number of bytes of all frames. */
  readonly bytes: number;
  /** The number of frames that were not judged, because the recorder kept only their beginning. */
  readonly unjudged: number;
  /** The number of lines that the recorder reported as lost. */
  readonly lost: number;
}

/** The result of judging a recording. */
export interface CheckReport {
  /** The checked recording or target. */
  readonly source: string;
  /** The size of the recording. */
  readonly tally: ReportTally;
  /** The broken rules. */
  readonly verdicts: readonly PlacedVerdict<{
    readonly verdict: Verdict;
    /**
     * The method of the message that it is about, or of the request that the message answers, and what that names: `tools/call add`. Undefined if it is
     * about no message with a method.
     */
    readonly about: string | undefined;
  }>[];
  /** The requests without a response. */
  readonly pending: readonly PlacedVerdict<{ readonly pending: Pending }>[];
  /** The servers that ended unexpectedly. */
  readonly crashes: readonly PlacedVerdict<{ readonly crash: Crash }>[];
  /** The gaps of the recording. */
  readonly gaps: readonly PlacedVerdict<{ readonly gap: GapEntry }>[];
  /** The lines that are not entries. */
  readonly damages: readonly RecordingDamage[];
  /** The evaluated expectations. */
  readonly expectations: readonly ExpectationResult[];
  /** The concerns that were chosen to fail the report. */
  readonly failOn: readonly Concern[];
  /** The concerns that fail the report, of those chosen with `failOn`. */
  readonly failedFor: readonly Concern[];
  /** Whether no concern fails the report, and every expectation holds. */
  readonly passed: boolean;
}

/** The input of a report. */
export interface ReportOptions {
  /** The checked recording or target. */
  readonly source: string;
  /** The conversation to report on. */
  readonly conversation: Conversation;
  /** Default: all verdicts of the conversation. */
  readonly verdicts?: readonly Verdict[];
  /** The lines that are not entries. Default: none. */
  readonly damages?: readonly RecordingDamage[];
  /** The line of an observation by its number, or of a gap by its time. Default: it is not in a file. */
  readonly lineOf?: (
    place:
      | {
          /** The number of the observation. */
          readonly n: number;
        }
      | {
          /** The time of the gap. */
          readonly gapAt: number;
        },
  ) => number | undefined;
  /** The expectations to evaluate. Default: none. */
  readonly expectations?: readonly Expectation[];
  /** Default: `defaultConcerns`. */
  readonly failOn?: readonly Concern[];
}

/**
 * Builds the report of a finished conversation.
 *
 * @example
 * const report = reportOf({ source: "session.parlance.jsonl", conversation });
 * process.exitCode = report.passed ? 0 : 1;
 */
export function reportOf(options: ReportOptions): CheckReport {
  const { source, conversation, damages = [], lineOf = () => undefined, failOn = defaultConcerns } = options;
  const { rows } = conversation;
  const rowAt = new Map(rows.map((row) => [row.n, row]));
  const verdicts = (options.verdicts ?? conversation.verdicts).map((verdict) => ({
    verdict,
    about: aboutOf(verdict, rowAt.get(verdict.n)),
    line: lineOf({ n: verdict.n }),
  }));
  const pending = conversation.pending().map((each) => {
    return { pending: each, line: lineOf({ n: each.operation.request.frame.n }) };
  });
  const crashes = crashesOf(conversation).map((crash) => ({ crash, line: lineOf({ n: crash.n }) }));
  const gaps = rows.flatMap(({ entry }) =>
    entry.k === "gap" ? [{ gap: entry, line: lineOf({ gapAt: entry.t }) }] : [],
  );
  const expectations = (options.expectations ?? []).map((expectation) => checkExpectation(expectation, rows));
  const found: Readonly<Record<Concern, boolean>> = {
    must: verdicts.some(({ verdict }) => verdict.level === "must"),
    should: verdicts.some(({ verdict }) => verdict.level === "should"),
    may: verdicts.some(({ verdict }) => verdict.level === "may"),
    pending: pending.some((each) => each.pending.state === "unanswered"),
    crash: crashes.length > 0,
    empty: !rows.some(({ entry }) => entry.k === "f"),
    gap: gaps.length > 0,
    damage: damages.length > 0,
  };
  const failedFor = failOn.filter((concern) => found[concern]);
  const frames = rows.flatMap(({ entry }) => (entry.k === "f" ? [entry.len] : []));
  const tally: ReportTally = {
    frames: frames.length,
    bytes: frames.reduce((sum, bytes) => sum + bytes, 0),
    unjudged: rows.filter(({ unjudged }) => unjudged !== undefined).length,
    lost: gaps.reduce((sum, { gap }) => sum + gap.lost, 0),
  };
  const passed = failedFor.length === 0 && expectations.every(({ holds }) => holds);
  return { source, tally, verdicts, pending, crashes, gaps, damages, expectations, failOn, failedFor, passed };
}

function aboutOf({ pointer = "" }: Verdict, row: Row | undefined): string | undefined {
  const message =
    row && (row.messages.find((each) => each.holds(pointer)) ?? row.messages[0] ?? row.exchange?.messages[0]);
  const { method, names } = (message?.method === undefined ? message?.concerns?.request : message) ?? {};
  return method === undefined ? undefined : requestText({ method, names });
}

/** A server that could not be started, or that exited with an error while its client was connected. */
export interface Crash {
  /** The number of the entry with its exit. */
  readonly n: number;
  /** The name of the session. */
  readonly session: string;
  /** `exited with code 3`, `was ended by SIGSEGV`, or why it could not be started. */
  readonly how: string;
  /** The unanswered requests of the client, in order. */
  readonly during: readonly RecordedOperation[];
}

/** The side that left a session first, and whether the host has signalled the server to exit. */
interface Leaving {
  first: "client" | "server" | undefined;
  isSignalled: boolean;
}

/**
 * The crashes of a conversation, in order. A server that exits after its client left, or on a signal of the host, did not crash.
 */
function crashesOf({ rows, sessions }: Conversation): readonly Crash[] {
  const leaving = new Map<string, Leaving>();
  return rows.flatMap(({ entry }) => {
    if (entry.k !== "l") return [];
    const { s, ev, n } = entry;
    const seen = getOrInsert(leaving, s, () => ({ first: undefined, isSignalled: false }));
    // A crashing server closes its output first, and the client disconnects because of that.
    if (ev === "stdin-end") seen.first ??= "client";
    if (ev === "close" && entry.d === "s2c") seen.first ??= "server";
    if (ev === "signal" && seen.first !== "server") seen.isSignalled = true;
    if (ev !== "exit" || seen.first === "client" || seen.isSignalled || isInOrder(entry)) return [];
    const session = sessions.find(({ name }) => name === s);
    const during = session?.pending.filter(({ request }) => request.from === "client" && request.frame.n < n) ?? [];
    if (session !== undefined && during.length > 0 && during.every((each) => isProbe(each, session))) return [];
    return [{ n, session: s, how: endOf(entry), during }];
  });
}

function isInOrder({ code, sig, why }: LifeEntry): boolean {
  return why === undefined && code === 0 && typeof sig !== "string";
}

/**
 * The violations of the protocol in a conversation, in order; for tests of any server or client.
 *
 * @example
 * const { entries } = readRecording(bytes);
 * assert.deepEqual(violations(entries).map(describeVerdict), []);
 */
export function violations(entries: Iterable<Entry>, options: ConversationOptions = {}): readonly Verdict[] {
  const conversation = new Conversation(options);
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation.verdicts.filter(({ level }) => level === "must");
}
