import { format as formatsOfLibrary } from "@cfworker/json-schema";
import { isObject, typeTests } from "../../base/json.js";
import { Equality } from "./equality.js";
import type { Check, Evaluation, Finding, Rule, Step } from "./evaluation.js";
import { stepsPerCharacter } from "./linear-pattern.js";
import type { Keywords, NormalSchema, NormalSubschema } from "./normal-form.js";

/** Compiles the subschemas of a keyword to rules. */
export interface RuleMaker {
  rule(schema: NormalSubschema): Rule | boolean;
  /** The rule that a `$ref` points to. */
  target(reference: string): Rule | boolean;
}

/** Compiles a keyword, or a few that belong together, to a check; undefined if the schema contains none of them. */
type Maker = (schema: NormalSchema, maker: RuleMaker) => Check | undefined;

/**
 * The formats of 2020-12 that the library supports. It also has a `url` check of exponential time, and would take
 * `toString` for a format.
 */
const formats: ReadonlySet<string> = new Set([
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uri-template",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
  "regex",
]);

/** The cost of compiling an expression, per character: a class such as `\p{L}` expands to hundreds of ranges. */
const stepsToCompile = 64;

/** The number of `anyOf` alternatives that a message lists. */
const mostAlternatives = 5;

/** Faults are reported in this order. */
const makers: readonly [keywords: readonly string[], make: Maker][] = [
  [["$ref"], reference],
  [["type"], type],
  [["const"], (schema) => values("const", [schema.const], schema)],
  [["enum"], (schema) => values("enum", schema.enum ?? [], schema)],
  [["not"], not],
  [["anyOf"], anyOf],
  [["allOf"], allOf],
  [["oneOf"], oneOf],
  [["if"], conditional],
  [["required"], required],
  [["minProperties"], size("minProperties", isObject, (count, min) => count >= min)],
  [["maxProperties"], size("maxProperties", isObject, (count, max) => count <= max)],
  [["propertyNames"], propertyNames],
  [["dependentRequired"], dependentRequired],
  [["dependentSchemas"], dependentSchemas],
  [["properties", "patternProperties", "additionalProperties"], members],
  [["unevaluatedProperties"], unevaluatedProperties],
  [["maxItems"], size("maxItems", Array.isArray, (count, max) => count <= max)],
  [["minItems"], size("minItems", Array.isArray, (count, min) => count >= min)],
  [["prefixItems", "items"], items],
  [["contains"], contains],
  [["unevaluatedItems"], unevaluatedItems],
  [["uniqueItems"], uniqueItems],
  [["minimum"], bound("minimum", (value, min) => value >= min)],
  [["maximum"], bound("maximum", (value, max) => value <= max)],
  [["exclusiveMinimum"], bound("exclusiveMinimum", (value, min) => value > min)],
  [["exclusiveMaximum"], bound("exclusiveMaximum", (value, max) => value < max)],
  [["multipleOf"], bound("multipleOf", isMultipleOf)],
  [["minLength"], length("minLength", (count, min) => count >= min)],
  [["maxLength"], length("maxLength", (count, max) => count <= max)],
  [["pattern"], pattern],
  [["format"], format],
];

/** The checks of a schema. Each check charges the meter for its cost beyond one step. */
export function checksOf(schema: NormalSchema, maker: RuleMaker): readonly Check[] {
  return makers.flatMap(([keywords, make]) =>
    keywords.some((keyword) => schema[keyword] !== undefined) ? (make(schema, maker) ?? []) : [],
  );
}

/** The finding of a keyword. */
function finding(
  keyword: string,
  schema: NormalSchema,
  step: Step | undefined,
  value: unknown,
  more: Partial<Finding> = {},
): Omit<Finding, "detail" | "alternatives"> & Partial<Finding> {
  return { keyword, argument: schema[keyword], schema, step, value, ...more };
}

function reference({ $ref = "#" }: NormalSchema, maker: RuleMaker): Check {
  // Resolved at the first use: the target may refer back to this schema, which is not compiled yet.
  let target: Rule | boolean | undefined;
  return (evaluation, value, before, evaluated) => {
    target ??= maker.target($ref);
    return evaluation.apply(target, value, { before, keyword: "$ref" }, evaluated);
  };
}

function type(schema: NormalSchema): Check | undefined {
  const test = typeTest(schema.type);
  return test && ((evaluation, value, step) => test(value) || evaluation.fault(finding("type", schema, step, value)));
}

/** The test for the argument of `type`: one type, or several. */
export function typeTest(types: unknown): ((value: unknown) => boolean) | undefined {
  if (!Array.isArray(types)) return typeTests[types as string];
  const tests = [...new Set(types as readonly string[])].flatMap((name) => typeTests[name] ?? []);
  return (value) => tests.some((test) => test(value));
}

/** `const` and `enum`: one set lookup, whatever the number of values. `const` is an `enum` of one value. */
function values(keyword: "const" | "enum", allowed: readonly unknown[], schema: NormalSchema): Check {
  const equality = new Equality();
  const numbers = new Set(allowed.map((value) => equality.numberOf(value)));
  return (evaluation, value, step) => {
    const number = equality.find(value, evaluation.meter);
    return (number !== undefined && numbers.has(number)) || evaluation.fault(finding(keyword, schema, step, value));
  };
}

function not(schema: NormalSchema, maker: RuleMaker): Check {
  const rule = maker.rule(schema.not ?? false);
  return (evaluation, value, step) =>
    !evaluation.attempt(rule, value, { before: step, keyword: "not" }, undefined) ||
    evaluation.fault(finding("not", schema, step, value));
}

function anyOf(schema: NormalSchema, maker: RuleMaker): Check {
  const rules = (schema.anyOf ?? []).map((alternative) => maker.rule(alternative));
  return (evaluation, value, before, evaluated) => {
    const step = { before, keyword: "anyOf" };
    const alternatives: Finding[] = [];
    let fits = false;
    for (const [index, rule] of rules.entries()) {
      const findings = index < mostAlternatives ? alternatives : undefined;
      if (!evaluation.attempt(rule, value, step, evaluated, findings)) continue;
      fits = true;
      // Continue if evaluated members are tracked: a later alternative may evaluate more of the value.
      if (evaluated === undefined) break;
    }
    return fits || evaluation.fault(finding("anyOf", schema, before, value, { alternatives }));
  };
}

function allOf(schema: NormalSchema, maker: RuleMaker): Check {
  const rules = (schema.allOf ?? []).map((part) => maker.rule(part));
  return (evaluation, value, before, evaluated) =>
    each(evaluation, rules, (rule) => evaluation.apply(rule, value, { before, keyword: "allOf" }, evaluated));
}

function oneOf(schema: NormalSchema, maker: RuleMaker): Check {
  const rules = (schema.oneOf ?? []).map((alternative) => maker.rule(alternative));
  return (evaluation, value, before, evaluated) => {
    const step = { before, keyword: "oneOf" };
    const fitting = rules.filter((rule) => evaluation.attempt(rule, value, step, evaluated)).length;
    return fitting === 1 || evaluation.fault(finding("oneOf", schema, before, value, { detail: [fitting] }));
  };
}

function conditional(schema: NormalSchema, maker: RuleMaker): Check {
  const condition = maker.rule(schema.if ?? true);
  // biome-ignore lint/suspicious/noThenProperty: these are keywords of JSON Schema
  const branches = { then: maker.rule(schema.then ?? true), else: maker.rule(schema.else ?? true) };
  return (evaluation, value, before, evaluated) => {
    const holds = evaluation.attempt(condition, value, { before, keyword: "if" }, evaluated);
    const keyword = holds ? "then" : "else";
    return evaluation.apply(branches[keyword], value, { before, keyword }, evaluated);
  };
}

function required(schema: NormalSchema): Check {
  const names = schema.required ?? [];
  return (evaluation, value, step) =>
    !isObject(value) ||
    each(
      evaluation,
      names,
      (name) =>
        Object.hasOwn(value, name) || evaluation.fault(finding("required", schema, step, value, { detail: [name] })),
    );
}

function dependentRequired(schema: NormalSchema): Check {
  const dependencies = new Map(Object.entries(schema.dependentRequired ?? {}));
  return (evaluation, value, step) =>
    !isObject(value) ||
    each(evaluation, namesIn(dependencies, value, evaluation), (cause) =>
      each(
        evaluation,
        dependencies.get(cause) ?? [],
        (name) =>
          Object.hasOwn(value, name) ||
          evaluation.fault(finding("dependentRequired", schema, step, value, { detail: [cause, name] })),
      ),
    );
}

function dependentSchemas(schema: NormalSchema, maker: RuleMaker): Check {
  const rules = rulesByName(schema.dependentSchemas, maker);
  return (evaluation, value, before, evaluated) =>
    !isObject(value) ||
    each(evaluation, namesIn(rules, value, evaluation), (name) =>
      evaluation.apply(rules.get(name) ?? true, value, { before, keyword: "dependentSchemas" }, evaluated),
    );
}

function propertyNames(schema: NormalSchema, maker: RuleMaker): Check {
  const rule = maker.rule(schema.propertyNames ?? true);
  return (evaluation, value, before) =>
    !isObject(value) ||
    each(evaluation, Object.keys(value), (token) =>
      evaluation.apply(rule, token, { before, keyword: "propertyNames", token }),
    );
}

/**
 * `properties`, `patternProperties` and `additionalProperties` in one check, because the last depends on the other two.
 */
function members(schema: NormalSchema, maker: RuleMaker): Check {
  const rules = rulesByName(schema.properties, maker);
  const additional = maker.rule(schema.additionalProperties ?? true);
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([source, rule]) => [meteredPattern(source), maker.rule(rule)] as const,
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

function unevaluatedProperties(schema: NormalSchema, maker: RuleMaker): Check {
  const rule = maker.rule(schema.unevaluatedProperties ?? true);
  return (evaluation, value, before, evaluated) =>
    !isObject(value) ||
    each(evaluation, Object.keys(value), (token) => {
      if (evaluated?.has(token)) return true;
      evaluated?.add(token);
      return evaluation.apply(rule, value[token], { before, keyword: "unevaluatedProperties", token });
    });
}

function items(schema: NormalSchema, maker: RuleMaker): Check {
  const prefix = (schema.prefixItems ?? []).map((item) => maker.rule(item));
  const rest = schema.items === undefined ? undefined : maker.rule(schema.items);
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

function contains(schema: NormalSchema, maker: RuleMaker): Check {
  const rule = maker.rule(schema.contains ?? true);
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
    const keyword = count > max ? "maxContains" : schema.minContains === undefined ? "contains" : "minContains";
    return evaluation.fault(finding(keyword, schema, before, value));
  };
}

function unevaluatedItems(schema: NormalSchema, maker: RuleMaker): Check {
  const rule = maker.rule(schema.unevaluatedItems ?? true);
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
        return evaluation.fault(finding("uniqueItems", schema, step, value, { detail: [first, index] }));
      }
      indices.set(number, index);
    }
    return true;
  };
}

/** A keyword that limits the number of members or items. */
function size(
  keyword: "minProperties" | "maxProperties" | "minItems" | "maxItems",
  isOf: (value: unknown) => value is object,
  fits: Fits,
): Maker {
  return limited(keyword, fits, (fitsLimit, schema) => (evaluation, value, step) => {
    if (!isOf(value)) return true;
    const count = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (!Array.isArray(value)) evaluation.meter.list(count);
    return fitsLimit(count) || evaluation.fault(finding(keyword, schema, step, value));
  });
}

/** Whether a number fits the argument of a keyword. */
type Fits = (value: number, argument: number) => boolean;

/** A keyword whose argument is a number: makes its check with a comparison with the argument. */
function limited(
  keyword: keyof { [Name in keyof Keywords as Keywords[Name] extends number | undefined ? Name : never]: unknown },
  fits: Fits,
  make: (fitsLimit: (value: number) => boolean, schema: NormalSchema) => Check,
): Maker {
  return (schema) => {
    const argument = schema[keyword];
    return argument === undefined ? undefined : make((value) => fits(value, argument), schema);
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

function bound(
  keyword: "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
  fits: Fits,
): Maker {
  return limited(
    keyword,
    fits,
    (fitsLimit, schema) => (evaluation, value, step) =>
      typeof value !== "number" || fitsLimit(value) || evaluation.fault(finding(keyword, schema, step, value)),
  );
}

/** A keyword that limits the length of a string in code points; some take two UTF-16 code units. */
function length(keyword: "minLength" | "maxLength", fits: Fits): Maker {
  return limited(keyword, fits, (fitsLimit, schema) => (evaluation, value, step) => {
    if (typeof value !== "string") return true;
    evaluation.meter.text(value.length);
    const pairs = value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0;
    return fitsLimit(value.length - pairs) || evaluation.fault(finding(keyword, schema, step, value));
  });
}

function pattern(schema: NormalSchema): Check {
  const matches = meteredPattern(schema.pattern ?? "");
  return (evaluation, value, step) =>
    typeof value !== "string" ||
    matches(value, evaluation) ||
    evaluation.fault(finding("pattern", schema, step, value));
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
    return accepts(value) || evaluation.fault(finding("format", schema, step, value));
  };
}

function rulesByName(schemas: Keywords["properties"], maker: RuleMaker): ReadonlyMap<string, Rule | boolean> {
  return new Map(Object.entries(schemas ?? {}).map(([name, schema]) => [name, maker.rule(schema)]));
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
