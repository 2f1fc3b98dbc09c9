import { escapeControls } from "@parlance/mcp/jsonrpc";
import { visibleLines, wrapWords } from "../../shared/output/columns.js";
import { count, durationText } from "../../shared/output/quantities.js";
import type { Look } from "../../shared/output/rows.js";
import type { Checked } from "./check.js";

const nameWidth = 14;
const timeWidth = 9;
const indent = "  ";
/** Columns before a quoted line. */
const quoteWidth = 6;

type MadeCheck = Exclude<Checked, { readonly state: "not tried" }>;

/** The shortest duration that is shown, in milliseconds. */
const notable = 0.5;

/** A check as lines: mark, name, finding and duration; below it the evidence, the notes and the remedy. */
export function checkLines(checked: MadeCheck, { style, width }: Look): readonly string[] {
  const { name, state, says, seen = [], notes = [], remedy, rule, took } = checked;
  const marks = { ok: style.green("✔"), failed: style.red("✖"), absent: style.dim("·") } as const;
  const start = indent.length + nameWidth;
  const room = width - start - timeWidth;
  const [first = "", ...more] = wrapWords(escapeControls(says), room);
  const time = state === "absent" || took < notable ? "" : durationText(took).padStart(timeWidth);
  return [
    `${marks[state]} ${name.padEnd(nameWidth)}${first.padEnd(room)}${style.dim(time)}`.trimEnd(),
    ...more.map((line) => " ".repeat(start) + line),
    ...seen
      .flatMap(visibleLines)
      .flatMap((line) => wrapWords(line, width - quoteWidth))
      .map((line) => `${indent}${indent}${style.dim("│")} ${line}`),
    ...notes.flatMap((note) => wrapped(escapeControls(note), "·", width).map(style.dim)),
    ...(remedy === undefined ? [] : wrapped(escapeControls(remedy), "→", width)),
    ...(rule === undefined ? [] : [style.dim(`${indent}${indent}§ ${rule}`)]),
  ];
}

function wrapped(text: string, mark: string, width: number): readonly string[] {
  const start = `${indent}${indent}${mark} `;
  return wrapWords(text, width - start.length).map(
    (line, index) => (index === 0 ? start : " ".repeat(start.length)) + line,
  );
}

/** The summary of an examination, with the skipped checks. */
export function doctorVerdict(checked: readonly Checked[], { style, width }: Look): readonly string[] {
  const untried = checked.flatMap(({ name, state }) => (state === "not tried" ? [name] : []));
  const failed = checked.filter(({ state }) => state === "failed").length;
  const tried = checked.filter(({ state }) => state === "ok").length + failed;
  if (failed === 0)
    return [
      `${style.green("✔")} ${count(tried, "check")}, and nothing is wrong; parlance check tests more: tools, and faulty messages`,
    ];
  const first = wrapWords(`skipped, because they need the failed check: ${untried.join(", ")}`, width - indent.length);
  const rest = untried.length === 0 ? [] : first.map((line, index) => style.dim((index === 0 ? "· " : indent) + line));
  return [...rest, `${style.red("✖")} ${failed} of ${count(tried, "check")} failed`];
}
