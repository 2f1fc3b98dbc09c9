import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { usageFailure } from "../failure.js";
import { splitWords } from "../target/target.js";

/** An argument as it was written: `name=text`, or `name:=json`. */
export interface WrittenArgument {
  readonly name: string;
  readonly text: string;
  /** Whether the text is JSON. */
  readonly verbatim: boolean;
}

/** The forms of arguments, for help pages. */
export const argumentHelp = `Arguments are written as
  name=text     a number, true/false, an array or an object if the tool's
                inputSchema has that type, otherwise a string
  name:=json    any JSON: count:=3  tags:='["a","b"]'  filter:='{"since":"now"}'`;

/** Parses arguments. @throws Failure for an invalid or duplicate argument */
export function parseArguments(words: readonly string[]): readonly WrittenArgument[] {
  const parsed = words.map(parseArgument);
  const twice = parsed.find(({ name }, index) => parsed.findIndex((each) => each.name === name) < index);
  if (twice !== undefined) throw usageFailure(`the argument ${twice.name} is given twice`);
  return parsed;
}

/** Parses arguments that are always text, such as those of prompts. @throws Failure */
export function parseTextArguments(words: readonly string[]): Readonly<Record<string, string>> {
  const parsed = parseArguments(words);
  const json = parsed.find(({ verbatim }) => verbatim);
  if (json !== undefined)
    throw usageFailure(`${json.name} is text here, and not JSON`, `${json.name}=${json.text} gives the text itself`);
  return Object.fromEntries(parsed.map(({ name, text }) => [name, text]));
}

function parseArgument(word: string): WrittenArgument {
  const [, name, colon, text = ""] = /^(.+?)(:?)=(.*)$/s.exec(word) ?? [];
  const isUrl = /^(?:https?|wss?):\/\//.test(word);
  const remedy = isUrl ? "the target comes before the name of the tool" : "write name=text or name:=json";
  if (name === undefined) throw usageFailure(`${word} is not an argument`, remedy);
  return { name, text, verbatim: colon === ":" };
}

/** The arguments of a call, typed by the schema of the tool. @throws Failure for invalid JSON */
export function argumentsFor(written: readonly WrittenArgument[], inputSchema: JsonObject): JsonObject {
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  // `fromEntries` defines members, so that `__proto__` is an ordinary name.
  return Object.fromEntries(
    written.map(({ name, text, verbatim }) => [
      name,
      verbatim ? json(name, text) : coerce(text, Object.hasOwn(properties, name) ? properties[name] : undefined),
    ]),
  );
}

function json(name: string, text: string): unknown {
  try {
    return ExactNumber.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`${name}:=${text} is not JSON: ${why}`, `${name}=${text} gives the text itself`);
  }
}

const words: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/** Converts a text to the type in the schema. Text that does not look like the type stays a string, which the server refuses. */
function coerce(text: string, schema: unknown): unknown {
  const { type } = isObject(schema) ? schema : { type: undefined };
  const types = new Set<unknown>(Array.isArray(type) ? type : [type]);
  if (types.has("string")) return text;
  if (types.has("boolean") && words.has(text)) return words.get(text);
  if (types.has("array") || types.has("object")) return compound(text, types) ?? text;
  const [literal, , fraction = "", exponent] = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.exec(text) ?? [];
  if (literal === undefined) return text;
  const isWhole = exponent === undefined ? /^\.?0*$/.test(fraction) : Number.isInteger(Number(literal));
  // An integer beyond 2^53 is kept exact.
  return types.has("number") || (types.has("integer") && isWhole) ? ExactNumber.parse(literal) : text;
}

/** The array or object that a text is as JSON, if the schema has that type. */
function compound(text: string, types: ReadonlySet<unknown>): unknown {
  try {
    const value = ExactNumber.parse(text);
    return (Array.isArray(value) ? types.has("array") : isObject(value) && types.has("object")) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A call of the command line. */
export interface WantedCall {
  readonly tool: string;
  readonly args: readonly WrittenArgument[];
}

/** Parses the value of `--call`. @throws Failure */
export function parseCall(text: string): WantedCall {
  const [tool, ...args] = splitWords(text) ?? [];
  if (tool === undefined)
    throw usageFailure(`--call ${text}: name the tool, close the quotes`, '--call "add a:=2 b:=3"');
  return { tool, args: parseArguments(args) };
}
