import type { OutputUnit } from "@cfworker/json-schema";
import { kindOf, pointerToken } from "../../base/json.js";
import { shorten } from "../schema-error.js";
import { moreFaults, type SchemaFault } from "../schema-fault.js";
import { type Evaluated, type Finding, findingOf } from "./findings.js";

/** These say only that something below them is wrong. */
const wrappers: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "if",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "dependentSchemas",
  "items",
  "prefixItems",
  "unevaluatedItems",
]);

/** What is found below these is not wrong in itself: the keyword says what is. */
const choices: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains"]);
/** Alternatives that a message spells out. */
const mostAlternatives = 5;
/** Values of an `enum` that are looked at: a message has room for fewer. */
const mostValues = 50;
/** What is looked at to find the words. */
const mostFindings = 5_000;

/** Turns what the library found wrong with a value into faults that name what was expected and what was there. */
export function explain(
  units: readonly OutputUnit[],
  value: unknown,
  evaluated: Evaluated,
  most: number,
): readonly SchemaFault[] {
  const leaves = units.filter(({ keyword }) => !wrappers.has(keyword)).slice(0, mostFindings);
  const telling = leaves.map((unit) => findingOf(unit, value, evaluated));
  const findings = telling.filter(({ within }) => !within.some((keyword) => choices.has(keyword)));
  const faults = findings.slice(0, most).map((finding) => faultOf(finding, telling));
  if (findings.length > most) faults.push(moreFaults(most));
  // An empty list would mean that the value is valid.
  return faults.length > 0
    ? faults
    : [{ path: "", message: `expected a value that fits the schema, got ${show(value)}` }];
}

function faultOf(finding: Finding, telling: readonly Finding[]): SchemaFault {
  const absent = finding.keyword === "required" || finding.keyword === "dependentRequired";
  const path = absent ? [...finding.path, ...quoted(finding.text).slice(-1)] : finding.path;
  const message = finding.keyword === "anyOf" ? sayAlternatives(finding, telling) : say(finding);
  return { path: path.map((token) => `/${pointerToken(token)}`).join(""), message };
}

function say(finding: Finding): string {
  const [expected, got = show(finding.value)] = words[finding.keyword]?.(finding) ?? [
    `a value that fits "${finding.keyword}"`,
  ];
  const subject = finding.within.includes("propertyNames") ? "property name: " : "";
  return `${subject}expected ${expected}, got ${got}`;
}

/** Says of each alternative the first thing that is wrong with it. */
function sayAlternatives({ location, argument, path, value }: Finding, telling: readonly Finding[]): string {
  const alternatives = argument as readonly unknown[];
  const spelled = alternatives.slice(0, mostAlternatives).flatMap((_, index) => {
    const first = telling.find((finding) => finding.location.startsWith(`${location}/${index}/`));
    if (first === undefined) return [];
    const place = first.path
      .slice(path.length)
      .map((token) => `/${pointerToken(token)}`)
      .join("");
    return [place === "" ? say(first) : `${shorten(place)}: ${say(first)}`];
  });
  if (spelled.length === 0) return `expected one of the alternatives, got ${show(value)}`;
  const others = alternatives.length - spelled.length;
  return spelled.join("; or ") + (others > 0 ? `; or one of ${others} more alternatives` : "");
}

type Words = readonly [expected: string, got?: string];

/** What to say for each keyword: what was expected and, where that is not simply the value, what was there. */
const words: Readonly<Record<string, (finding: Finding) => Words>> = {
  type: ({ argument }) => [typeNames(argument)],
  const: ({ argument }) => [show(argument)],
  enum: ({ argument }) => [`one of ${shorten((argument as unknown[]).slice(0, mostValues).map(show).join(", "))}`],
  anyOf: () => ["one of the alternatives"],
  oneOf: ({ text }) => ["exactly one of the alternatives to fit", `${/\d+/.exec(text)?.[0] ?? 0} that do`],
  not: sayNot,
  required: ({ schema, text }) => [typeNames(memberType(schema, quoted(text)[0])), "nothing"],
  dependentRequired: ({ text }) => [`a value, because ${show(quoted(text)[0])} is there`, "nothing"],
  minimum: ({ argument }) => [`at least ${argument}`],
  maximum: ({ argument }) => [`at most ${argument}`],
  exclusiveMinimum: ({ argument }) => [`more than ${argument}`],
  exclusiveMaximum: ({ argument }) => [`less than ${argument}`],
  multipleOf: ({ argument }) => [`a multiple of ${argument}`],
  minLength: ({ argument }) => [`at least ${argument} characters`],
  maxLength: ({ argument }) => [`at most ${argument} characters`],
  pattern: ({ argument }) => [`a string that matches ${shorten(String(argument))}`],
  format: ({ argument }) => [`a string in the format ${shorten(String(argument))}`],
  minItems: ({ argument, value }) => [`at least ${argument} items`, size(value)],
  maxItems: ({ argument, value }) => [`at most ${argument} items`, size(value)],
  uniqueItems: ({ text }) => ["distinct items", `equal ones at ${/\d+ and \d+/.exec(text)?.[0]}`],
  contains: () => ['an item that fits "contains"', "none"],
  minContains: ({ argument }) => [`at least ${argument} items that fit "contains"`, "fewer"],
  maxContains: ({ argument }) => [`at most ${argument} items that fit "contains"`, "more"],
  minProperties: ({ argument, value }) => [`at least ${argument} properties`, size(value)],
  maxProperties: ({ argument, value }) => [`at most ${argument} properties`, size(value)],
};

/** `not: true` is what `false` became: nothing may stand there. */
function sayNot({ argument, path, within }: Finding): Words {
  if (argument !== true) return ['a value that does not fit "not"'];
  return [path.length === 0 ? "nothing" : /items$/i.test(within.at(-1) ?? "") ? "no such item" : "no such property"];
}

function memberType({ properties = {} }: Finding["schema"], name = ""): unknown {
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return typeof member === "object" ? member.type : undefined;
}

/** The names of types as a person lists them; "a value" for a schema without. */
function typeNames(type: unknown): string {
  return type === undefined ? "a value" : [type].flat().join(" or ");
}

/** The names that the library puts in quotation marks. */
function quoted(text: string): readonly string[] {
  const [, first, second] = /^[^"]*"(.*?)"(?: but does not have "(.*)")?\.$/s.exec(text) ?? [];
  return [first, second].filter((name) => name !== undefined);
}

function size(value: unknown): string {
  return String(Object.keys(value as object).length);
}

/** A value as it may stand in a message: plain ones as JSON, of the others only the kind. */
function show(value: unknown): string {
  return typeof value === "object" && value !== null
    ? kindOf(value)
    : shorten(JSON.stringify(value) ?? kindOf(value), 60);
}
