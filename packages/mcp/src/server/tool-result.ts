import { encodeValue } from "../jsonrpc/codec.js";
import type { ContentBlock } from "../protocol/content.js";
import { isObject } from "../protocol/json.js";
import type { CallToolResult } from "../protocol/tools.js";

/**
 * What a tool without an output schema may return: text, a block, blocks, a whole result, or JSON of its own. That is an
 * `object` and no `JsonObject`, which values of an interface are not, and beside which the literals in a block widen.
 */
export type FreeReturn = string | ContentBlock | readonly ContentBlock[] | CallToolResult | object | undefined;

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource_link", "resource"]);

/** A whole result from whatever a handler without an output schema has returned. */
export function resultOf(value: unknown): CallToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (isBlock(value)) return { content: [value] };
  if (Array.isArray(value) && value.every(isBlock)) return { content: value };
  if (isObject(value) && Array.isArray(value.content)) return value as unknown as CallToolResult; // It says that it is one.
  return structuredResult(value);
}

/** True for a result that says everything itself, where an output schema would let structured output be returned alone. */
export function isWholeResult(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content) && ("structuredContent" in value || value.isError === true);
}

/**
 * Structured output, with the same as text for clients and models that do not read it.
 * @throws TypeError for what is not JSON
 */
export function structuredResult(structuredContent: unknown): CallToolResult {
  return { content: [{ type: "text", text: encodeValue(structuredContent) }], structuredContent };
}

/** A failure that the model can read. */
export function errorResult(content: readonly ContentBlock[]): CallToolResult {
  return { content, isError: true };
}

function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && blockTypes.has(value.type);
}
