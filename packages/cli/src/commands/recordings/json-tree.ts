import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type ByteRange, type JsonNode, literalOf } from "@parlance/wire";
import type { Style } from "../../shared/output/style.js";

/** Bytes of a text that something is said of. */
export interface Highlight {
  readonly range: ByteRange;
  /** What stands beside the line: the name of the rule. */
  readonly label: string;
}

/**
 * A JSON text over many lines, as it was written: the spelling of names, numbers and strings, the order of members,
 * and members that have the same name. Lines with bytes that something is said of are marked.
 */
export function jsonLines(root: JsonNode, bytes: Uint8Array, highlights: readonly Highlight[], style: Style): string[] {
  const lines: Line[] = [];
  write({ node: root, depth: 0, lead: "", leadAt: root.start, trail: "" }, bytes, lines);
  return lines.map(({ text, range }) => {
    const labels = highlights.filter((highlight) => innermost(highlight, range, lines)).map(({ label }) => label);
    return labels.length === 0 ? text : `${style.red(text)}  ${style.red(`◀ ${[...new Set(labels)].join(" ")}`)}`;
  });
}

interface Line {
  readonly text: string;
  /** What the line itself writes: of an object on many lines the brace. */
  readonly range: ByteRange;
}

interface Place {
  readonly node: JsonNode;
  readonly depth: number;
  /** The name and its colon, and where it begins. */
  readonly lead: string;
  readonly leadAt: number;
  readonly trail: string;
}

function write({ node, depth, lead, leadAt, trail }: Place, bytes: Uint8Array, lines: Line[]): void {
  const indent = "  ".repeat(depth);
  const children = node.kind === "object" ? node.members : node.kind === "array" ? node.elements : [];
  if (children.length === 0) {
    lines.push({ text: `${indent}${lead}${literal(node, bytes)}${trail}`, range: [leadAt, node.end] });
    return;
  }
  const [opening, closing] = node.kind === "object" ? "{}" : "[]";
  lines.push({ text: `${indent}${lead}${opening}`, range: [leadAt, node.start + 1] });
  for (const [index, child] of children.entries()) {
    const behind = index === children.length - 1 ? "" : ",";
    const below = { depth: depth + 1, trail: behind };
    if ("key" in child) {
      const { keyStart, keyEnd, value } = child;
      const name = literal({ start: keyStart, end: keyEnd }, bytes);
      write({ ...below, node: value, lead: `${name}: `, leadAt: keyStart }, bytes, lines);
    } else write({ ...below, node: child, lead: "", leadAt: child.start }, bytes, lines);
  }
  lines.push({ text: `${indent}${closing}${trail}`, range: [node.end - 1, node.end] });
}

/** An empty object may hold white space, which is no news. */
function literal(
  place: Pick<JsonNode, "start" | "end"> & { readonly kind?: JsonNode["kind"] },
  bytes: Uint8Array,
): string {
  if (place.kind === "object") return "{}";
  return place.kind === "array" ? "[]" : escapeControls(literalOf(place, bytes));
}

/** What is said of a whole object stands at the line that begins it. */
function innermost({ range: [start, end] }: Highlight, [from, to]: ByteRange, lines: readonly Line[]): boolean {
  const first = lines.find((line) => line.range[1] > start && line.range[0] < Math.max(end, start + 1));
  const isFirst = first !== undefined && first.range[0] === from && first.range[1] === to;
  return isFirst;
}
