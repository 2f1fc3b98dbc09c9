import { revisionOf } from "@parlance/mcp/protocol";
import { cut, left, right, widthOf } from "../../shared/output/columns.js";
import { type FrameRow, partsOf } from "../../shared/output/conversation-rows.js";
import { bytesText, count, durationText } from "../../shared/output/quantities.js";
import type { Look } from "../../shared/output/rows.js";
import type { TalkOutcome } from "./talk-view.js";

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
export function comparison(outcomes: readonly TalkOutcome[], look: Look): readonly string[] {
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
