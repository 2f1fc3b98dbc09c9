import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parseTomlTree } from "./toml-tree.js";

/** The format of a text. JSON may have comments and trailing commas, as in VS Code. */
export type Format = "json" | "toml";

/** The configuration of a host: its text and its servers, with their offsets for edits. */
export interface Configuration {
  readonly text: string;
  readonly format: Format;
  /** In the order of the text. */
  readonly servers: readonly ServerEntry[];
}

interface NamedEntry {
  readonly name: string;
  /** All of it. */
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

/** Why a text is no configuration, and where. */
export interface ConfigurationProblem {
  readonly problem: string;
}

/** The tree of a text, whatever its format. */
export function treeOf(text: string, format: Format): Node | ConfigurationProblem {
  if (format === "toml") {
    const tree = parseTomlTree(text);
    return "why" in tree ? { problem: `${placeOf(text, tree.offset)}: ${tree.why}` } : tree;
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || root === undefined) return { problem: errorText(text, error) };
  return root;
}

/** The servers of a text, in the one of these sections that it has. */
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
  if (twin !== undefined) return { problem: `${placeOf(text, twin.offset)}: the servers are written twice` };
  if (servers.type !== "object")
    return { problem: `${placeOf(text, servers.offset)}: expected an object of servers, got ${servers.type}` };
  return { text, format, servers: (servers.children ?? []).map((each, _, all) => entryOf(each, all, text, format)) };
}

function nodesAt(root: Node, section: readonly string[]): readonly Node[] {
  return section.reduce<readonly Node[]>((nodes, name) => nodes.flatMap((node) => membersOf(node, name)), [root]);
}

/** `line 3, column 14`, counted from 1 as editors do. */
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
    return unusable("its name is written twice");
  if (node?.type !== "object") return unusable(`it is no object, but ${node?.type ?? "nothing"}`);
  const [[command, twin], [args, otherArgs]] = [membersOf(node, "command"), membersOf(node, "args")];
  const [url] = [...membersOf(node, "url"), ...membersOf(node, "serverUrl")];
  const named = { name, node, layout: layoutOf(node, text, format) };
  if (twin !== undefined) return unusable("its command is written twice");
  if (otherArgs !== undefined) return unusable("its args are written twice");
  if (command === undefined && url?.type === "string") return { ...named, kind: "url", url };
  if (command === undefined) return unusable("it has neither command nor url");
  if (command.type !== "string") return unusable(`its command is no string, but ${command.type}`);
  const isArgument = ({ type }: Node): boolean => type === "string";
  if (args !== undefined && (args.type !== "array" || !(args.children ?? []).every(isArgument)))
    return unusable("its args are no array of strings");
  return { ...named, kind: "command", command, args };
}

function layoutOf({ offset }: Node, text: string, format: Format): Layout {
  if (format === "json") return "json";
  return text[offset] === "{" ? "toml-inline" : "toml-table";
}
