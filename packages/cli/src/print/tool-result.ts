import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock } from "@parlance/mcp";
import { verbatimLines, visibleLines } from "./columns.js";
import { prettyJson } from "./json-lines.js";
import { bytesText } from "./quantities.js";
import type { Style } from "./style.js";

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

function blockLines(block: ContentBlock, style: Style): readonly string[] {
  const described = (text: string): readonly string[] => visibleLines(text).map(style.dim);
  switch (block.type) {
    case "text":
      return verbatimLines(text(block.text));
    case "image":
    case "audio":
      return described(`[${block.type} ${text(block.mimeType)}, ${bytesText(base64Bytes(block.data))}]`);
    case "resource_link":
      return described(`[resource ${text(block.uri)} ${text(block.title ?? block.name)}]`);
    case "resource": {
      const { resource } = block;
      if ("text" in resource)
        return [...described(`[resource ${text(resource.uri)}]`), ...verbatimLines(text(resource.text))];
      return described(
        `[resource ${text(resource.uri)} ${text(resource.mimeType ?? "")}, ${bytesText(base64Bytes(resource.blob))}]`,
      );
    }
    default:
      return described(`[${JSON.stringify(block)?.slice(0, 200)}]`);
  }
}

/** Blocks come from the server as they are: their members may be anything. */
function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function base64Bytes(data: unknown): number {
  const length = typeof data === "string" ? data.replace(/=+$/, "").length : 0;
  return Math.floor((length * 3) / 4);
}
