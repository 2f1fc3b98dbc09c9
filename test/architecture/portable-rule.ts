import { isBuiltin } from "node:module";
import { type Breach, eachSource, type Rule } from "./findings.js";
import { lineAt, type Placed } from "./source.js";

const nodeGlobals = new Set([
  "Buffer",
  "NodeJS",
  "__dirname",
  "__filename",
  "clearImmediate",
  "global",
  "process",
  "require",
  "setImmediate",
]);

/** Only `src/node/` knows Node: the rest of the library, and the page, also run in browsers and workers. */
export const portable: Rule = eachSource((source) => {
  if (!/^packages\/[^/]+\/src\//.test(source.path) || ["node", "cli", "create-parlance"].includes(source.area))
    return [];
  const { path, text } = source;
  const breach = (what: string, line: number): Breach => {
    return { path, line, what, message: "exists on Node only: take it in from outside, or move the code to src/node/" };
  };
  const modules = source.imports.flatMap(({ specifier = "", line }) =>
    isBuiltin(specifier) ? [breach(specifier, line)] : [],
  );
  const globals = source.nodes.flatMap((placed) => {
    const name = globalNamed(placed);
    return name === undefined ? [] : [breach(name, lineAt(text, placed.node.start))];
  });
  return [...modules, ...globals];
});

/** A global of Node where it is referred to, not where a property happens to have its name. */
function globalNamed({ node, parent }: Placed): string | undefined {
  if (node.type === "Literal") {
    const indexes = parent?.type === "MemberExpression" && isGlobalThis(parent.object) && parent.property === node;
    return indexes && typeof node.value === "string" && nodeGlobals.has(node.value) ? node.value : undefined;
  }
  if (node.type !== "Identifier" || !nodeGlobals.has(node.name)) return undefined;
  return namesProperty(node, parent) ? undefined : node.name;
}

function namesProperty(node: Placed["node"], parent: Placed["parent"]): boolean {
  if (parent === undefined) return false;
  if (parent.type === "MemberExpression") {
    return parent.property === node && !parent.computed && !isGlobalThis(parent.object);
  }
  if (parent.type === "TSQualifiedName") return parent.right === node;
  return "key" in parent && parent.key === node && !("computed" in parent && parent.computed);
}

function isGlobalThis(node: Placed["node"]): boolean {
  return node.type === "Identifier" && node.name === "globalThis";
}
