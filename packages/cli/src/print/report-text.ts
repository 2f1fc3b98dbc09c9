import { visible } from "@parlance/mcp/jsonrpc";
import {
  damageWords,
  expectationWords,
  gapWords,
  pendingWords,
  type Report,
  requirementWords,
  type Verdict,
  verdictPlace,
} from "@parlance/mcp/wire";
import type { Output } from "../terminal.js";
import { count } from "./quantities.js";
import { type Paint, type Style, signs } from "./style.js";

/** Nobody reads more of one kind on a terminal; JSON has all. */
const mostOfAKind = 10;

/** A report for a person: what came of it in one line, and then everything with its place, grouped by rule. */
export function reportLines(report: Report, { style }: Output): readonly string[] {
  const sections = [
    ...ruleSections(report, style),
    section("Unanswered", pendingItems(report), report.failOn.includes("pending") ? style.red : style.yellow),
    section("Missing", gapItems(report), report.failOn.includes("gap") ? style.red : style.yellow),
    section("Damaged", damageItems(report), report.failOn.includes("damage") ? style.red : style.yellow),
    expectationSection(report, style),
  ];
  return [
    summaryLine(report, style),
    ...sections.filter((lines) => lines.length > 0).flatMap((lines) => ["", ...lines]),
  ];
}

function summaryLine({ passed, verdicts, pending, damages, expectations, tally }: Report, style: Style): string {
  const bad = verdicts.filter(({ verdict }) => verdict.level === "must").map(({ verdict }) => verdict.rule.id);
  const notes = verdicts.length - bad.length;
  const unmet = expectations.filter(({ holds }) => !holds).length;
  const [only] = pending;
  const parts = [
    bad.length === 0 ? "no violations" : style.red(`${count(bad.length, "violation")} (${tallied(bad)})`),
    ...(notes === 0 ? [] : [count(notes, "note")]),
    ...(only === undefined ? [] : [style.yellow(`${count(pending.length, "request")} unanswered`)]),
    ...(damages.length === 0 ? [] : [style.red(`${count(damages.length, "line")} damaged`)]),
    ...(unmet === 0 ? [] : [style.red(`${count(unmet, "expectation")} not met`)]),
    count(tally.frames, "frame"),
    `${tally.lost} lost`,
  ];
  return `${passed ? style.green("✔") : style.red("✖")} ${parts.join(" · ")}`;
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

function ruleSections(report: Report, style: Style): readonly (readonly string[])[] {
  const groups = new Map<string, { readonly first: Verdict; readonly items: Item[] }>();
  for (const { verdict, line } of report.verdicts) {
    const key = `${verdict.rule.id} ${verdict.spec}`;
    const group = groups.get(key) ?? { first: verdict, items: [] };
    groups.set(key, group);
    group.items.push([`  ${placeOf(report, line)}  ${verdictPlace(verdict)}`, `    ${verdict.says}`]);
  }
  return [...groups.values()].map(({ first, items }) => {
    const { level, rule, spec } = first;
    const paint = level === "must" ? style.red : style.yellow;
    const [title = "", ...places] = section(`${signs[level]} ${rule.id}  ${rule.demands}`, items, paint);
    return [title, style.dim(`  ${requirementWords(first)}`), style.dim(`  ${spec}`), ...places];
  });
}

function pendingItems(report: Report): readonly Item[] {
  return report.pending.map(({ pending, line }) => [`  ${placeOf(report, line)}  ${pendingWords(pending)}`]);
}

function gapItems(report: Report): readonly Item[] {
  return report.gaps.map(({ gap, line }) => [`  ${placeOf(report, line)}  ${gapWords(gap)}`]);
}

function damageItems(report: Report): readonly Item[] {
  return report.damages.map((damage) => [`  ${placeOf(report, damage.line)}  ${damageWords(damage)}`]);
}

function expectationSection({ expectations }: Report, style: Style): readonly string[] {
  if (expectations.length === 0) return [];
  const lines = expectations.map((result) => {
    const text = `${visible(result.expectation.text)}  ${expectationWords(result)}`;
    return result.holds ? `  ${style.green("✔")} ${text}` : `  ${style.red("✖")} ${text}`;
  });
  return ["Expected", ...lines];
}

function placeOf({ source }: Report, line: number | undefined): string {
  return visible(line === undefined ? source : `${source}:${line}`);
}
