import { add } from "../samples.js";

/** @import { Case, HttpKind, Suite } from "../types.d.ts" */

const connections = [1, 16, 64];

/** @type {readonly HttpKind[]} */
const kinds = ["json", "sse", "session"];

/** @type {readonly Case[]} */
const cases = [
  ...kinds.flatMap((kind) =>
    connections.map((inFlight) => ({ name: `${kind}-${inFlight}`, kind, pool: 1024, inFlight, sample: add })),
  ),
  { name: "1000-sessions", kind: "session", pool: 0, sample: add },
];

/** @type {Suite} */
export const suite = {
  name: "c",
  title: "tools/call over HTTP, the server in a process of its own",
  program: "over-http.js",
  serves: true,
  cases,
  contestants: ["floor", "parlance", "sdk-v2", "sdk-v1", "fastmcp", "tmcp", "mcp-lite"],
  bars: {
    parlance: {
      "json-16": 1.3,
      "json-64": 1.3,
      "sse-16": 1.5,
      "sse-64": 1.5,
      "session-16": 1.5,
      "session-64": 1.5,
    },
  },
  memory: { title: "Heap of each of 1,000 sessions that are held", unit: "KB", bar: () => 1.5 },
};
