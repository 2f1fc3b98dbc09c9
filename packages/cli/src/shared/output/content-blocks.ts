import type { ContentBlock, ResourceContents } from "@parlance/mcp";
import { verbatimLines, visibleLines } from "./columns.js";
import { bytesText } from "./quantities.js";
import type { Style } from "./style.js";

type BlobResourceContents = Extract<ResourceContents, { blob: unknown }>;

/** A content block: text with its control characters escaped, other content described. */
export function blockLines(block: ContentBlock, style: Style): readonly string[] {
  const described = (text: string): readonly string[] => visibleLines(text).map(style.dim);
  switch (block.type) {
    case "text":
      return verbatimLines(peerText(block.text));
    case "image":
    case "audio":
      return described(`[${block.type} ${peerText(block.mimeType)}, ${bytesText(base64Bytes(block.data))}]`);
    case "resource_link":
      return described(`[resource ${peerText(block.uri)} ${peerText(block.title ?? block.name)}]`);
    case "resource": {
      const { resource } = block;
      if ("text" in resource)
        return [...described(`[resource ${peerText(resource.uri)}]`), ...verbatimLines(peerText(resource.text))];
      return described(blobText(resource));
    }
    default:
      return described(`[${JSON.stringify(block)?.slice(0, 200)}]`);
  }
}

/** The description of a blob. */
export function blobText({ uri, mimeType, blob }: BlobResourceContents): string {
  const named = mimeType === undefined ? peerText(uri) : `${peerText(uri)} ${peerText(mimeType)}`;
  return `[resource ${named}, ${bytesText(base64Bytes(blob))}]`;
}

/** A value from the server as text; it may have any type. */
export function peerText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function base64Bytes(data: unknown): number {
  const length = typeof data === "string" ? data.replace(/=+$/, "").length : 0;
  return Math.floor((length * 3) / 4);
}
