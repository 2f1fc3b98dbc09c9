import type { Conversation } from "../conversation/conversation.js";
import type { Pending } from "../conversation/pending.js";
import { checkExpectation, type Expectation, type ExpectationResult } from "../filter/expectation.js";
import type { GapEntry } from "../recording/entry.js";
import type { RecordingDamage } from "../recording/recording.js";
import { type Level, levels, type Verdict } from "../rules/rule.js";
import { type Crash, crashesOf } from "./crash.js";

/**
 * What can fail a report: verdicts by their level, unanswered requests, crashes, and entries that are missing or damaged.
 */
export type Concern = Level | "pending" | "crash" | "empty" | "gap" | "damage";

/** Every concern, for a choice. */
export const concerns: readonly Concern[] = [...levels, "pending", "crash", "empty", "gap", "damage"];

/** The concerns that fail a report by default. */
export const defaultConcerns: readonly Concern[] = ["must", "pending", "crash", "empty", "damage"];

/** A finding about a line of a recording. */
export type PlacedVerdict<Said> = Said & {
  /** From 1; undefined if it was not read from a file. */
  readonly line: number | undefined;
};

/** The counts of a report. */
export interface ReportTally {
  readonly frames: number;
  readonly bytes: number;
  /** Lines that the recorder could not write, by its own account. */
  readonly lost: number;
}

/** The result of judging a recording. */
export interface CheckReport {
  /** The checked recording or target. */
  readonly source: string;
  readonly tally: ReportTally;
  readonly verdicts: readonly PlacedVerdict<{ readonly verdict: Verdict }>[];
  readonly pending: readonly PlacedVerdict<{ readonly pending: Pending }>[];
  readonly crashes: readonly PlacedVerdict<{ readonly crash: Crash }>[];
  readonly gaps: readonly PlacedVerdict<{ readonly gap: GapEntry }>[];
  readonly damages: readonly RecordingDamage[];
  readonly expectations: readonly ExpectationResult[];
  readonly failOn: readonly Concern[];
  /** The concerns that fail the report, of those chosen with `failOn`. */
  readonly failedFor: readonly Concern[];
  /** No concern fails the report, and every expectation holds. */
  readonly passed: boolean;
}

/** The input of a report. */
export interface ReportOptions {
  readonly source: string;
  readonly conversation: Conversation;
  /** Default: all verdicts of the conversation. */
  readonly verdicts?: readonly Verdict[];
  readonly damages?: readonly RecordingDamage[];
  /** The line of an observation by its number, or of a gap by its time. Default: it is not in a file. */
  readonly lineOf?: (place: { readonly n: number } | { readonly gapAt: number }) => number | undefined;
  readonly expectations?: readonly Expectation[];
  /** Default: `defaultConcerns`. */
  readonly failOn?: readonly Concern[];
}

/** Builds the report of a finished conversation. */
export function reportOf(options: ReportOptions): CheckReport {
  const { source, conversation, damages = [], lineOf = () => undefined, failOn = defaultConcerns } = options;
  const { rows } = conversation;
  const verdicts = (options.verdicts ?? conversation.verdicts).map((verdict) => ({
    verdict,
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
    lost: gaps.reduce((sum, { gap }) => sum + gap.lost, 0),
  };
  const passed = failedFor.length === 0 && expectations.every(({ holds }) => holds);
  return { source, tally, verdicts, pending, crashes, gaps, damages, expectations, failOn, failedFor, passed };
}
