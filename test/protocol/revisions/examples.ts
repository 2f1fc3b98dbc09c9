import type { CallToolResult, ListToolsResult } from "../../../packages/mcp/src/protocol/types/tools.js";

/** A block that every revision has. */
export const png = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;

/** A list of tools with everything that the newest revision knows. */
export const tools: ListToolsResult = {
  resultType: "complete",
  ttlMs: 60_000,
  cacheScope: "public",
  nextCursor: "2",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "git", version: "1" }, "example.com/trace": 7 },
  tools: [
    {
      name: "git_log",
      title: "Log",
      description: "The history",
      inputSchema: {
        type: "object",
        properties: { title: { type: "string" }, rest: true, no: false, icons: { type: "array" } },
        required: ["title"],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { commits: true }, $defs: { icons: {} } },
      annotations: { title: "Log", readOnlyHint: true },
      icons: [{ src: "data:image/png;base64,", sizes: ["48x48"], theme: "dark" }],
      _meta: { "example.com/group": "history" },
    },
    { name: "git_tags", inputSchema: { type: "object" }, outputSchema: { type: "array", items: { type: "string" } } },
    {
      name: "git_head",
      inputSchema: { type: "object" },
      outputSchema: { anyOf: [{ type: "null" }, { type: "object" }] },
    },
  ],
};

/** A tool's result with everything that the newest revision knows. */
export const result: CallToolResult = {
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "git", version: "1" } },
  structuredContent: { commits: [] },
  content: [
    { type: "text", text: "none", annotations: { priority: 1, lastModified: "2025-01-12T15:00:58Z" }, _meta: { a: 1 } },
    png,
    { type: "audio", data: "UklGRg==", mimeType: "audio/wav", annotations: { audience: ["user"] } },
    {
      type: "resource_link",
      uri: "file:///README.md",
      name: "README.md",
      title: "Read me",
      mimeType: "text/markdown",
      description: "What it is",
      icons: [{ src: "https://example.com/icon.png" }],
      annotations: { audience: ["assistant"], lastModified: "2025-01-12T15:00:58Z" },
    },
    { type: "resource", resource: { uri: "file:///a", text: "a", _meta: { b: 2 } }, _meta: { c: 3 } },
  ],
};
