import { applyEdits, type Edit, type Node } from "jsonc-parser";
import { type Format, treeOf } from "../../shared/target/configuration.js";

/** Members of a server that hold keys and passwords. */
const secret: ReadonlySet<unknown> = new Set(["env", "headers", "http_headers"]);

/** A configuration with `…` for every value that may be a secret: what is printed ends up in reports. */
export function withoutSecrets(text: string, format: Format): string {
  const root = treeOf(text, format);
  return "problem" in root ? text : applyEdits(text, [...edits(root)]);
}

function* edits(node: Node): Generator<Edit> {
  const [key, value] = node.children ?? [];
  if (node.type === "property" && secret.has(key?.value) && value?.type === "object") {
    for (const { children: [, hidden] = [] } of value.children ?? [])
      if (hidden !== undefined) yield { offset: hidden.offset, length: hidden.length, content: '"…"' };
    return;
  }
  for (const child of node.children ?? []) yield* edits(child);
}
