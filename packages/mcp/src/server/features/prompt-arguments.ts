import { checkMembers } from "../../base/check-members.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { promptArgumentMembers } from "../../protocol/member-tables.js";
import type { PromptArgument } from "../../protocol/types/prompts.js";
import { type CompiledSchema, compile, compileFor, type InferOutput, type Schema } from "../../schema/compile.js";
import { isRawShape, type RawShape } from "../../schema/raw-shape.js";

/** A schema of any library that speaks Standard Schema. */
type StandardSchema = Extract<Schema, { readonly "~standard": unknown }>;

type ArgumentWords = Omit<PromptArgument, "name">;

/** Arguments of a prompt: by name, as descriptions or schemas, or one Standard Schema of an object of strings. */
export type PromptArguments = Readonly<Record<string, ArgumentWords>> | StandardSchema | RawShape;

/** What may take the place of arguments: the same ones in other words, so that the handler still gets what it expects. */
export type ReplaceableArguments<Arguments> = Arguments extends StandardSchema | RawShape | undefined
  ? Arguments
  : {
      readonly [Name in keyof Arguments]: Arguments[Name] extends { readonly required: true }
        ? ArgumentWords & { readonly required: true }
        : ArgumentWords;
    };

/** The arguments as a handler gets them. */
export type ArgumentsOf<Arguments> = Arguments extends StandardSchema | RawShape
  ? InferOutput<Arguments>
  : Arguments extends undefined
    ? Readonly<Record<string, never>>
    : { readonly [Name in RequiredName<Arguments>]: string } & {
        readonly [Name in Exclude<keyof Arguments, RequiredName<Arguments>>]?: string;
      };

/** The name of an argument. */
export type ArgumentName<Arguments> = Arguments extends StandardSchema
  ? keyof InferOutput<Arguments> & string
  : keyof Arguments & string;

type RequiredName<Arguments> = {
  [Name in keyof Arguments]: Arguments[Name] extends { readonly required: true } ? Name : never;
}[keyof Arguments];

/** Arguments as they are served: what checks them, and what a list shows of them. */
export interface CompiledArguments {
  readonly input: CompiledSchema;
  readonly shown: readonly PromptArgument[];
}

/**
 * Makes a check and a list of what a prompt is filled in with.
 * @throws TypeError for an argument that is not a string; SchemaError for a schema that cannot be served
 */
export function compileArguments(given: PromptArguments = {}): CompiledArguments {
  if (isStandard(given) || isRawShape(given)) {
    const input = compileFor("arguments", given, { root: "object" });
    return { input, shown: shownOf(input.json) };
  }
  for (const [name, words] of Object.entries(given)) checkMembers(`The argument ${name}`, words, promptArgumentMembers);
  const shown = Object.entries(given).map(([name, words]) => ({ name, ...words }));
  const schema = {
    type: "object",
    properties: Object.fromEntries(shown.map(({ name }) => [name, { type: "string" }])),
    required: shown.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
  return { input: compile(schema), shown };
}

function isStandard(given: PromptArguments): given is StandardSchema {
  return "~standard" in given;
}

/** What the list can say of the properties of a schema: the wire has no more words for them. */
function shownOf({ properties = {}, required = [] }: JsonObject): readonly PromptArgument[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const { title, description } = isObject(property) ? property : ({} as JsonObject);
    if (!isText(property)) {
      throw new TypeError(
        `The argument ${JSON.stringify(name)} of a prompt must be a string: it has no other type on the wire`,
      );
    }
    return {
      name,
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof description === "string" ? { description } : {}),
      ...(needed.includes(name) ? { required: true } : {}),
    };
  });
}

/** True for a schema that says itself, in one of the ways in which libraries say it, that its values are strings. */
function isText(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, const: only, enum: some, anyOf = schema.oneOf } = schema;
  if (type === "string" || typeof only === "string") return true;
  if (Array.isArray(some)) return some.every((value) => typeof value === "string");
  return Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(isText);
}
