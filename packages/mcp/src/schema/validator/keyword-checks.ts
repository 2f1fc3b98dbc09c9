import { format as formatsOfLibrary } from "@cfworker/json-schema";
import { isObject } from "../../base/json.js";
import { shorten } from "../schema-error.js";
import { Equality } from "./equality.js";
import { formats, type Keywords, type NormalSchema, type NormalSubschema } from "./keywords.js";
import { stepsPerCharacter } from "./linear-pattern.js";
import type { Meter } from "./meter.js";
import { targetOf } from "./normal-form.js";
import {
  type Check,
  type Evaluation,
  type Finding,
  notAllowed,
  type Rule,
  show,
  typeTest,
  type Words,
} from "./validator.js";

/** The rule of a document. Each of its subschemas is compiled once. */
export function ruleOf(document: NormalSchema): Rule | boolean {
  return new Rules(document).rule(document);
}

/** The compiled subschemas of a document. */
class Rules {
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
      checks: makers.flatMap(([keywords, make]) =>
        keywords.some((keyword) => schema[keyword] !== undefined) ? (make(schema, this) ?? []) : [],
      ),
      looksAtEvaluated: schema.unevaluatedItems !== undefined || schema.unevaluatedProperties !== undefined,
    };
    this.#rules.set(schema, rule);
    return rule;
  }

  /** The rule that a `$ref` points to. */
  target(reference: string): Rule | boolean {
    return this.rule(targetOf(reference, this.#root));
  }
}

/**
 * Compiles a keyword, or a few that belong together, to a check; undefined if the schema contains none of them. The check
 * charges the meter for its cost beyond one step.
 */
type Maker = (schema: NormalSchema, compiled: Rules) => Check | undefined;

/** The cost of compiling an expression, per character: a class such as `\p{L}` expands to hundreds of ranges. */
const stepsToCompile = 64;

/** The number of `anyOf` alternatives that a message lists. */
const mostAlternatives = 5;

/** The number of `enum` values that are formatted for a message; a message has room for fewer. */
const mostValues = 50;

/** A comparison with the argument of a keyword, and the words for it. */
type Comparison = readonly [words: string, fits: (measured: number, argument: number) => boolean];

/** The number that a keyword limits: the value itself, or a count of its parts. */
interface Measure {
  /** The unit in a message, after a space. */
  readonly unit: string;
  /** Whether a message shows the number as the received value. */
  readonly isShown: boolean;
  /** Undefined for a value of another type. */
  of(value: unknown, meter: Meter): number | undefined;
}

const atLeast: Comparison = ["at least", (measured, min) => measured >= min];
const atMost: Comparison = ["at most", (measured, max) => measured <= max];
const moreThan: Comparison = ["more than", (measured, min) => measured > min];
const lessThan: Comparison = ["less than", (measured, max) => measured < max];
const multipleOf: Comparison = ["a multiple of", isMultipleOf];

const numberItself: Measure = {
  unit: "",
  isShown: false,
  of: (value) => (typeof value === "number" ? value : undefined),
};
/** The length of a string in code points; some take two UTF-16 code units. */
const codePoints: Measure = {
  unit: " characters",
  isShown: false,
  of(value, meter) {
    if (typeof value !== "string") return undefined;
    meter.text(value.length);
    return value.length - (value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
  },
};
const itemCount: Measure = {
  unit: " items",
  isShown: true,
  of: (value) => (Array.isArray(value) ? value.length : undefined),
};
const propertyCount: Measure = {
  unit: " properties",
  isShown: true,
  of(value, meter) {
    if (!isObject(value)) return undefined;
    const count = Object.keys(value).length;
    meter.list(count);
    return count;
  },
};

/** Faults are reported in this order. */
const makers: readonly [keywords: readonly string[], make: Maker][] = [
  [["$ref"], reference],
  [["type"], type],
  [["const"], ({ const: only }) => values([only], () => show(only))],
  [
    ["enum"],
    ({ enum: list = [] }) => values(list, () => `one of ${shorten(list.slice(0, mostValues).map(show).join(", "))}`),
  ],
  [["not"], not],
  [["anyOf"], anyOf],
  [["allOf"], allOf],
  [["oneOf"], oneOf],
  [["if"], conditional],
  [["required"], required],
  [["minProperties"], limit("minProperties", atLeast, propertyCount)],
  [["maxProperties"], limit("maxProperties", atMost, propertyCount)],
  [["propertyNames"], propertyNames],
  [["dependentRequired"], dependentRequired],
  [["dependentSchemas"], dependentSchemas],
  [["properties", "patternProperties", "additionalProperties"], members],
  [["unevaluatedProperties"], unevaluatedProperties],
  [["maxItems"], limit("maxItems", atMost, itemCount)],
  [["minItems"], limit("minItems", atLeast, itemCount)],
  [["prefixItems", "items"], items],
  [["contains"], contains],
  [["unevaluatedItems"], unevaluatedItems],
  [["uniqueItems"], uniqueItems],
  [["minimum"], limit("minimum", atLeast, numberItself)],
  [["maximum"], limit("maximum", atMost, numberItself)],
  [["exclusiveMinimum"], limit("exclusiveMinimum", moreThan, numberItself)],
  [["exclusiveMaximum"], limit("exclusiveMaximum", lessThan, numberItself)],
  [["multipleOf"], limit("multipleOf", multipleOf, numberItself)],
  [["minLength"], limit("minLength", atLeast, codePoints)],
  [["maxLength"], limit("maxLength", atMost, codePoints)],
  [["pattern"], pattern],
  [["format"], format],
];

function reference({ $ref = "#" }: NormalSchema, compiled: Rules): Check {
  // Resolved at the first use: the target may refer back to this schema, which is not compiled yet.
  let target: Rule | boolean | undefined;
  return (evaluation, value, before, evaluated) => {
    target ??= compiled.target($ref);
    return evaluation.apply(target, value, { before, keyword: "$ref" }, evaluated);
  };
}

function type(schema: NormalSchema): Check | undefined {
  const test = typeTest(schema.type);
  return (
    test && ((evaluation, value, step) => test(value) || evaluation.fault(step, value, () => [typeNames(schema.type)]))
  );
}

/** `const` and `enum`: one set lookup, whatever the number of values. `const` is an `enum` of one value. */
function values(allowed: readonly unknown[], expected: () => string): Check {
  const equality = new Equality();
  const numbers = new Set(allowed.map((value) => equality.numberOf(value)));
  return (evaluation, value, step) => {
    const number = equality.find(value, evaluation.meter);
    return (number !== undefined && numbers.has(number)) || evaluation.fault(step, value, () => [expected()]);
  };
}

function not(schema: NormalSchema, compiled: Rules): Check {
  const rule = compiled.rule(schema.not ?? false);
  return (evaluation, value, step) =>
    !evaluation.attempt(rule, value, { before: step, keyword: "not" }, undefined) ||
    // The normal form turns `false` into `not: true`.
    evaluation.fault(step, value, () => (rule === true ? notAllowed(step) : ['a value that does not fit "not"']));
}

function anyOf(schema: NormalSchema, compiled: Rules): Check {
  const rules = (schema.anyOf ?? []).map((alternative) => compiled.rule(alternative));
  return (evaluation, value, before, evaluated) => {
    const step = { before, keyword: "anyOf" };
    const first: Finding[] = [];
    let fits = false;
    for (const [index, rule] of rules.entries()) {
      const findings = index < mostAlternatives ? first : undefined;
      if (!evaluation.attempt(rule, value, step, evaluated, findings)) continue;
      fits = true;
      // Continue if evaluated members are tracked: a later alternative may evaluate more of the value.
      if (evaluated === undefined) break;
    }
    const alternatives = { first, count: rules.length };
    return fits || evaluation.fault(before, value, () => ["one of the alternatives"], alternatives);
  };
}

function allOf(schema: NormalSchema, compiled: Rules): Check {
  const rules = (schema.allOf ?? []).map((part) => compiled.rule(part));
  return (evaluation, value, before, evaluated) =>
    each(evaluation, rules, (rule) => evaluation.apply(rule, value, { before, keyword: "allOf" }, evaluated));
}

function oneOf(schema: NormalSchema, compiled: Rules): Check {
  const rules = (schema.oneOf ?? []).map((alternative) => compiled.rule(alternative));
  return (evaluation, value, before, evaluated) => {
    const step = { before, keyword: "oneOf" };
    const fitting = rules.filter((rule) => evaluation.attempt(rule, value, step, evaluated)).length;
    const words = (): Words => ["exactly one of the alternatives to fit", `${fitting} that do`];
    return fitting === 1 || evaluation.fault(before, value, words);
  };
}

function conditional(schema: NormalSchema, compiled: Rules): Check {
  const condition = compiled.rule(schema.if ?? true);
  // biome-ignore lint/suspicious/noThenProperty: these are keywords of JSON Schema
  const branches = { then: compiled.rule(schema.then ?? true), else: compiled.rule(schema.else ?? true) };
  return (evaluation, value, before, evaluated) => {
    const holds = evaluation.attempt(condition, value, { before, keyword: "if" }, evaluated);
    const keyword = holds ? "then" : "else";
    return evaluation.apply(branches[keyword], value, { before, keyword }, evaluated);
  };
}

function required(schema: NormalSchema): Check {
  const { required: names = [], properties = {} } = schema;
  const expected = (name: string): string => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return typeNames(isObject(member) ? member.type : undefined);
  };
  return (evaluation, value, before) =>
    !isObject(value) ||
    each(evaluation, names, (token) => {
      if (Object.hasOwn(value, token)) return true;
      return evaluation.fault({ before, keyword: "required", token }, value, () => [expected(token), "nothing"]);
    });
}

/** The names of types as an English list; "a value" for a schema without a type. */
function typeNames(type: unknown): string {
  return type === undefined ? "a value" : [type].flat().join(" or ");
}

function dependentRequired(schema: NormalSchema): Check {
  const dependencies = new Map(Object.entries(schema.dependentRequired ?? {}));
  return (evaluation, value, before) =>
    !isObject(value) ||
    each(evaluation, namesIn(dependencies, value, evaluation), (cause) =>
      each(evaluation, dependencies.get(cause) ?? [], (token) => {
        if (Object.hasOwn(value, token)) return true;
        const words = (): Words => [`a value, because ${show(cause)} is there`, "nothing"];
        return evaluation.fault({ before, keyword: "dependentRequired", token }, value, words);
      }),
    );
}

function dependentSchemas(schema: NormalSchema, compiled: Rules): Check {
  const rules = rulesByName(schema.dependentSchemas, compiled);
  return (evaluation, value, before, evaluated) =>
    !isObject(value) ||
    each(evaluation, namesIn(rules, value, evaluation), (name) =>
      evaluation.apply(rules.get(name) ?? true, value, { before, keyword: "dependentSchemas" }, evaluated),
    );
}

function propertyNames(schema: NormalSchema, compiled: Rules): Check {
  const rule = compiled.rule(schema.propertyNames ?? true);
  return (evaluation, value, before) =>
    !isObject(value) ||
    each(evaluation, Object.keys(value), (token) =>
      evaluation.apply(rule, token, { before, keyword: "propertyNames", token }),
    );
}

/**
 * `properties`, `patternProperties` and `additionalProperties` in one check, because the last depends on the other two.
 */
function members(schema: NormalSchema, compiled: Rules): Check {
  const rules = rulesByName(schema.properties, compiled);
  const additional = compiled.rule(schema.additionalProperties ?? true);
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([source, rule]) => [meteredPattern(source), compiled.rule(rule)] as const,
  );
  const readsAll = patterns.length > 0 || schema.additionalProperties !== undefined;
  return (evaluation, value, before, evaluated) => {
    if (!isObject(value)) return true;
    const apply = (rule: Rule | boolean, keyword: string, token: string): boolean => {
      evaluated?.add(token);
      return evaluation.apply(rule, value[token], { before, keyword, token });
    };
    const named = each(evaluation, namesIn(rules, value, evaluation), (name) =>
      apply(rules.get(name) ?? true, "properties", name),
    );
    if (!readsAll || evaluation.isOver) return named;
    const others = each(evaluation, Object.keys(value), (name) => {
      let fits = true;
      let matches = 0;
      for (const [matchesName, rule] of patterns) {
        if (!matchesName(name, evaluation)) continue;
        matches += 1;
        fits = apply(rule, "patternProperties", name) && fits;
      }
      if (matches > 0 || rules.has(name) || schema.additionalProperties === undefined) return fits;
      return apply(additional, "additionalProperties", name);
    });
    return named && others;
  };
}

function unevaluatedProperties(schema: NormalSchema, compiled: Rules): Check {
  const rule = compiled.rule(schema.unevaluatedProperties ?? true);
  return (evaluation, value, before, evaluated) =>
    !isObject(value) ||
    each(evaluation, Object.keys(value), (token) => {
      if (evaluated?.has(token)) return true;
      evaluated?.add(token);
      return evaluation.apply(rule, value[token], { before, keyword: "unevaluatedProperties", token });
    });
}

function items(schema: NormalSchema, compiled: Rules): Check {
  const prefix = (schema.prefixItems ?? []).map((item) => compiled.rule(item));
  const rest = schema.items === undefined ? undefined : compiled.rule(schema.items);
  return (evaluation, value, before, evaluated) => {
    if (!Array.isArray(value)) return true;
    const read: readonly unknown[] = rest === undefined ? value.slice(0, prefix.length) : value;
    return each(evaluation, read, (item, token) => {
      evaluated?.add(token);
      const keyword = token < prefix.length ? "prefixItems" : "items";
      return evaluation.apply(prefix[token] ?? rest ?? true, item, { before, keyword, token });
    });
  };
}

function contains(schema: NormalSchema, compiled: Rules): Check {
  const rule = compiled.rule(schema.contains ?? true);
  const { minContains: min = 1, maxContains: max = Number.POSITIVE_INFINITY } = schema;
  return (evaluation, value, before, evaluated) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (const [token, item] of value.entries()) {
      if (!evaluation.attempt(rule, item, { before, keyword: "contains", token }, undefined)) continue;
      evaluated?.add(token);
      count += 1;
    }
    if (count >= min && count <= max) return true;
    return evaluation.fault(before, value, () => {
      if (count > max) return [`at most ${max} items that fit "contains"`, "more"];
      if (schema.minContains === undefined) return ['an item that fits "contains"', "none"];
      return [`at least ${min} items that fit "contains"`, "fewer"];
    });
  };
}

function unevaluatedItems(schema: NormalSchema, compiled: Rules): Check {
  const rule = compiled.rule(schema.unevaluatedItems ?? true);
  return (evaluation, value, before, evaluated) =>
    !Array.isArray(value) ||
    each<unknown>(evaluation, value, (item, token) => {
      if (evaluated?.has(token)) return true;
      evaluated?.add(token);
      return evaluation.apply(rule, item, { before, keyword: "unevaluatedItems", token });
    });
}

/** Uses `Equality`, so each item is read once and no item is compared with another. */
function uniqueItems(schema: NormalSchema): Check | undefined {
  if (schema.uniqueItems !== true) return undefined;
  return (evaluation, value, step) => {
    if (!Array.isArray(value)) return true;
    const indices = new Map<number, number>();
    for (const [index, item] of value.entries()) {
      const number = evaluation.equality.numberOf(item, evaluation.meter);
      const first = indices.get(number);
      if (first !== undefined) {
        return evaluation.fault(step, value, () => ["distinct items", `equal ones at ${first} and ${index}`]);
      }
      indices.set(number, index);
    }
    return true;
  };
}

/** A keyword that limits a number. */
function limit(
  keyword: keyof { [Name in keyof Keywords as Keywords[Name] extends number | undefined ? Name : never]: unknown },
  [words, fits]: Comparison,
  { unit, isShown, of }: Measure,
): Maker {
  return ({ [keyword]: argument }) => {
    if (argument === undefined) return undefined;
    const expected = `${words} ${argument}${unit}`;
    return (evaluation, value, step) => {
      const measured = of(value, evaluation.meter);
      if (measured === undefined || fits(measured, argument)) return true;
      return evaluation.fault(step, value, () => [expected, isShown ? String(measured) : undefined]);
    };
  };
}

/** Whether a number is a multiple of another, in decimal arithmetic: 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

/** A number as decimal digits and an exponent of ten. */
function decimal(value: number): readonly [digits: bigint, exponent: number] {
  const [coefficient = "", exponent = "0"] = Math.abs(value).toString().split("e");
  const [whole = "", fraction = ""] = coefficient.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function pattern(schema: NormalSchema): Check {
  const matches = meteredPattern(schema.pattern ?? "");
  return (evaluation, value, step) =>
    typeof value !== "string" ||
    matches(value, evaluation) ||
    evaluation.fault(step, value, () => [`a string that matches ${shorten(schema.pattern ?? "")}`]);
}

/**
 * Runs a pattern and charges the meter for its worst case. An author's pattern is trusted even if it has no proven
 * bound.
 */
function meteredPattern(source: string): (text: string, evaluation: Evaluation) => boolean {
  const expression = new RegExp(source, "u");
  const times = Math.max(1, stepsPerCharacter(source) ?? 1);
  return (text, { meter }) => {
    meter.list(1);
    meter.text(text.length, times);
    return expression.test(text);
  };
}

function format(schema: NormalSchema): Check | undefined {
  const { format: name = "" } = schema;
  const accepts = formats.has(name) ? formatsOfLibrary[name] : undefined;
  if (accepts === undefined) return undefined;
  const times = name === "regex" ? stepsToCompile : 1;
  return (evaluation, value, step) => {
    if (typeof value !== "string") return true;
    evaluation.meter.text(value.length, times);
    return accepts(value) || evaluation.fault(step, value, () => [`a string in the format ${shorten(name)}`]);
  };
}

function rulesByName(schemas: Keywords["properties"], compiled: Rules): ReadonlyMap<string, Rule | boolean> {
  return new Map(Object.entries(schemas ?? {}).map(([name, schema]) => [name, compiled.rule(schema)]));
}

/** The names that a schema and a value share. Iterates over the shorter list. */
function namesIn(
  named: ReadonlyMap<string, unknown>,
  value: Readonly<Record<string, unknown>>,
  { meter }: Evaluation,
): readonly string[] {
  const names = Object.keys(value);
  meter.list(names.length);
  return names.length < named.size
    ? names.filter((name) => named.has(name))
    : [...named.keys()].filter((name) => Object.hasOwn(value, name));
}

/** Applies a function to each element. Continues after a fault while more findings can be collected. */
function each<T>(evaluation: Evaluation, list: readonly T[], fits: (one: T, index: number) => boolean): boolean {
  let all = true;
  for (const [index, one] of list.entries()) {
    evaluation.meter.list(1);
    if (fits(one, index)) continue;
    all = false;
    if (evaluation.isOver) break;
  }
  return all;
}
