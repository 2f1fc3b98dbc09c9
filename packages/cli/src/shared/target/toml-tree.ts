import type { Node } from "jsonc-parser";
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";

/** A syntax error of a TOML text, and its place. */
export interface TomlError {
  readonly offset: number;
  readonly why: string;
}

/**
 * A TOML text as the tree that `jsonc-parser` makes of JSON, with the places of its keys and values. A table is an object; its own
 * place is that of the header that opens it first.
 */
export function parseTomlTree(text: string): Node | TomlError {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text);
  } catch (error) {
    if (error instanceof ParseError) return { offset: error.index, why: error.message };
    throw error;
  }
  const [top] = program.body;
  const root = objectNode(top);
  for (const entry of top.body) {
    if (entry.type === "TOMLKeyValue") addValue(root, entry);
    else {
      const { keys } = entry.key;
      // Arrays of tables hold no servers: their tables have no names.
      const table = entry.kind === "array" ? objectNode(entry) : memberAt(root, keys, entry);
      for (const each of entry.body) addValue(table, each);
    }
  }
  return root;
}

function addValue(table: Node, { key: { keys }, value, range }: AST.TOMLKeyValue): void {
  const last = keys.at(-1);
  if (last === undefined) return; // The parser gives none without a key.
  addProperty(memberAt(table, keys.slice(0, -1), { range }), last, range, (parent) => nodeOf(value, parent));
}

/** The table at a path of keys, created if it is missing. */
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
  const property: Node = { ...placeOf(range), type: "property", parent: table, children };
  const value = makeValue(property);
  children.push({ ...placeOf(key.range), type: "string", value: nameOf(key), parent: property }, value);
  table.children?.push(property);
  return value;
}

function objectNode({ range }: Place, parent?: Node): Node {
  return { ...placeOf(range), type: "object", children: [], ...(parent !== undefined && { parent }) };
}

function nodeOf(value: AST.TOMLContentNode, parent: Node): Node {
  const place = { ...placeOf(value.range), parent };
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

function placeOf([start, end]: AST.Range): { readonly offset: number; readonly length: number } {
  return { offset: start, length: end - start };
}
