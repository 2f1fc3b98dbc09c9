import { ExactNumber, type Id } from "@parlance/mcp/jsonrpc";
import { revisionOf } from "@parlance/mcp/protocol";
import { type Skipped, skippedLines } from "../../shared/client/exercise.js";
import type { Opening, Tally } from "../../shared/client/live-conversation.js";
import type { Observation } from "../../shared/client/observed-target.js";
import type { Failure } from "../../shared/failure.js";
import { milliseconds } from "../../shared/monotonic.js";
import { cut, left, right, widthOf } from "../../shared/output/columns.js";
import { type FrameRow, partsOf, rowLines } from "../../shared/output/conversation-rows.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { bytesText, count, durationText } from "../../shared/output/quantities.js";
import { headingRow, type Look, type Part, type Piece, pieceLines, remarkRows } from "../../shared/output/rows.js";
import type { Paint } from "../../shared/output/style.js";
import type { Output } from "../../shared/output/terminal.js";

/** The output of `parlance talk`. */
export interface TalkView {
  /** Called when a conversation begins. */
  begin(revision: string | undefined): void;
  observe(observation: Observation): void;
  /** Called with the tools that are not called. */
  skip(skipped: readonly Skipped[]): void;
  /** Called when all calls have completed, and the conversation stays open. */
  stay(): void;
  /** Called when a conversation has ended. */
  end(outcome: TalkOutcome): void;
  /** Called when all conversations have ended, to compare how they opened. */
  compare(outcomes: readonly TalkOutcome[]): void;
}

/** The outcome of one conversation. */
export interface TalkOutcome {
  /** The required revision. */
  readonly asked: string | undefined;
  /** The negotiated revision; undefined if there is none. */
  readonly spoken: string | undefined;
  readonly tally: Tally;
  readonly opening: Opening;
  /** The duration in milliseconds. */
  readonly duration: number;
  /** How the server's process ended. */
  readonly ended: string | undefined;
  readonly failure: Failure | undefined;
  /** Whether all lists and calls have completed. */
  readonly isDone: boolean;
}

/** Prints conversations as text. */
export function talkText(title: string, output: Output): TalkView {
  const { style, print } = output;
  let conversations = 0;
  let missed = 0;
  /** Prints how many frames were skipped because the output is read too slowly. */
  const printMissed = (): void => {
    if (missed > 0) print(style.yellow(`    ${count(missed, "frame")} not shown: this output is read too slowly`));
    missed = 0;
  };
  return {
    begin(revision) {
      conversations += 1;
      if (conversations > 1) print("");
      const how = revision ?? "the newest revision that both sides speak";
      const name = cut(title, output.width - how.length - " in ".length);
      print(
        `${style.bold(name)}${style.dim(" in ")}${revision === undefined ? style.dim(how) : style.bold(how)}`,
        headingRow(output),
      );
    },
    observe(observation) {
      if (output.isBehind) {
        missed += 1;
        return;
      }
      printMissed();
      print(...observationRows(observation, output));
    },
    skip(skipped) {
      for (const line of skippedLines(skipped)) print(style.dim(cut(`    ${line}`, output.width)));
    },
    stay() {
      print("", "The conversation stays open, and what the server sends is shown. Ctrl-C ends it.", "");
    },
    end(outcome) {
      printMissed();
      print(...outcomeLines(outcome, output));
    },
    compare(outcomes) {
      print("", ...comparison(outcomes, output));
    },
  };
}

/** An observation as rows. */
export function observationRows(observation: Observation, output: Look): readonly string[] {
  return observation.kind === "frame" ? rowLines(observation.row, output) : remarkRows(observation, output);
}

/** The outcome of a conversation: one line, or more where it does not fit. */
function outcomeLines({ tally, duration, ended, failure }: TalkOutcome, { style, width }: Output): readonly string[] {
  const { frames, bytes, calls, errors, violations } = tally;
  const red = (amount: number): Paint => (amount === 0 ? (text) => text : style.red);
  const parts: readonly Piece[] = [
    { text: count(frames, "frame") },
    { text: bytesText(bytes) },
    { text: count(calls, "call") },
    { text: count(errors, "error"), paint: red(errors) },
    ...(violations === 0 ? [] : [{ text: count(violations, "violation"), paint: style.red }]),
    { text: durationText(duration) },
    ...(ended === undefined ? [] : [{ text: `server ${ended}` }]),
  ];
  const mark = failure === undefined && violations === 0 ? style.green("✔") : style.red("✖");
  return pieceLines(mark, parts, { style, width });
}

/** Prints conversations as JSON, one object per line; `conversation` numbers them from 1. */
export function talkJson(output: Output): TalkView {
  let conversation = 0;
  let missed = 0;
  const print = (value: object): void => output.print(jsonLine({ conversation, ...value }));
  const printMissed = (): void => {
    if (missed > 0) print({ kind: "gap", lost: missed });
    missed = 0;
  };
  return {
    begin() {
      conversation += 1;
    },
    observe(observation) {
      if (output.isBehind) {
        missed += 1;
        return;
      }
      printMissed();
      for (const value of observationValues(observation)) print(value);
    },
    skip(skipped) {
      for (const { tool, why } of skipped) print({ kind: "skipped", tool, why });
    },
    stay: () => undefined,
    end(outcome) {
      printMissed();
      print(outcomeValue(outcome));
    },
    compare: () => undefined,
  };
}

/** An observation as JSON objects. */
export function observationValues(observation: Observation): readonly object[] {
  if (observation.kind !== "frame")
    return [{ kind: observation.kind, at: milliseconds(observation.at), text: observation.text }];
  const { row } = observation;
  const { at, from, kind, entry } = row;
  const parts = partsOf(row);
  const [only] = parts;
  const common = { n: entry.n, at: milliseconds(at), from, bytes: entry.len };
  if (kind !== "batch" && only !== undefined) return [{ ...common, ...partValue(only), raw: entry.raw }];
  return [{ ...common, kind: "batch", messages: parts.map(partValue), raw: entry.raw }];
}

function partValue({ kind, id, pair, method, latency, isError, marks }: Part): object {
  // `undefined` members are not in the JSON.
  return {
    kind,
    id: idValue(id),
    pair,
    method,
    latency: latency === undefined ? undefined : milliseconds(latency),
    isError,
    violation: marks.find(({ level }) => level === "must")?.text,
  };
}

/** An id that JSON.stringify would change is printed as text; `raw` has the original. */
function idValue(id: Id | undefined): unknown {
  return id instanceof ExactNumber ? id.text : id;
}

function outcomeValue({ asked, spoken, tally, opening, duration, ended, failure }: TalkOutcome): object {
  const { count, bytes, operation } = opening;
  return {
    kind: "summary",
    asked,
    revision: spoken,
    ...tally,
    duration: milliseconds(duration),
    opening: { frames: count, bytes, until: operation === undefined ? undefined : milliseconds(operation.at) },
    ended,
    failure: failure?.message,
  };
}

/** One row of the table: its name, and a cell for each conversation. */
interface Line {
  readonly label: string;
  readonly cells: readonly Cell[];
}

/** Words, and an amount aligned to the right. */
interface Cell {
  readonly words: string;
  readonly amount?: string;
}

const labelWidth = 12;
const narrowestColumn = 34;
const widestColumn = 48;
const gap = "  ";
const empty: Cell = { words: "" };

/** Conversations side by side: how each opens, in how many frames and bytes. Columns that do not fit go below. */
function comparison(outcomes: readonly TalkOutcome[], look: Look): readonly string[] {
  const room = look.width - labelWidth;
  const perRow = Math.max(1, Math.floor(room / narrowestColumn));
  const width = Math.min(widestColumn, Math.floor(room / Math.min(perRow, outcomes.length)));
  const groups = Array.from({ length: Math.ceil(outcomes.length / perRow) }, (_, index) =>
    outcomes.slice(index * perRow, (index + 1) * perRow),
  );
  return groups.flatMap((group, index) => [...(index === 0 ? [] : [""]), ...table(group, width, look)]);
}

function table(outcomes: readonly TalkOutcome[], width: number, { style }: Look): readonly string[] {
  const head = [left("", labelWidth), ...outcomes.map(({ asked, spoken }) => left(spoken ?? asked ?? "", width))];
  const body = lines(outcomes).map(({ label, cells }) => {
    const shown = cells.map((cell) => cellText(cell, width - gap.length));
    return `${style.dim(left(label, labelWidth))}${shown.join(gap)}`.trimEnd();
  });
  return [style.bold(head.join("").trimEnd()), ...body];
}

function cellText({ words, amount = "" }: Cell, width: number): string {
  const room = amount === "" ? width : width - widthOf(amount) - 1;
  return amount === "" ? left(words, width) : `${left(cut(words, room), room)} ${right(amount, widthOf(amount))}`;
}

function lines(outcomes: readonly TalkOutcome[]): readonly Line[] {
  const openings = outcomes.map(({ opening }) => opening);
  const longest = Math.max(...openings.map(({ frames }) => frames.length));
  const steps = Array.from({ length: longest }, (_, index) => ({
    label: index === 0 ? "opens with" : "",
    cells: openings.map(({ frames }) => (frames[index] === undefined ? empty : stepCell(frames[index]))),
  }));
  return [
    { label: "era", cells: outcomes.map(eraCell) },
    ...steps,
    {
      label: "to open",
      cells: openings.map((opening) => ({ words: count(opening.count, "frame"), amount: bytesText(opening.bytes) })),
    },
    {
      label: "first call",
      cells: openings.map(({ operation }) => (operation === undefined ? { words: "none" } : stepCell(operation))),
    },
    {
      label: "sent after",
      cells: openings.map(({ operation }) => ({ words: operation === undefined ? "" : durationText(operation.at) })),
    },
    {
      label: "in all",
      cells: outcomes.map(({ tally }) => ({ words: count(tally.frames, "frame"), amount: bytesText(tally.bytes) })),
    },
  ];
}

function eraCell({ spoken, failure }: TalkOutcome): Cell {
  if (spoken === undefined) return { words: failure === undefined ? "" : `not spoken: ${failure.message}` };
  return { words: revisionOf(spoken)?.era ?? "" };
}

function stepCell(row: FrameRow): Cell {
  const { from, entry } = row;
  const what = partsOf(row)
    .map(({ kind, method = "" }) => answers.get(kind) ?? method)
    .join(", ");
  return { words: `${from === "client" ? "→" : "←"} ${what}`, amount: bytesText(entry.len) };
}

const answers: ReadonlyMap<string, string> = new Map([
  ["res", "its answer"],
  ["err", "an error"],
  ["noise", "noise"],
  ["frag", "half a message"],
]);
