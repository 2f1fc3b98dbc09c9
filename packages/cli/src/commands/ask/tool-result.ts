import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock } from "@parlance/mcp";
import { blockLines } from "../../shared/output/content-blocks.js";
import { prettyJson } from "../../shared/output/json-lines.js";
import type { Style } from "../../shared/output/style.js";

/** What a tool has returned, for a person: texts as they are, structure as JSON, everything else described. */
export function toolResultLines(result: CallToolResult, style: Style): readonly string[] {
  const { content, structuredContent } = result;
  const structured = "structuredContent" in result ? prettyJson(structuredContent).split("\n") : [];
  // A tool with structured output repeats it as text, for clients that read nothing else.
  const blocks = content.filter((block) => structured.length === 0 || !repeats(block, structuredContent));
  return [...blocks.flatMap((block) => blockLines(block, style)), ...structured];
}

function repeats(block: ContentBlock, structured: unknown): boolean {
  if (block.type !== "text") return false;
  try {
    return isDeepStrictEqual(JSON.parse(block.text), structured);
  } catch {
    return false; // A text that is no JSON says something of its own.
  }
}
