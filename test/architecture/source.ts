import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Node, parseSync, visitorKeys } from "oxc-parser";

/** One source file, parsed. */
export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  /** The part of the house it belongs to, see `areaOf`. */
  readonly area: string;
  readonly text: string;
  /** Every node with the node it stands in, in the order of the text. */
  readonly nodes: readonly Placed[];
  readonly imports: readonly Import[];
}

/** A node of the syntax tree and the node around it. */
export interface Placed {
  readonly node: Node;
  readonly parent: Node | undefined;
}

/** One place that names another module: static, dynamic, re-exporting or in a type. */
interface Import {
  /** Undefined where it is computed, and so says nothing to a reader. */
  readonly specifier: string | undefined;
  readonly line: number;
}

/** The input of the rules: the sources, and the specifiers that our packages publish. */
export interface Tree {
  readonly sources: readonly Source[];
  readonly published: ReadonlySet<string>;
}

/** The folder of the library, or the workspace, or the top folder: what a row of the import table is called. */
export function areaOf(path: string): string {
  const [top = "", name = "", inner = "", folder = "", file] = path.split("/");
  if (top !== "packages") return top;
  return name === "mcp" && inner === "src" && file !== undefined ? folder : name;
}

/** The published library that a source belongs to, `mcp` or `wire`; their rules are stricter than those of the code around them. */
export function libraryOf({ path }: Source): string | undefined {
  return /^packages\/(mcp|wire)\//.exec(path)?.[1];
}

/** Parses one file; what does not parse cannot be judged, and throws. */
export function parseSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  const [first] = errors;
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`);
  const nodes: Placed[] = [];
  place(program, undefined, nodes);
  const imports = nodes.flatMap((placed) => importOf(placed.node, text));
  return { path, area: areaOf(path), text, nodes, imports };
}

function place(node: Node, parent: Node | undefined, into: Placed[]): void {
  into.push({ node, parent });
  // The parser lists the keys under which each kind of node holds others; what lies there is a node, a list, or null.
  const children = node as unknown as Readonly<Record<string, Node | readonly (Node | null)[] | null | undefined>>;
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [children[key]].flat()) if (child) place(child, node, into);
  }
}

function importOf(node: Node, text: string): readonly Import[] {
  const named = moduleNamedBy(node);
  if (named === undefined) return [];
  const specifier = named.type === "Literal" && typeof named.value === "string" ? named.value : undefined;
  return [{ specifier, line: lineAt(text, node.start) }];
}

function moduleNamedBy(node: Node): Node | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return node.source;
    case "ExportNamedDeclaration":
      return node.source ?? undefined;
    default:
      return undefined;
  }
}

/** The line, from 1, on which an offset lies. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

const roots = ["packages", "examples", "bench", "conformance", "scripts", "test"];
// A hidden folder is one that a test writes and deletes while others run.
const notOurs = /^(?:\..*|node_modules|dist)$/;
const sourceFile = /\.[cm]?[jt]sx?$/;

/** Reads and parses every source under the root that is ours: no dependencies, nothing built. */
export function readSources(root: string): readonly Source[] {
  return roots.flatMap((top) => listFiles(root, top)).map((path) => parseSource(path, readText(root, path)));
}

/** The text of one file of the repository. */
export function readText(root: string, path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function listFiles(root: string, folder: string): readonly string[] {
  return readFolder(join(root, folder)).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return notOurs.test(entry.name) ? [] : listFiles(root, path);
    return sourceFile.test(entry.name) ? [path] : [];
  });
}

function readFolder(path: string): readonly { name: string; isDirectory(): boolean }[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    // A top folder that the repository does not have holds no sources.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
