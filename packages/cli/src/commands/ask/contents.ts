import type { ResourceContents } from "@parlance/mcp/client";
import { verbatimLines, visibleLines } from "../../shared/output/columns.js";
import { blobText, peerText } from "../../shared/output/content-blocks.js";
import type { Style } from "../../shared/output/style.js";

/** The contents of a resource, for a person: texts as they are, blobs described; where there are several, with their URIs. */
export function contentsLines(contents: readonly ResourceContents[], style: Style): readonly string[] {
  return contents.flatMap((each) => {
    if (!("text" in each)) return visibleLines(blobText(each)).map(style.dim);
    const title = contents.length > 1 ? visibleLines(`[${peerText(each.uri)}]`).map(style.dim) : [];
    return [...title, ...verbatimLines(peerText(each.text))];
  });
}
