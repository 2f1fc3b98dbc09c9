import { visible } from "@parlance/mcp/jsonrpc";
import { type JsonNode, literalOf } from "@parlance/wire";

/** A JSON text on many lines, with everything in it as it was written: numbers, escapes, names that come twice. */
export function prettyNode(node: JsonNode, bytes: Uint8Array, indent = ""): string {
  const deeper = `${indent}  `;
  if (node.kind === "object" && node.members.length > 0) {
    const members = node.members.map(({ keyStart, keyEnd, value }) => {
      const key = visible(literalOf({ start: keyStart, end: keyEnd }, bytes));
      return `${deeper}${key}: ${prettyNode(value, bytes, deeper)}`;
    });
    return `{\n${members.join(",\n")}\n${indent}}`;
  }
  if (node.kind === "array" && node.elements.length > 0) {
    const elements = node.elements.map((element) => `${deeper}${prettyNode(element, bytes, deeper)}`);
    return `[\n${elements.join(",\n")}\n${indent}]`;
  }
  if (node.kind === "object") return "{}";
  return node.kind === "array" ? "[]" : visible(literalOf(node, bytes));
}
