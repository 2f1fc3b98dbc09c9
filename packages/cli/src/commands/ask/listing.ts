import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { ListName } from "../../shared/client/advertised.js";
import { cut, left, widthOf } from "../../shared/output/columns.js";
import type { Look } from "../../shared/output/rows.js";

/** One row of a list: a name and what describes it. */
interface Entry {
  readonly name: string;
  readonly description: string;
  /** Its arguments, or what it is. */
  readonly details: readonly string[];
}

const indent = "  ";
const narrowestName = 8;
const widestName = 32;

/** The items of one list as lines: name and description, then the arguments. */
export function listLines(name: ListName, items: readonly unknown[], { style, width }: Look): readonly string[] {
  const entries = items.map((item) => entryOf(name, isObject(item) ? item : {}));
  const longest = Math.max(narrowestName, ...entries.map((entry) => widthOf(cut(entry.name, widestName))));
  const start = indent.length + longest + indent.length;
  const room = width - start;
  return entries.flatMap(({ name: written, description, details }) => {
    // Names are copied into commands: never cut them; a long one has a line of its own.
    const isLong = widthOf(cut(written, width)) > longest;
    const first = style.bold(isLong ? cut(written, width - indent.length) : left(written, longest));
    const lines = [cut(description, room), ...wrap(details, room).map(style.dim)].filter((line) => line !== "");
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
  }),
  resources: (resource) => resourceEntry(resource, text(resource.uri)),
  templates: (template) => resourceEntry(template, text(template.uriTemplate)),
  prompts: (prompt) => ({
    name: text(prompt.name),
    description: oneLine(prompt.description ?? prompt.title),
    details: (Array.isArray(prompt.arguments) ? prompt.arguments : []).filter(isObject).map(argumentText),
  }),
};

function resourceEntry({ name, title, description, mimeType }: JsonObject, uri: string): Entry {
  const said = [title ?? name, description].map(oneLine).filter((part) => part !== "");
  return { name: uri, description: said.join(": "), details: mimeType === undefined ? [] : [text(mimeType)] };
}

function argumentText({ name, required }: JsonObject): string {
  return `${text(name)}${required === true ? "" : "?"}`;
}

/** Words of the server, joined by commas, in lines of at most `width` columns. */
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

/** The first sentence or line of a description, which may be long: `parlance list --json` has all of it. */
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
  return names.map((name) => `${name}${needed.has(name) ? "" : "?"}: ${typeText(properties[name])}`);
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
