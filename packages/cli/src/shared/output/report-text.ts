import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type CheckReport, type Verdict, wording } from "@parlance/wire";
import { wrapWords } from "./columns.js";
import { count } from "./quantities.js";
import { type Look, type Piece, pieceLines } from "./rows.js";
import { type Paint, type Style, signs } from "./style.js";
import type { Output } from "./terminal.js";

type Concern = CheckReport["failOn"][number];
type PendingState = CheckReport["pending"][number]["pending"]["state"];

/** The maximum number of verdicts printed per rule; JSON has all of them. */
const mostOfAKind = 10;

/** A report as text: a summary line, then all verdicts with their places, grouped by rule. */
export function reportLines(report: CheckReport, out: Output): readonly string[] {
  const { style } = out;
  const paint = (concern: Concern): Paint => (report.failOn.includes(concern) ? style.red : style.yellow);
  const crashes = report.crashes.map(({ crash, line }) => itemAt(report, line, wording.crash(crash)));
  const gaps = report.gaps.map(({ gap, line }) => itemAt(report, line, wording.gap(gap)));
  const damages = report.damages.map((damage) => itemAt(report, damage.line, wording.damage(damage)));
  const sections = [
    ...ruleSections(report, style),
    section("Crashed", crashes, paint("crash")),
    section("Unanswered", pendingItems(report, "unanswered"), paint("pending")),
    section("Open when the recording ends", pendingItems(report, "unknown"), style.dim),
    section("Without an answer, and none was due", pendingItems(report, "not due"), style.dim),
    section("Missing", gaps, paint("gap")),
    section("Damaged", damages, paint("damage")),
    expectationLines(report, style),
  ];
  return [
    ...summaryLines(report, out),
    ...sections.filter((lines) => lines.length > 0).flatMap((lines) => ["", ...lines]),
  ];
}

/** The summary in one line, or more if it does not fit. Each part that fails the report has its own mark. */
export function summaryLines(report: CheckReport, out: Look): readonly string[] {
  const { passed, verdicts, pending, crashes, damages, expectations, tally } = report;
  const { style } = out;
  const bad = verdicts.filter(({ verdict }) => verdict.level === "must").map(({ verdict }) => verdict.rule.id);
  const notes = verdicts.filter(({ verdict }) => verdict.level !== "must");
  const isFailedForNotes = notes.some(({ verdict }) => report.failOn.includes(verdict.level));
  const unmet = expectations.filter(({ holds }) => !holds).length;
  const unanswered = pending.filter((each) => each.pending.state === "unanswered").length;
  const part = (concern: Concern, text: string): Piece =>
    report.failOn.includes(concern) ? { text: `✖ ${text}`, paint: style.red } : { text, paint: style.yellow };
  const mark = bad.length === 0 ? style.green("✔") : passed ? style.yellow("!") : style.red("✖");
  const noted = count(notes.length, "note");
  const pieces: readonly Piece[] = [
    bad.length === 0
      ? { text: "no violations" }
      : { text: `${count(bad.length, "violation")} (${tallied(bad)})`, paint: style.red },
    ...(notes.length === 0 ? [] : [isFailedForNotes ? { text: `✖ ${noted}`, paint: style.red } : { text: noted }]),
    ...(crashes.length === 0 ? [] : [part("crash", count(crashes.length, "crash", "crashes"))]),
    ...(unanswered === 0 ? [] : [part("pending", `${count(unanswered, "request")} unanswered`)]),
    ...(damages.length === 0 ? [] : [part("damage", `${count(damages.length, "line")} damaged`)]),
    ...(unmet === 0 ? [] : [{ text: `✖ ${count(unmet, "expectation")} not met`, paint: style.red }]),
    tally.frames === 0 ? part("empty", wording.empty) : { text: count(tally.frames, "frame") },
    ...(tally.unjudged === 0 ? [] : [{ text: `${tally.unjudged} not judged`, paint: style.yellow }]),
    report.gaps.length === 0 ? { text: `${tally.lost} lost` } : part("gap", `${tally.lost} lost`),
  ];
  return pieceLines(mark, pieces, out);
}

/** The requests that a server has not answered, under a heading; none if there are none. */
export function unansweredLines(report: CheckReport, { style }: Look): readonly string[] {
  return section("Unanswered", pendingItems(report, "unanswered"), style.red);
}

/** The command that explains the findings. */
export function explainLines(failed: readonly string[], { style, width }: Look): readonly string[] {
  if (failed.length === 0) return [];
  const words = `parlance explain ${failed.join(" ")} says how to mend ${failed.length === 1 ? "it" : "them"}`;
  return wrapWords(words, width - 2).map((line) => style.dim(`  ${line}`));
}

/** `S-2 ×1, T-1 ×3`. */
function tallied(ids: readonly string[]): string {
  return [...new Set(ids)].map((id) => `${id} ×${ids.filter((each) => each === id).length}`).join(", ");
}

type Item = readonly string[];

function section(title: string, items: readonly Item[], paint: Paint): readonly string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, mostOfAKind).flat();
  const more = items.length - mostOfAKind;
  return [
    paint(title),
    ...shown,
    ...(more > 0 ? [`  … and ${more.toLocaleString("en")} more: --format json has all`] : []),
  ];
}

function ruleSections(report: CheckReport, style: Style): readonly (readonly string[])[] {
  const groups = new Map<string, { readonly first: Verdict; readonly items: Item[] }>();
  for (const { verdict, about, line } of report.verdicts) {
    const key = `${verdict.rule.id} ${verdict.spec}`;
    const group = groups.get(key) ?? { first: verdict, items: [] };
    groups.set(key, group);
    group.items.push([...itemAt(report, line, wording.place(verdict, about)), `    ${verdict.says}`]);
  }
  return [...groups.values()].map(({ first, items }) => {
    const { level, rule, spec } = first;
    const paint = level === "must" ? style.red : style.yellow;
    const [title = "", ...places] = section(`${signs[level]} ${rule.id}  ${rule.demands}`, items, paint);
    return [title, style.dim(`  ${wording.requirement(first)}`), style.dim(`  ${spec}`), ...places];
  });
}

function pendingItems(report: CheckReport, state: PendingState): readonly Item[] {
  return report.pending
    .filter(({ pending }) => pending.state === state)
    .map(({ pending, line }) => itemAt(report, line, wording.pending(pending)));
}

/** The expectations, met or not; none if there are none. */
export function expectationLines({ expectations }: CheckReport, style: Style): readonly string[] {
  if (expectations.length === 0) return [];
  const lines = expectations.map((result) => {
    const text = `${escapeControls(result.expectation.text)}  ${wording.expectation(result)}`;
    return result.holds ? `  ${style.green("✔")} ${text}` : `  ${style.red("✖")} ${text}`;
  });
  return ["Expected", ...lines];
}

/** A finding with its place: the line of the recording. */
function itemAt({ source }: CheckReport, line: number | undefined, words: string): Item {
  return [`  ${escapeControls(line === undefined ? source : `${source}:${line}`)}  ${words}`];
}
