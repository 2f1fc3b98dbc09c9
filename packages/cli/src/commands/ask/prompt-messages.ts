import type { GetPromptResult } from "@parlance/mcp/client";
import { visibleLines } from "../../shared/output/columns.js";
import { blockLines, peerText } from "../../shared/output/content-blocks.js";
import type { Style } from "../../shared/output/style.js";

/** The messages of a prompt, for a person: each after the role that speaks it. */
export function promptLines({ messages }: GetPromptResult, style: Style): readonly string[] {
  return messages.flatMap(({ role, content }, index) => [
    ...(index === 0 ? [] : [""]),
    ...visibleLines(`${peerText(role)}:`).map(style.bold),
    ...blockLines(content, style),
  ]);
}
