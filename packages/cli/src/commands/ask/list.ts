import { type Client, RpcError } from "@parlance/mcp/client";
import { codes, didYouMean, escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { Command } from "commander";
import { Answerer } from "../../shared/answers/answerer.js";
import { converse } from "../../shared/client/converse.js";
import {
  type AskOptions,
  isAsked,
  isOver,
  type ListName,
  type OfferedList,
  offeredLists,
  readList,
} from "../../shared/client/exercise.js";
import { type OneRevisionFlags, registerServerCommand, type TargetWords } from "../../shared/client/server-command.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, toFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { chooseTarget } from "../../shared/options.js";
import { cut, left, widthOf, wrapWords } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Look } from "../../shared/output/rows.js";
import type { Output } from "../../shared/output/terminal.js";
import { alsoBroken } from "./ask-server.js";

const about = `List the tools of a server with their arguments, its resources, resource templates and
prompts; or only those that are named: tools, resources, templates, prompts.`;

/** Adds `parlance list`. */
export function registerList(program: Command, invocation: Invocation): void {
  registerServerCommand<OneRevisionFlags>(program, invocation, {
    name: "list",
    summary: "print the tools, resources and prompts that a server offers",
    description: about,
    words: "[list…]",
    json: "print everything as one JSON object, for programs",
    examples: `  parlance list "node server.js"
  parlance list tools -- node server.js
  parlance list https://example.com/mcp resources templates
  parlance list --json ./server.js tools | jq -r '.tools[].name'`,
    run: list,
  });
}

async function list(
  { target: word, rest: names }: TargetWords,
  flags: OneRevisionFlags,
  invocation: Invocation,
): Promise<number> {
  const wanted = names.length === 0 ? offeredLists : names.map(listNamed);
  if (word !== undefined && names.length === 0 && offeredLists.some(({ name }) => name === word))
    throw usageFailure(`there is no target whose ${word} to list`, `parlance list ${word} -- node server.js`);
  const target = await chooseTarget(word, invocation.command, flags);
  const answerer = new Answerer(flags, target.title, invocation);
  return converse({ target, flags, invocation, answerer }, async (client, observed) => {
    const found: Found[] = [];
    const options = { signal: invocation.interrupt.stop, force: flags.force === true };
    for (const each of wanted) found.push(await read(client, each, options));
    const { out, err } = invocation;
    if (flags.json === true) out.print(jsonLine(jsonOf(client, found)));
    else print(client, found, names.length > 0, out);
    const { violations } = observed.conversation.tally;
    err.print(...alsoBroken(observed.conversation, err.style));
    const failed = found.find(({ failure }) => failure !== undefined);
    if (failed?.failure !== undefined) return failed.failure.exitCode;
    return violations > 0 ? exitCodes.violations : exitCodes.clean;
  });
}

function listNamed(name: string): OfferedList {
  const found = offeredLists.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = offeredLists.map((each) => each.name);
  throw usageFailure(`${name} is none of ${names.join(", ")}`, didYouMean(name, names));
}

/** The result of listing one kind of item. */
interface Found {
  readonly list: OfferedList;
  readonly items: readonly unknown[];
  readonly isOffered: boolean;
  /** Why listing stopped early. */
  readonly failure?: Failure;
}

async function read(client: Client, list: OfferedList, options: AskOptions): Promise<Found> {
  if (!isAsked(client, list, options.force)) return { list, items: [], isOffered: false };
  const items: unknown[] = [];
  try {
    const failure = await readList(client, list, options, (item) => items.push(item));
    if (failure === undefined) return { list, items, isOffered: true };
    return { list, items, isOffered: true, failure: new Failure(failure, { exitCode: exitCodes.toolFailed }) };
  } catch (error) {
    if (!(error instanceof RpcError)) {
      if (isOver(client, error)) throw error;
      return { list, items, isOffered: true, failure: toFailure(error, "open") };
    }
    // The server has not advertised it.
    if (client.server.capabilities[list.capability] === undefined) return { list, items: [], isOffered: false };
    // Many servers have resources but no templates method: that is not a failure.
    if (list.name === "templates" && error.code === codes.methodNotFound) return { list, items, isOffered: false };
    return { list, items, isOffered: true, failure: toFailure(error, "open") };
  }
}

function jsonOf({ server, revision }: Client, found: readonly Found[]): object {
  const lists = found.flatMap(({ list: { member }, items, isOffered }) =>
    isOffered ? [[member, items] as const] : [],
  );
  const failures = found.flatMap(({ list, failure }) =>
    failure === undefined ? [] : [{ list: list.name, failure: failure.message }],
  );
  const { info, instructions } = server;
  return { server: info, revision, instructions, ...Object.fromEntries(lists), ...(failures[0] && { failures }) };
}

function print({ server, revision }: Client, found: readonly Found[], isAsked: boolean, out: Output): void {
  const { style, width } = out;
  const { name = "a server without a name", version = "" } = server.info ?? {};
  out.print(`${style.bold(cut(`${name} ${version}`.trim(), width - 16))}${style.dim(` in ${revision}`)}`);
  for (const { list, items, isOffered, failure } of found) {
    if (!isOffered && !isAsked) continue;
    out.print("", headOf(list.name, items.length, isOffered), ...listLines(list.name, items, out));
    if (failure !== undefined) out.print(...failureLines(failure, out));
  }
  if (!isAsked && found.every(({ isOffered }) => !isOffered))
    out.print("", "It offers neither tools nor resources nor prompts; --force lists them anyway.");
}

function failureLines({ message, remedy }: Failure, { style, width }: Look): readonly string[] {
  const room = width - 2 * indent.length;
  const [first = "", ...more] = wrapWords(escapeControls(message), room).map((line) => cut(line, room));
  const advice = remedy === undefined ? [] : wrapWords(`→ ${remedy}`, room);
  return [
    `${indent}${style.red(`✖ ${first}`)}`,
    ...more.map((line) => `${indent}${indent}${style.red(line)}`),
    ...advice.map((line) => `${indent}${indent}${style.dim(line)}`),
  ];
}

function headOf(name: ListName, amount: number, isOffered: boolean): string {
  return isOffered
    ? `${amount} ${amount === 1 ? name.slice(0, -1) : name}`
    : `no ${name}: the server does not offer any`;
}

/** One row of a list: a name with its description. */
interface Entry {
  readonly name: string;
  readonly description: string;
  /** The arguments of a tool or prompt; for another item, its facts. */
  readonly details: readonly string[];
  /** The effects that a tool declares, e.g. `read-only`. Default: none. */
  readonly marks?: readonly string[];
}

const indent = "  ";
const narrowestName = 8;
const widestName = 32;

/** The items of one list as lines: name and description, then the arguments. */
function listLines(name: ListName, items: readonly unknown[], { style, width }: Look): readonly string[] {
  const entries = items.map((item) => entryOf(name, isObject(item) ? item : {}));
  const longest = Math.max(narrowestName, ...entries.map((entry) => widthOf(cut(entry.name, widestName))));
  const start = indent.length + longest + indent.length;
  const room = width - start;
  return entries.flatMap(({ name: written, description, details, marks = [] }) => {
    // Users copy names into commands, so names are never cut; a long one gets a line of its own.
    const isLong = widthOf(cut(written, width)) > longest;
    const first = style.bold(isLong ? cut(written, width - indent.length) : left(written, longest));
    const lines = [cut(description, room), ...[...wrap(details, room), ...wrap(marks, room)].map(style.dim)].filter(
      (line) => line !== "",
    );
    const [beside = "", ...below] = isLong ? ["", ...lines] : lines;
    return [`${indent}${first}${indent}${beside}`.trimEnd(), ...below.map((line) => " ".repeat(start) + line)];
  });
}

function entryOf(name: ListName, item: JsonObject): Entry {
  const entry = entries[name](item);
  return entry.name === "" ? { ...entry, name: "(no name)" } : entry;
}

const entries: Readonly<Record<ListName, (item: JsonObject) => Entry>> = {
  tools: (tool) => ({
    name: text(tool.name),
    description: oneLine(tool.description ?? tool.title),
    details: isObject(tool.inputSchema) ? memberTexts(tool.inputSchema) : [],
    marks: marksOf(tool.annotations),
  }),
  resources: (resource) => resourceEntry(resource, text(resource.uri)),
  templates: (template) => resourceEntry(template, text(template.uriTemplate)),
  prompts: (prompt) => ({
    name: text(prompt.name),
    description: oneLine(prompt.description ?? prompt.title),
    details: (Array.isArray(prompt.arguments) ? prompt.arguments : []).filter(isObject).map(argumentText),
  }),
};

/** The effects that the annotations of a tool declare. */
function marksOf(annotations: unknown): readonly string[] {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true) return ["read-only"];
  return destructiveHint === true ? ["destructive"] : [];
}

function resourceEntry({ name, title, description, mimeType }: JsonObject, uri: string): Entry {
  const said = [title ?? name, description].map(oneLine).filter((part) => part !== "");
  return { name: uri, description: said.join(": "), details: mimeType === undefined ? [] : [text(mimeType)] };
}

function argumentText({ name, required }: JsonObject): string {
  return `${text(name)}${required === true ? "" : "?"}`;
}

/** Joins words of the server with commas, in lines of at most `width` columns. */
function wrap(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const written = cut(index < words.length - 1 ? `${word},` : word, width);
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + 1 + widthOf(written) > width) lines.push(written);
    else lines[lines.length - 1] = `${line} ${written}`;
  }
  return lines;
}

/** The first sentence or line of a description; `parlance list --json` prints the whole description. */
function oneLine(value: unknown): string {
  const [first = ""] = text(value).trim().split(/\r?\n/);
  return first.trim();
}

function text(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Limits for schemas of a server, which may nest without end. */
const deepest = 3;
const mostChoices = 6;

/** The properties of a schema: `query: string, limit?: integer`. The text comes from the server: escape it. */
function memberTexts({ properties, required }: JsonObject): readonly string[] {
  if (!isObject(properties)) return [];
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  // Required properties first.
  const names = Object.keys(properties).toSorted((a, b) => Number(needed.has(b)) - Number(needed.has(a)));
  const unknown = [...needed].filter((name) => typeof name === "string" && !Object.hasOwn(properties, name));
  return [
    ...names.map((name) => `${name}${needed.has(name) ? "" : "?"}: ${typeText(properties[name])}`),
    ...unknown.map((name) => `${name}: required, and not in properties`),
  ];
}

function typeText(schema: unknown, depth = 0): string {
  if (!isObject(schema) || depth === deepest) return "any";
  const inner = (each: unknown): string => typeText(each, depth + 1);
  const { type, enum: values, anyOf, oneOf, items, $ref: ref } = schema;
  if (Array.isArray(values)) return choice(values.map((value) => JSON.stringify(value)));
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(type)) return choice(type.map((each) => inner({ ...schema, type: each })));
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return choice(alternatives.map(inner));
  if (type === "array") return items === undefined ? "array" : arrayText(inner(items));
  if (typeof type === "string") return type;
  const [, definition = "any"] = typeof ref === "string" ? (/([^/#]+)$/.exec(ref) ?? []) : [];
  return definition;
}

function arrayText(item: string): string {
  return item.includes("|") ? `(${item})[]` : `${item}[]`;
}

function choice(texts: readonly string[]): string {
  const shown = [...new Set(texts)].slice(0, mostChoices);
  return (texts.length > mostChoices ? [...shown, "…"] : shown).join("|");
}
