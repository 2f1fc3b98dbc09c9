import { isObject } from "@parlance/mcp/protocol";
import type { Comparison } from "@parlance/wire";
import { cut, cutMiddle, left, widthOf } from "./columns.js";
import { count, durationText } from "./quantities.js";
import type { Look } from "./rows.js";

type ComparedItem = NonNullable<Comparison["items"][number]["left"]>;
type DefinitionComparison = Comparison["definitions"][number];
type ItemChange = Comparison["items"][number];
type PairedChange = Extract<ItemChange, { readonly is: "changed" }>;
type LatencyChange = Comparison["latencies"][number];
type ValueChange = Comparison["contract"][number];

const labelWidth = 20;
/** The maximum number of changed places shown of one message. */
const mostPlaces = 8;
/** The minimum number of columns for the two values of a place and their separators. */
const leastForValues = 40;
/** The minimum number of columns for a pointer. */
const leastForPlace = 12;
const separators = 9;

/** The differences of two recordings as text. */
export function comparisonLines(comparison: Comparison, look: Look): readonly string[] {
  const { contract, definitions, items, same, latencies, equal } = comparison;
  const { style } = look;
  const alike = `${count(same, "message")} alike`;
  const lines = [
    ...section("contract", placeLines(contract, look), look),
    ...definitions.flatMap((each) => section(each.list, definitionLines(each, look), look)),
    ...section(
      "conversation",
      items.flatMap((item) => itemLines(item, look)),
      look,
    ),
    ...section("timing", latencies.map(latencyLine), look),
  ];
  return equal ? [...lines, `${style.green("✔")} no difference: ${alike}`] : [...lines, style.dim(alike)];
}

function section(label: string, lines: readonly string[], { style }: Look): readonly string[] {
  return lines.map((line, index) => style.bold(left(index === 0 ? label : "", labelWidth)) + line);
}

function definitionLines({ unchanged, changes }: DefinitionComparison, look: Look): readonly string[] {
  if (changes.length === 0) return [];
  const { style } = look;
  const amount = (what: string): string => `${changes.filter(({ is }) => is === what).length} ${what}`;
  const marks = { added: style.green("+"), removed: style.red("-"), changed: style.yellow("~") };
  return [
    ...changes.flatMap(({ name, is, changes: places }) => [
      `${marks[is]} ${cut(name, look.width - labelWidth - 2)}`,
      ...placeLines(places, look).map((line) => `    ${line}`),
    ]),
    style.dim(`(${unchanged} unchanged, ${amount("changed")}, ${amount("added")}, ${amount("removed")})`),
  ];
}

function itemLines(item: ItemChange, look: Look): readonly string[] {
  const { style } = look;
  if (item.is === "only left") return [`${style.red("-")} ${itemText(item.left)}  ${style.dim("only in the first")}`];
  if (item.is === "only right")
    return [`${style.green("+")} ${itemText(item.right)}  ${style.dim("only in the second")}`];
  const outcome = item.outcome ? `  ${outcomeText(item.left)} → ${outcomeText(item.right)}` : "";
  return [
    `${markOf(item, look)} ${itemText(item.left)}${outcome}`,
    ...placeLines(item.changes, look).map((line) => `    ${line}`),
  ];
}

/** `✖` for an outcome that got worse, or breaks other rules, `✔` for one that got better, `~` for another change. */
function markOf({ left: before, right: after, outcome }: PairedChange, { style }: Look): string {
  const change = outcome ? badnessOf(after) - badnessOf(before) : 0;
  if (change > 0 || (outcome && change === 0 && after.rules.length > 0)) return style.red("✖");
  return change < 0 ? style.green("✔") : style.yellow("~");
}

/** Two for broken rules, one for another failure. */
function badnessOf({ status = "ok", rules }: ComparedItem): number {
  if (rules.length > 0) return 2;
  return status === "ok" || status === "input_required" ? 0 : 1;
}

function itemText({ from, method, target, value }: ComparedItem): string {
  const arrow = from === "client" ? "→" : "←";
  return `${arrow} ${messageText(method, target, value)}`;
}

/** The outcome of a request, and the broken rules. A notification has no other outcome. */
function outcomeText({ status, rules }: ComparedItem): string {
  const outcome = status === "ok" && rules.length > 0 ? undefined : status;
  const parts = [...(outcome === undefined ? [] : [outcome]), ...rules];
  return parts.length === 0 ? "no violation" : parts.join(" ");
}

function placeLines(changes: readonly ValueChange[], look: Look): readonly string[] {
  const lines = changes.slice(0, mostPlaces).map((change) => placeLine(change, look));
  return changes.length > mostPlaces ? [...lines, `… and ${count(changes.length - mostPlaces, "more place")}`] : lines;
}

function placeLine({ pointer, before, after }: ValueChange, { style, width }: Look): string {
  const place = cutMiddle(pointer === "" ? "/" : pointer, Math.max(leastForPlace, width - labelWidth - leastForValues));
  const room = Math.floor((width - labelWidth - widthOf(place) - separators) / 2);
  if (before === undefined) return `${place}  ${style.green(`+ ${jsonText(after, room * 2)}`)}`;
  if (after === undefined) return `${place}  ${style.red(`- ${jsonText(before, room * 2)}`)}`;
  return `${place}  ${cutToDifference(jsonOf(before), jsonOf(after), room).join(" → ")}`;
}

/** Both texts, cut so that the first difference is in what is left. */
function cutToDifference(before: string, after: string, room: number): readonly string[] {
  const texts = [before, after];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const isSeen = same < room / 2 || texts.every((text) => widthOf(text) <= room);
  // Not within a character of two units.
  const [lead = ""] = /.{0,8}$/su.exec(before.slice(0, same)) ?? [];
  return texts.map((text) => cut(isSeen ? text : `…${text.slice(same - lead.length)}`, room));
}

function latencyLine({ left: a, right: b }: LatencyChange): string {
  const [before, after] = [a.latency ?? 0, b.latency ?? 0];
  const ratio = Math.max(before, after) / Math.max(0.001, Math.min(before, after));
  const times = after > before ? `×${ratio.toFixed(0)}` : `÷${ratio.toFixed(0)}`;
  return `${itemText(a)}  ${durationText(before)} → ${durationText(after)} (${times})`;
}

const widest = 80;

/** A message in one line: method, target, and arguments or the params of a notification; or the text of noise. */
export function messageText(method: string | undefined, target: string | undefined, value: unknown): string {
  if (method === undefined)
    return typeof value === "string" ? cut(JSON.stringify(value), widest) : jsonText(value, widest);
  const params = isObject(value) && isObject(value.params) ? value.params : {};
  const shown = params.arguments ?? (method.startsWith("notifications/") && target === undefined ? params : {});
  const args = params.arguments === undefined && Object.keys(shown).length === 0 ? "" : jsonText(shown, widest);
  return cut([method, target, args].filter((part) => part !== undefined && part !== "").join(" "), widest);
}

/** A value as JSON in at most `width` columns. Integers that a double cannot hold keep their digits. */
export function jsonText(value: unknown, width: number): string {
  return cut(jsonOf(value), width);
}

function jsonOf(value: unknown): string {
  const marked = (_: string, each: unknown): unknown => (typeof each === "bigint" ? `\u0000${each}` : each);
  const text = JSON.stringify(value, marked) as string | undefined; // `undefined` has no JSON.
  return text?.replaceAll(/"\\u0000(-?\d+)"/g, "$1") ?? "nothing";
}
