import { escapeControls } from "@parlance/mcp/jsonrpc";
import { pointerToken } from "@parlance/mcp/protocol";
import { literalOf, type scanJson } from "@parlance/wire";

type JsonNode = Extract<ReturnType<typeof scanJson>, { ok: true }>["root"];

/**
 * A line of an indented JSON text with the original spelling of names, numbers and strings, the original order of members, and
 * duplicates.
 */
export interface JsonLine {
  readonly depth: number;
  /** The name of the member as written, with its quotes. */
  readonly name: string | undefined;
  readonly text: string;
  readonly kind: JsonNode["kind"] | "text" | "end";
  /** The bytes of the line. */
  readonly start: number;
  readonly end: number;
  /** Whether it has members or elements. */
  readonly foldable: boolean;
  /** The JSON pointer of its value; undefined in a text that is not JSON. */
  readonly pointer: string | undefined;
  /** The bytes of the value, which may have many lines. */
  readonly value: readonly [start: number, end: number];
}

/** The maximum number of characters of one line; the bytes have all of them. */
const longest = 4_000;

/** The lines of a tree, or of the text if it is not JSON. @param folded the offsets of values whose content is left out */
export function linesOf(
  root: JsonNode | undefined,
  bytes: Uint8Array,
  folded: ReadonlySet<number>,
): readonly JsonLine[] {
  if (root === undefined) return textLines(bytes);
  const lines: JsonLine[] = [];
  write({ node: root, depth: 0, name: undefined, from: root.start, trail: "", pointer: "" }, bytes, folded, lines);
  return lines;
}

interface Place {
  readonly node: JsonNode;
  readonly depth: number;
  readonly name: string | undefined;
  /** The offset of the name, at which the line begins. */
  readonly from: number;
  readonly trail: string;
  readonly pointer: string;
}

function write(
  { node, depth, name, from, trail, pointer }: Place,
  bytes: Uint8Array,
  folded: ReadonlySet<number>,
  lines: JsonLine[],
): void {
  const children = node.kind === "object" ? node.members : node.kind === "array" ? node.elements : [];
  const value = [node.start, node.end] as const;
  const line = { depth, name, start: from, kind: node.kind, pointer, value };
  const [opening, closing] = node.kind === "object" ? "{}" : "[]";
  if (children.length === 0) {
    const isEmpty = node.kind === "object" || node.kind === "array";
    const text = isEmpty ? `${opening}${closing}` : escapeControls(literalOf(node, bytes)).slice(0, longest);
    lines.push({ ...line, text: text + trail, end: node.end, foldable: false });
    return;
  }
  if (folded.has(from)) {
    const text = `${opening} ${children.length} ${closing}${trail}`;
    lines.push({ ...line, text, end: node.end, foldable: true });
    return;
  }
  lines.push({ ...line, text: opening ?? "", end: node.start + 1, foldable: true });
  for (const [index, child] of children.entries()) {
    const below = { depth: depth + 1, trail: index === children.length - 1 ? "" : "," };
    const place =
      "key" in child
        ? {
            node: child.value,
            name: escapeControls(literalOf({ start: child.keyStart, end: child.keyEnd }, bytes)),
            from: child.keyStart,
            pointer: `${pointer}/${pointerToken(child.key)}`,
          }
        : { node: child, name: undefined, from: child.start, pointer: `${pointer}/${index}` };
    write({ ...below, ...place }, bytes, folded, lines);
  }
  lines.push({
    ...line,
    name: undefined,
    text: `${closing}${trail}`,
    kind: "end",
    start: node.end - 1,
    end: node.end,
    foldable: false,
  });
}

function textLines(bytes: Uint8Array): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  let start = 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found + 1;
    const text = escapeControls(literalOf({ start, end: found < 0 ? end : found }, bytes)).slice(0, longest);
    lines.push({
      depth: 0,
      name: undefined,
      text,
      kind: "text",
      start,
      end,
      foldable: false,
      pointer: undefined,
      value: [start, end],
    });
    start = end;
  }
  return lines;
}

/** The line of the innermost value at a byte. */
export function lineAt(lines: readonly JsonLine[], offset: number): JsonLine | undefined {
  return lines.findLast(({ start, value: [, end] }) => start <= offset && offset < end);
}
