import type { StandardSchemaV1, StandardTypedV1 } from "@standard-schema/spec";
import { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import { handled, isPromise } from "../base/later.js";
import {
  describeStandard,
  isValidating,
  type StandardProps,
  standardProps,
  type Validating,
} from "./standard-schema.js";

/** Fields by name, e.g. `{ a: z.number() }`: short for an object of them, as the official SDKs take it. */
export type RawShape = Readonly<Record<string, StandardTypedV1>>;

/** True for an object with nothing but schemas of libraries in it. */
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
 * The object of the fields as a Standard Schema of its own, so that none of the libraries is needed here. What is not one of
 * the fields is left out of the value, as zod does.
 */
export function shapeProps(shape: RawShape): StandardProps {
  const fields = Object.entries(shape).map(([name, schema]): Field => {
    return { name, schema, props: standardProps(schema) as StandardProps }; // `isRawShape` has looked.
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
  const described = fields.map((field) => ({ ...field, json: describeStandard(field.schema, field.props, side) }));
  const dialects = new Set(described.map(({ json }) => json.$schema));
  const [dialect] = dialects;
  const required = described.filter(({ schema, props }) => !isOptional(schema, props, side)).map(({ name }) => name);
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

/** Keywords whose arguments are values, in which `$ref` is a member like any other. */
const values: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** A document as a part of another one: its references lead to its new place. */
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

/** Whether the field may be missing from what is taken in, or from what is given out. */
function isOptional(schema: unknown, props: StandardProps, side: "input" | "output"): boolean {
  // zod 4 says so. Asked for a value it would also take a missing one where it coerces.
  if (isObject(schema) && isObject(schema._zod))
    return schema._zod[side === "input" ? "optin" : "optout"] !== undefined;
  if (!isValidating(props)) return false;
  try {
    const result = handled(props.validate(undefined));
    if (isPromise(result)) return false;
    return result.issues === undefined && (side === "input" || result.value === undefined);
  } catch {
    return false; // A function of the author that does not expect undefined.
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
    : join(checks, results as readonly Result[], value); // None is a promise.
}

function join(checks: readonly Check[], results: readonly Result[], given: JsonObject): Result {
  const issues: StandardSchemaV1.Issue[] = [];
  const members: [string, unknown][] = [];
  results.forEach((result, index) => {
    const { name } = checks[index] as Check; // One result for each.
    if (result.issues !== undefined) {
      issues.push(...result.issues.map((issue) => ({ ...issue, path: [name, ...(issue.path ?? [])] })));
    } else if (result.value !== undefined || Object.hasOwn(given, name)) {
      members.push([name, result.value]);
    }
  });
  return issues.length > 0 ? { issues } : { value: Object.fromEntries(members) };
}
