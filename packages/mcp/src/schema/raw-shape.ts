import type { StandardSchemaV1, StandardTypedV1 } from "@standard-schema/spec";
import { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import { isPromise, markHandled } from "../base/maybe-promise.js";
import {
  describeStandard,
  isValidating,
  type StandardProps,
  standardProps,
  type Validating,
} from "./standard-schema.js";

/** An object of named schemas, e.g. `{ a: z.number() }`: shorthand for an object schema, as in the official SDKs. */
export type RawShape = Readonly<Record<string, StandardTypedV1>>;

/** True for an object whose members are all Standard Schemas. */
export function isRawShape(value: unknown): value is RawShape {
  if (!isObject(value) || standardProps(value) !== undefined) return false;
  const fields = Object.values(value);
  return fields.length > 0 && fields.every((field) => standardProps(field) !== undefined);
}

interface Field {
  readonly name: string;
  readonly schema: unknown;
  readonly props: StandardProps;
}

type Result = StandardSchemaV1.Result<unknown>;

/**
 * Builds a Standard Schema for an object with these fields, without using any of the libraries. Other members are
 * stripped from the value, as zod does.
 */
export function shapeProps(shape: RawShape): StandardProps {
  const fields = Object.entries(shape).map(([name, schema]): Field => {
    return { name, schema, props: standardProps(schema) as StandardProps }; // Checked by `isRawShape`.
  });
  const described = {
    input: () => describe(fields, "input"),
    output: () => describe(fields, "output"),
  };
  const props = { version: 1, vendor: "fields", jsonSchema: described } as const;
  const checks = fields.flatMap(({ name, props: own }) => (isValidating(own) ? [{ name, props: own }] : []));
  return checks.length < fields.length ? props : { ...props, validate: (value: unknown) => validate(checks, value) };
}

function describe(fields: readonly Field[], side: "input" | "output"): Record<string, unknown> {
  const described = fields.map(({ name, schema, props }) => {
    const json = describeStandard(schema, props, side);
    const isLeftOut = isOptional(schema, props, side);
    return { name, isLeftOut, json: isLeftOut ? withoutUndefined(json) : json };
  });
  const dialects = new Set(described.map(({ json }) => json.$schema));
  const [dialect] = dialects;
  const required = described.filter(({ isLeftOut }) => !isLeftOut).map(({ name }) => name);
  return {
    ...(dialects.size === 1 && dialect !== undefined ? { $schema: dialect } : {}),
    type: "object",
    properties: Object.fromEntries(
      described.map(({ name, json: { $schema, ...json } }) => [
        name,
        movedTo(`#/properties/${pointerToken(name)}`, json),
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Keywords whose arguments are data: a `$ref` in them is an ordinary member. */
const values: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** A document as a part of another one, with its references adjusted to the new place. */
function movedTo(place: string, json: unknown): unknown {
  if (Array.isArray(json)) return json.map((item) => movedTo(place, item));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([keyword, argument]) => {
      if (keyword === "$ref" && typeof argument === "string" && /^#(\/|$)/.test(argument)) {
        return [keyword, `${place}${argument.slice(1)}`];
      }
      return [keyword, values.has(keyword) ? argument : movedTo(place, argument)];
    }),
  );
}

/**
 * The schema of an optional field without the choice of undefined. By itself, `z.string().optional()` of zod 3 is
 * `{ anyOf: [{ not: {} }, { type: "string" }] }`: in an object, the field is not required instead.
 */
function withoutUndefined(json: JsonObject): JsonObject {
  const { anyOf, ...rest } = json;
  const [nothing, other, ...others] = Array.isArray(anyOf) ? (anyOf as readonly unknown[]) : [];
  const isChoice = isObject(nothing) && isObject(nothing.not) && Object.keys(nothing.not).length === 0;
  return isChoice && isObject(other) && others.length === 0 ? { ...other, ...rest } : json;
}

/** Whether the field may be missing on the given side. */
function isOptional(schema: unknown, props: StandardProps, side: "input" | "output"): boolean {
  // zod 4 states it. Validating `undefined` would give the wrong answer for schemas that coerce.
  if (isObject(schema) && isObject(schema._zod))
    return schema._zod[side === "input" ? "optin" : "optout"] !== undefined;
  if (!isValidating(props)) return false;
  try {
    const result = markHandled(props.validate(undefined));
    if (isPromise(result)) return false;
    return result.issues === undefined && (side === "input" || result.value === undefined);
  } catch {
    return false; // An author's function that does not accept undefined.
  }
}

interface Check {
  readonly name: string;
  readonly props: Validating;
}

function validate(checks: readonly Check[], value: unknown): Result | Promise<Result> {
  if (!isObject(value)) return { issues: [{ message: `expected an object, got ${kindOf(value)}` }] };
  const results = checks.map(({ name, props }) => props.validate(Object.hasOwn(value, name) ? value[name] : undefined));
  return results.some(isPromise)
    ? Promise.all(results).then((settled) => join(checks, settled, value))
    : join(checks, results as readonly Result[], value); // No promises among them.
}

function join(checks: readonly Check[], results: readonly Result[], given: JsonObject): Result {
  const issues: StandardSchemaV1.Issue[] = [];
  const members: [string, unknown][] = [];
  results.forEach((result, index) => {
    const { name } = checks[index] as Check; // There is one result per check.
    if (result.issues !== undefined) {
      issues.push(...result.issues.map((issue) => ({ ...issue, path: [name, ...(issue.path ?? [])] })));
    } else if (result.value !== undefined || Object.hasOwn(given, name)) {
      members.push([name, result.value]);
    }
  });
  return issues.length > 0 ? { issues } : { value: Object.fromEntries(members) };
}
