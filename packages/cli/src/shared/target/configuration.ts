import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type AST, parseTOML, ParseError as TomlParseError } from "toml-eslint-parser";

/** The format of a text. JSON may have comments and trailing commas, as in VS Code. */
export type Format = "json" | "toml";

/** The configuration of a host: its text and its servers, with their offsets for edits. */
export interface Configuration {
  readonly text: string;
  readonly format: Format;
  /** The servers, in the order of the text. */
  readonly servers: readonly ServerEntry[];
}

interface NamedEntry {
  readonly name: string;
  /** The syntax tree of the server. */
  readonly node: Node;
  /** How its members are separated: by commas, or each on a line of its own. */
  readonly layout: Layout;
}

export type Layout = "json" | "toml-table" | "toml-inline";

/** A configured server. */
export type ServerEntry =
  | (NamedEntry & { readonly kind: "command"; readonly command: Node; readonly args: Node | undefined })
  | (NamedEntry & { readonly kind: "url"; readonly url: Node })
  | { readonly kind: "unusable"; readonly name: string; readonly why: string };

/** Why a text is not a configuration, and where. */
interface ConfigurationProblem {
  readonly problem: string;
}

/** The syntax tree of a text in either format. */
export function treeOf(text: string, format: Format): Node | ConfigurationProblem {
  if (format === "toml") return parseTomlTree(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || root === undefined) return { problem: errorText(text, error) };
  return root;
}

/** The servers of a text, from the first of these sections that it has. */
export function parseConfiguration(
  text: string,
  sections: readonly (readonly string[])[],
  format: Format = "json",
): Configuration | ConfigurationProblem {
  const root = treeOf(text, format);
  if ("problem" in root) return root;
  if (root.type !== "object") return { problem: `${placeOf(text, root.offset)}: expected an object, got ${root.type}` };
  const [servers, twin] = sections.flatMap((section) => nodesAt(root, section));
  if (servers === undefined) return { text, format, servers: [] };
  if (twin !== undefined) return { problem: `${placeOf(text, twin.offset)}: the servers are defined twice` };
  if (servers.type !== "object")
    return { problem: `${placeOf(text, servers.offset)}: expected an object of servers, got ${servers.type}` };
  return { text, format, servers: (servers.children ?? []).map((each, _, all) => entryOf(each, all, text, format)) };
}

function nodesAt(root: Node, section: readonly string[]): readonly Node[] {
  return section.reduce<readonly Node[]>((nodes, name) => nodes.flatMap((node) => membersOf(node, name)), [root]);
}

/** `line 3, column 14`, counted from 1 as in editors. */
export function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}

const longestExcerpt = 20;

function errorText(text: string, error: ParseError | undefined): string {
  if (error === undefined) return "it is empty";
  const what = printParseErrorCode(error.error)
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
  const found = text.slice(error.offset).split(/\s/, 1)[0]?.slice(0, longestExcerpt);
  return `${placeOf(text, error.offset)}: ${what}, got ${found ? JSON.stringify(found) : "the end"}`;
}

/** Every value of a member: JSON allows duplicate names, and an edit cannot know which one the host reads. */
export function membersOf(object: Node, name: string): readonly Node[] {
  return (object.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key?.value === name && value !== undefined ? [value] : [],
  );
}

function entryOf(
  { children: [key, node] = [] }: Node,
  all: readonly Node[],
  text: string,
  format: Format,
): ServerEntry {
  const name = String(key?.value);
  const unusable = (why: string): ServerEntry => ({ kind: "unusable", name, why });
  if (all.filter(({ children: [other] = [] }) => other?.value === name).length > 1)
    return unusable("its name is defined twice");
  if (node?.type !== "object") return unusable(`it must be an object, got ${node?.type ?? "nothing"}`);
  const [[command, twin], [args, otherArgs]] = [membersOf(node, "command"), membersOf(node, "args")];
  const [url] = [...membersOf(node, "url"), ...membersOf(node, "serverUrl")];
  const named = { name, node, layout: layoutOf(node, text, format) };
  if (twin !== undefined) return unusable("its command is defined twice");
  if (otherArgs !== undefined) return unusable("its args are defined twice");
  if (command === undefined && url?.type === "string") return { ...named, kind: "url", url };
  if (command === undefined) return unusable("it has neither command nor url");
  if (command.type !== "string") return unusable(`its command must be a string, got ${command.type}`);
  const isArgument = ({ type }: Node): boolean => type === "string";
  if (args !== undefined && (args.type !== "array" || !(args.children ?? []).every(isArgument)))
    return unusable("its args must be an array of strings");
  return { ...named, kind: "command", command, args };
}

function layoutOf({ offset }: Node, text: string, format: Format): Layout {
  if (format === "json") return "json";
  return text[offset] === "{" ? "toml-inline" : "toml-table";
}

/**
 * Parses a TOML text to the kind of tree that `jsonc-parser` makes from JSON, with the places of keys and values. A table is an
 * object at the place of its first header.
 */
function parseTomlTree(text: string): Node | ConfigurationProblem {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text);
  } catch (error) {
    if (error instanceof TomlParseError) return { problem: `${placeOf(text, error.index)}: ${error.message}` };
    throw error;
  }
  const [top] = program.body;
  const root = objectNode(top);
  for (const entry of top.body) {
    if (entry.type === "TOMLKeyValue") addValue(root, entry);
    else {
      const { keys } = entry.key;
      // Arrays of tables hold no servers, because their tables have no names.
      const table = entry.kind === "array" ? objectNode(entry) : memberAt(root, keys, entry);
      for (const each of entry.body) addValue(table, each);
    }
  }
  return root;
}

function addValue(table: Node, { key: { keys }, value, range }: AST.TOMLKeyValue): void {
  const last = keys.at(-1);
  if (last === undefined) return; // The parser yields no pair without a key.
  addProperty(memberAt(table, keys.slice(0, -1), { range }), last, range, (parent) => nodeOf(value, parent));
}

/** The table at a path of keys, created if missing. */
function memberAt(root: Node, keys: readonly Key[], place: Place): Node {
  let table = root;
  for (const key of keys) {
    const name = nameOf(key);
    const found = table.children?.find(({ children: [named] = [] }) => named?.value === name)?.children?.[1];
    table = found ?? addProperty(table, key, place.range, (parent) => objectNode(place, parent));
  }
  return table;
}

type Key = AST.TOMLBare | AST.TOMLQuoted;
type Place = Pick<AST.TOMLTable, "range">;

function nameOf(key: Key): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function addProperty(table: Node, key: Key, range: AST.Range, makeValue: (parent: Node) => Node): Node {
  const children: Node[] = [];
  const property: Node = { ...rangeOf(range), type: "property", parent: table, children };
  const value = makeValue(property);
  children.push({ ...rangeOf(key.range), type: "string", value: nameOf(key), parent: property }, value);
  table.children?.push(property);
  return value;
}

function objectNode({ range }: Place, parent?: Node): Node {
  return { ...rangeOf(range), type: "object", children: [], ...(parent !== undefined && { parent }) };
}

function nodeOf(value: AST.TOMLContentNode, parent: Node): Node {
  const place = { ...rangeOf(value.range), parent };
  if (value.type === "TOMLArray") {
    const children: Node[] = [];
    const array: Node = { ...place, type: "array", children };
    children.push(...value.elements.map((element) => nodeOf(element, array)));
    return array;
  }
  if (value.type === "TOMLInlineTable") {
    const object = objectNode(value, parent);
    for (const each of value.body) addValue(object, each);
    return object;
  }
  const { kind } = value;
  if (kind === "string" || kind === "boolean") return { ...place, type: kind, value: value.value };
  // Dates have no type in JSON, and no server needs one.
  return { ...place, type: kind === "integer" || kind === "float" ? "number" : "null", value: value.value };
}

function rangeOf([start, end]: AST.Range): { readonly offset: number; readonly length: number } {
  return { offset: start, length: end - start };
}
