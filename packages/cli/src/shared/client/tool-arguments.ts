import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { messageOf, usageFailure } from "../failure.js";
import { parsedJson } from "../parsed-json.js";
import { splitWords } from "../target/target.js";

/** An argument of the command line: `name=text`, which the schema of the tool gives a type, or a value that was written as JSON. */
export type WrittenArgument = { readonly name: string } & ({ readonly text: string } | { readonly value: unknown });

/** The forms of arguments, for help pages. */
export const argumentHelp = `Arguments are written as
  name=text     a number, true/false, an array or an object if the tool's
                inputSchema has that type, otherwise a string
  name:=json    any JSON: count:=3  tags:='["a","b"]'  filter:='{"since":"now"}'
  '{"name":…}'  all of them, or several, as a JSON object`;

/** Parses arguments. @throws Failure for an invalid or duplicate argument */
export function parseArguments(words: readonly string[]): readonly WrittenArgument[] {
  const parsed = words.flatMap(parseArgument);
  const twice = parsed.find(({ name }, index) => parsed.findIndex((each) => each.name === name) < index);
  if (twice !== undefined) throw usageFailure(`the argument ${twice.name} is given twice`);
  return parsed;
}

/** Parses arguments that are always text, such as those of prompts. @throws Failure */
export function parseTextArguments(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parseArguments(words).map((argument) => {
      const { name } = argument;
      const text = "text" in argument ? argument.text : argument.value;
      if (typeof text === "string") return [name, text];
      const json = ExactNumber.stringify(text);
      throw usageFailure(`${name} is text here, and not JSON`, `${name}='${json}' gives the text itself`);
    }),
  );
}

function parseArgument(word: string): readonly WrittenArgument[] {
  if (word.startsWith("{")) return membersOf(word);
  const [, name, colon, text = ""] = /^(.+?)(:?)=(.*)$/s.exec(word) ?? [];
  const isUrl = /^(?:https?|wss?):\/\//.test(word);
  const remedy = isUrl
    ? "the target comes before the name of the tool"
    : "write name=text or name:=json; a text with spaces has quotes: name='a text'";
  if (name === undefined) throw usageFailure(`${word} is not an argument`, remedy);
  return [colon === "" ? { name, text } : { name, value: json(text, word, `${name}=${text} gives the text itself`) }];
}

/** The members of a JSON object, each as an argument. */
function membersOf(word: string): readonly WrittenArgument[] {
  const value = json(word, word, `in a shell, put it in single quotes: '{"name":"Ada"}'`);
  return Object.entries(value as JsonObject).map(([name, value]) => ({ name, value })); // It starts with a brace.
}

function json(text: string, word: string, remedy: string): unknown {
  try {
    return ExactNumber.parse(text);
  } catch (error) {
    throw usageFailure(`${word} is not JSON: ${messageOf(error)}`, remedy);
  }
}

/** The arguments of a call, typed by the schema of the tool. */
export function argumentsFor(written: readonly WrittenArgument[], inputSchema: JsonObject): JsonObject {
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  // `fromEntries` defines members, so that `__proto__` is an ordinary name.
  return Object.fromEntries(
    written.map((argument) => {
      const { name } = argument;
      if ("value" in argument) return [name, argument.value];
      return [name, coerce(argument.text, Object.hasOwn(properties, name) ? properties[name] : undefined)];
    }),
  );
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
  const [tool, ...args] = splitWords(quoteJson(text)) ?? [];
  if (tool === undefined)
    throw usageFailure(`--call ${text}: name the tool, close the quotes`, '--call "add a:=2 b:=3"');
  return { tool, args: parseArguments(args) };
}

/** Quotes each JSON array and object of a text, so that `splitWords` keeps the quotes inside of it. */
function quoteJson(text: string): string {
  const place = /'[^']*'|"(?:[^"\\]|\\.)*"|(?<=^|[\s=])[{[]/gs;
  let quoted = "";
  let end = 0;
  for (let found = place.exec(text); found !== null; found = place.exec(text)) {
    const json = /^[{[]/.test(found[0]) ? jsonAt(text, found.index) : undefined;
    if (json === undefined) continue;
    quoted += `${text.slice(end, found.index)}"${json.replace(/["\\]/g, "\\$&")}"`;
    end = place.lastIndex = found.index + json.length;
  }
  return quoted + text.slice(end);
}

/** The JSON array or object that starts at `start`; undefined if there is none. */
function jsonAt(text: string, start: number): string | undefined {
  for (const { index } of text.matchAll(/[}\]]/g)) {
    const candidate = text.slice(start, index + 1);
    if (index > start && parsedJson(candidate) !== undefined) return candidate;
  }
  return undefined;
}
