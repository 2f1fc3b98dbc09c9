import { posix } from "node:path";
import type { Node } from "oxc-parser";
import { type Breach, eachSource, type Rule } from "./findings.js";
import { lineAt, type Placed, type Source } from "./source.js";

const longestFile = 500;
const longestFunction = 80;
const largestFolder = 20;
const shortestModule = 40;
const date = /20\d\d-\d\d-\d\d/;

/** A revision is asked for by fact, never by its date; tests name revisions as the wire does. */
export const dates: Rule = eachSource((source) => {
  if (source.path.startsWith("packages/mcp/src/protocol/revisions/") || isTest(source)) return [];
  return eachNode(source, ({ node }) => {
    const found = date.exec(literalText(node))?.[0];
    return found === undefined
      ? undefined
      : [found, "names a revision: ask src/protocol/revisions/ for the fact that matters"];
  });
});

function literalText(node: Node): string {
  if (node.type === "TemplateElement") return node.value.raw;
  return node.type === "Literal" ? (node.raw ?? "") : "";
}

/** Input from outside is `unknown`; `any` would disable the compiler for every use of it. */
export const noAny: Rule = eachSource((source) =>
  eachNode(source, ({ node }) => (node.type === "TSAnyKeyword" ? ["any", "write unknown, and narrow it"] : undefined)),
);

/** A thing has one name, at home and abroad. Tools want their configuration as a default export. */
export const noDefaultExport: Rule = eachSource((source) => {
  if (/\.config\.[jt]s$/.test(source.path)) return [];
  return eachNode(source, ({ node }) => (isDefaultExport(node) ? ["default", "export it by its name"] : undefined));
});

function isDefaultExport(node: Node): boolean {
  if (node.type === "ExportDefaultDeclaration") return true;
  if (node.type !== "ExportSpecifier") return false;
  return (node.exported.type === "Literal" ? node.exported.value : node.exported.name) === "default";
}

/** A file can be read in one sitting. Tests hold tables of cases, which may be long. */
export const fileLength: Rule = eachSource((source) => {
  const lines = source.text.trimEnd().split("\n").length;
  if (isTest(source) || lines <= longestFile) return [];
  const message = `has ${lines} lines, more than ${longestFile}: find the seam`;
  return [{ path: source.path, line: longestFile + 1, what: "length", message }];
});

/** A function does one thing at one level. */
export const functionLength: Rule = eachSource((source) => {
  if (isTest(source)) return [];
  return eachNode(source, (placed) => {
    const { node } = placed;
    if (!isFunction(node)) return undefined;
    const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
    if (lines <= longestFunction) return undefined;
    return [nameOf(placed), `has ${lines} lines, more than ${longestFunction}: part it`];
  });
});

/** A folder shows its contents at a glance, in the sources and in the tests. */
export const folderSize: Rule = ({ sources }) => {
  const sizes = new Map<string, number>();
  for (const { path } of sources) sizes.set(posix.dirname(path), (sizes.get(posix.dirname(path)) ?? 0) + 1);
  return [...sizes].flatMap(([path, size]) => {
    if (size <= largestFolder || !/^(?:packages\/[^/]+\/src|test)(?:\/|$)/.test(path)) return [];
    const message = `has ${size} files, more than ${largestFolder}: find the groups`;
    return [{ path, line: 1, what: "files", message }];
  });
};

/** A short module with one importer makes the reader open two files for one idea. */
export const moduleLength: Rule = ({ sources }) => {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of sources.filter((source) => !isTest(source))) {
    for (const { specifier } of imports) {
      if (specifier === undefined || !specifier.startsWith(".")) continue;
      const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  return sources.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length;
    const [importer, ...others] = importers.get(path) ?? [];
    if (!/^packages\/[^/]+\/src\//.test(path) || importer === undefined || others.length > 0) return [];
    if (lines >= shortestModule) return [];
    const message = `has ${lines} lines, fewer than ${shortestModule}, and one importer: move it into ${importer}`;
    return [{ path, line: 1, what: "length", message }];
  });
};

function isFunction(node: Node): boolean {
  return ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"].includes(node.type);
}

/** The name by which a person would speak of a function: its own, or that of what it is assigned to. */
function nameOf({ node, parent }: Placed): string {
  for (const holder of [node, parent]) {
    if (holder === undefined) continue;
    for (const place of ["id", "key"]) {
      // Only some kinds of node have these; of those, only a plain identifier is a name.
      const name = (holder as unknown as Readonly<Record<string, Node | null | undefined>>)[place];
      if (name?.type === "Identifier" || name?.type === "PrivateIdentifier") return name.name;
    }
  }
  return "an unnamed function";
}

function isTest({ area, path }: Source): boolean {
  return area === "test" || area === "conformance" || /^packages\/create-parlance\/templates\/.*\/test\//.test(path);
}

/** One breach for each node to which `check` answers with what breaks the rule, and a message. */
function eachNode(
  source: Source,
  check: (placed: Placed) => readonly [what: string, message: string] | undefined,
): readonly Breach[] {
  return source.nodes.flatMap((placed) => {
    const found = check(placed);
    if (found === undefined) return [];
    const [what, message] = found;
    return [{ path: source.path, line: lineAt(source.text, placed.node.start), what, message }];
  });
}
