import { isObject, kindOf, pointerToken } from "../../base/json.js";
import type { CheckBounds, JsonSchemaValidator } from "../json-schema-validator.js";
import { shorten } from "../schema-error.js";
import { moreFaults, type SchemaFault } from "../schema-fault.js";
import { NotJson } from "./equality.js";
import { Evaluation, type Finding, type Rule } from "./evaluation.js";
import { checksOf, type RuleMaker } from "./keyword-checks.js";
import { Meter, OverBounds } from "./meter.js";
import { type NormalSchema, type NormalSubschema, targetOf } from "./normal-form.js";

/**
 * The default validator. It needs no `eval` and runs on every platform. No keyword takes more time than the size of the
 * value times the size of the schema, and the meter bounds that product; see `SchemaLimits.steps`.
 */
export const defaultValidator: JsonSchemaValidator = {
  compile(schema, bounds) {
    const root = new Rules(schema).rule(schema);
    return (value) => faultsOf(value, root, bounds);
  },
};

const valid: readonly SchemaFault[] = [];

/** The step budget for collecting all faults of a value that is known to be invalid. */
const stepsToExplain = 10_000;

/**
 * The first run stops at the first fault. For an invalid value, a second run with a small budget collects all faults.
 * So a long list of invalid items costs little more than its first one.
 */
function faultsOf(value: unknown, root: Rule | boolean, { limits, clock }: CheckBounds): readonly SchemaFault[] {
  const meter = new Meter(clock, limits.milliseconds, limits.steps);
  const first: Finding[] = [];
  const inability = run(value, root, meter, first, 1);
  if (inability !== undefined) return [{ path: "", message: inability }];
  if (first.length === 0) return valid;
  const all: Finding[] = [];
  meter.restart(Math.min(limits.steps, stepsToExplain));
  // The second run may exceed its budget; the faults found until then are reported.
  run(value, root, meter, all, limits.errors + 1);
  return explain(all.length > 0 ? all : first, limits.errors);
}

/** Collects the findings of a value. Returns a message if a limit was exceeded or the value is not JSON. */
function run(
  value: unknown,
  root: Rule | boolean,
  meter: Meter,
  findings: Finding[],
  most: number,
): string | undefined {
  try {
    new Evaluation(meter, findings, most).apply(root, value, undefined);
    return undefined;
  } catch (error) {
    if (error instanceof OverBounds || error instanceof NotJson) return error.message;
    if (error instanceof RangeError)
      return "expected a less deeply nested value, or one with fewer faults: checking it overflows the stack";
    throw error;
  }
}

/** The compiled subschemas of a document. Each subschema is compiled once. */
class Rules implements RuleMaker {
  readonly #root: NormalSchema;
  readonly #rules = new Map<NormalSchema, Rule>();

  constructor(root: NormalSchema) {
    this.#root = root;
  }

  rule(schema: NormalSubschema): Rule | boolean {
    if (typeof schema === "boolean") return schema;
    const known = this.#rules.get(schema);
    if (known !== undefined) return known;
    const rule = {
      schema,
      checks: checksOf(schema, this),
      looksAtEvaluated: schema.unevaluatedItems !== undefined || schema.unevaluatedProperties !== undefined,
    };
    this.#rules.set(schema, rule);
    return rule;
  }

  target(reference: string): Rule | boolean {
    return this.rule(targetOf(reference, this.#root));
  }
}

/** The number of `enum` values that are formatted for a message; a message has room for fewer. */
const mostValues = 50;

/** Turns findings into faults that name the expected and the received value. */
function explain(findings: readonly Finding[], most: number): readonly SchemaFault[] {
  const faults = findings.slice(0, most).map(faultOf);
  return findings.length > most ? [...faults, moreFaults(most)] : faults;
}

function faultOf(finding: Finding): SchemaFault {
  const absent = finding.keyword === "required" || finding.keyword === "dependentRequired";
  const path = absent ? [...pathOf(finding), ...finding.detail.slice(-1)] : pathOf(finding);
  return { path: pointerOf(path), message: finding.keyword === "anyOf" ? sayAlternatives(finding) : say(finding) };
}

/** The member names and indices that lead to the value of a finding. */
function pathOf({ step }: Finding): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = step; at !== undefined; at = at.before) if (at.token !== undefined) path.push(at.token);
  return path.reverse();
}

function pointerOf(path: readonly (string | number)[]): string {
  return path.map((token) => `/${pointerToken(token)}`).join("");
}

function say(finding: Finding): string {
  const [expected, got = show(finding.value)] = words[finding.keyword]?.(finding) ?? [
    `a value that fits "${finding.keyword}"`,
  ];
  const subject = isOfName(finding) ? "property name: " : "";
  return `${subject}expected ${expected}, got ${got}`;
}

/** A finding of `propertyNames` concerns the last name of the path, not the value under that name. */
function isOfName({ step }: Finding): boolean {
  for (let at = step; at !== undefined; at = at.before) if (at.keyword === "propertyNames") return true;
  return false;
}

/** The message for `anyOf`: the first fault of each alternative. */
function sayAlternatives(finding: Finding): string {
  const { argument, alternatives, value } = finding;
  const above = pathOf(finding).length;
  const spelled = alternatives.map((first) => {
    const place = pointerOf(pathOf(first).slice(above));
    return place === "" ? say(first) : `${shorten(place)}: ${say(first)}`;
  });
  if (spelled.length === 0) return `expected one of the alternatives, got ${show(value)}`;
  const others = (argument as readonly unknown[]).length - spelled.length;
  return spelled.join("; or ") + (others > 0 ? `; or one of ${others} more alternatives` : "");
}

type Words = readonly [expected: string, got?: string];

/** The words for each keyword: the expected value and, if it is not simply the value, the received one. */
const words: Readonly<Record<string, (finding: Finding) => Words>> = {
  type: ({ argument }) => [typeNames(argument)],
  const: ({ argument }) => [show(argument)],
  enum: ({ argument }) => [`one of ${shorten((argument as unknown[]).slice(0, mostValues).map(show).join(", "))}`],
  anyOf: () => ["one of the alternatives"],
  oneOf: ({ detail }) => ["exactly one of the alternatives to fit", `${detail[0]} that do`],
  not: sayNot,
  required: ({ schema, detail }) => [typeNames(memberType(schema, String(detail[0]))), "nothing"],
  dependentRequired: ({ detail }) => [`a value, because ${show(detail[0])} is there`, "nothing"],
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
  uniqueItems: ({ detail }) => ["distinct items", `equal ones at ${detail.join(" and ")}`],
  contains: () => ['an item that fits "contains"', "none"],
  minContains: ({ argument }) => [`at least ${argument} items that fit "contains"`, "fewer"],
  maxContains: ({ argument }) => [`at most ${argument} items that fit "contains"`, "more"],
  minProperties: ({ argument, value }) => [`at least ${argument} properties`, size(value)],
  maxProperties: ({ argument, value }) => [`at most ${argument} properties`, size(value)],
};

/** The normal form turns `false` into `not: true`: no value is allowed. */
function sayNot({ argument, step }: Finding): Words {
  if (argument !== true) return ['a value that does not fit "not"'];
  const kind = /items$/i.test(step?.keyword ?? "") ? "item" : "property";
  return [step?.token === undefined ? "nothing" : `no such ${kind}`];
}

function memberType({ properties = {} }: NormalSchema, name: string): unknown {
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(member) ? member.type : undefined;
}

/** The names of types as an English list; "a value" for a schema without a type. */
function typeNames(type: unknown): string {
  return type === undefined ? "a value" : [type].flat().join(" or ");
}

function size(value: unknown): string {
  return String(Object.keys(value as object).length);
}

/** The number of characters of a value that a message shows. */
const mostShown = 60;

/** A value as shown in a message: scalars as JSON, other values by kind. */
function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return kindOf(value);
  // Cut the string first: it can be as long as a frame, and each of its faults shows it.
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, mostShown)) : JSON.stringify(value);
  return shorten(text ?? kindOf(value), mostShown);
}
