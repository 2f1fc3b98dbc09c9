import { escapeControls } from "@parlance/mcp/jsonrpc";
import { requestText } from "../conversation/message.js";
import type { Pending } from "../conversation/pending.js";
import type { ExpectationResult } from "../filter/expectation.js";
import type { ByteRange } from "../json/json-node.js";
import type { GapEntry } from "../recording/entry.js";
import type { RecordingDamage } from "../recording/recording.js";
import type { Level, Verdict } from "../rules/rule.js";
import type { CheckReport, Concern, Crash } from "./report.js";

/** The findings of a report, in words; safe to print. */
export const wording = {
  /**
   * The place of a verdict, in words: `frame 45, server, tools/call add, /id, byte 22`.
   *
   * @param about the method of the message, and what it names; undefined to leave it out
   */
  place({ n, party, pointer = "", range, header }: Verdict, about: string | undefined): string {
    const where = [
      ...(about === undefined ? [] : [escapeControls(about)]),
      ...(header === undefined ? [] : [`header ${escapeControls(header)}`]),
      ...(pointer === "" ? [] : [escapeControls(pointer)]),
      ...(range === undefined ? [] : [wording.range(range)]),
    ];
    return [`frame ${n}`, party, ...where].join(", ");
  },

  /**
   * The clause that a verdict rests on, in words: the level, the sentence, and why it is only a note if the sentence states a
   * stronger requirement.
   */
  requirement({ doubt, sentence, level }: Pick<Verdict, "doubt" | "sentence" | "level">): string {
    if (sentence === undefined) return "a note: the specification does not require it";
    if (doubt !== undefined) return `a note, because ${doubt}: “${sentence}”`;
    return `${level}: “${sentence}”`;
  },

  /** The text of a verdict without the pointer that begins texts on shapes: `must be an array, got 7`. */
  messageWithoutPlace({ says, pointer = "" }: Verdict): string {
    const [place = ""] = /^\/\S*/.exec(says) ?? [];
    return place !== "" && pointer.endsWith(place) ? says.slice(place.length).trimStart() : says;
  },

  /** `bytes 0–18`: the first and the last. */
  range([start, end]: ByteRange): string {
    return end - start <= 1 ? `byte ${start}` : `bytes ${start}–${end - 1}`;
  },

  /** A request without an answer, in words. */
  pending({ operation, reason }: Pending): string {
    const { frame, id = "none" } = operation.request;
    return `frame ${frame.n}, id ${escapeControls(id)}, ${escapeControls(requestText(operation.request))}: ${reason}`;
  },

  /** A crash, in words: how the server exited, and during which request. The last request is the most likely cause. */
  crash({ how, during }: Crash): string {
    const last = during.at(-1);
    if (last === undefined) return `the server ${how}`;
    const others = during.length === 1 ? "" : `, and ${during.length - 1} more`;
    const what = escapeControls(requestText(last.request));
    return `the server ${how} in the middle of ${what} (frame ${last.request.frame.n})${others}`;
  },

  /** A recording with nothing to judge, in words. */
  empty: "no frame was recorded: neither side has sent anything",

  /** Entries that a recorder could not write, in words. */
  gap({ lost, from, to, why }: GapEntry): string {
    const when =
      typeof from === "number" && typeof to === "number" ? ` between ${seconds(from)} and ${seconds(to)}` : "";
    return `${lost} ${lost === 1 ? "line is" : "lines are"} missing${when}: ${escapeControls(why)}`;
  },

  /** A line that cannot be used, in words. */
  damage({ offset, bytes, says, torn }: RecordingDamage): string {
    return `${bytes} B at byte ${offset}: ${says}${torn ? "; it is the last line, and incomplete" : ""}`;
  },

  /** The result of an expectation, in words. */
  expectation({ expectation, found }: ExpectationResult): string {
    const { aggregate } = expectation;
    if (found === undefined) return "there is no answer to measure";
    return aggregate === "count" ? `found ${found}` : `found ${found.toFixed(1)} ms`;
  },
};

/** A finding of a report that no rule has made. */
interface RecordingFinding {
  /** The concern that it is of. */
  readonly concern: Exclude<Concern, Level>;
  /** The finding, in words. */
  readonly text: string;
  /** The line of the recording that it is about. */
  readonly line?: number | undefined;
  /** Whether it fails a report that has its concern in `failOn`. Default: true. */
  readonly mayFail?: boolean;
}

/** The findings of a report that no rule has made, by their concerns. */
export function recordingFindings(report: CheckReport): readonly RecordingFinding[] {
  const { pending, crashes, tally, gaps, damages } = report;
  return [
    ...pending.map(({ pending: each, line }): RecordingFinding => {
      return { concern: "pending", text: wording.pending(each), line, mayFail: each.state === "unanswered" };
    }),
    ...crashes.map(({ crash, line }) => ({ concern: "crash", text: wording.crash(crash), line }) as const),
    ...(tally.frames > 0 ? [] : [{ concern: "empty", text: wording.empty } as const]),
    ...gaps.map(({ gap, line }) => ({ concern: "gap", text: wording.gap(gap), line }) as const),
    ...damages.map((damage) => ({ concern: "damage", text: wording.damage(damage), line: damage.line }) as const),
  ];
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(3)} s`;
}

/**
 * A verdict in one line, safe to print: the side, the rule, the place and the fault.
 *
 * @example
 * assert.deepEqual(violations(entries).map(describeVerdict), []);
 */
export function describeVerdict(verdict: Verdict): string {
  const { n, rule, party, pointer, header } = verdict;
  const place = pointer === undefined || pointer === "" ? header : pointer;
  return `frame ${n}: the ${party} breaks ${rule.id}${place === undefined ? "" : ` at ${escapeControls(place)}`}: ${escapeControls(wording.messageWithoutPlace(verdict))}`;
}
