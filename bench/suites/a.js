import { add, asStateless, batch, echo, pingCall, points } from "../samples.js";

/** @import { Case, Suite } from "../types.d.ts" */

/** @type {readonly Case[]} */
const cases = [
  { name: "ping", kind: "call", pool: 1024, sample: pingCall },
  { name: "add", kind: "call", pool: 1024, sample: add },
  { name: "points-1k", kind: "call", pool: 1024, sample: points },
  { name: "echo-1k", kind: "call", pool: 1024, sample: echo(1024) },
  { name: "echo-100k", kind: "call", pool: 64, sample: echo(100 * 1024) },
  { name: "batch-100", kind: "batch", pool: 128, sample: batch(100) },
  { name: "add-stateless", kind: "stateless", pool: 1024, sample: asStateless(add) },
  { name: "points-1k-stateless", kind: "stateless", pool: 1024, sample: asStateless(points) },
  { name: "echo-1k-stateless", kind: "stateless", pool: 1024, sample: asStateless(echo(1024)) },
];

/** @type {Suite} */
export const suite = {
  name: "a",
  title: "text in → parse → check → dispatch → text out, in process",
  program: "in-process.js",
  cases,
  contestants: [
    "floor",
    "parlance",
    "parlance-mcp",
    "parlance-mcp-before",
    "jayson",
    "json-rpc-2.0",
    "vscode-jsonrpc",
    "mcp-lite",
    "sdk-v2",
  ],
  bars: {
    parlance: { ping: 1.2, add: 1.15, "points-1k": 1.05, "echo-1k": 1.05, "batch-100": 1.35 },
    "parlance-mcp": {
      add: 1.4,
      "points-1k": 1.12,
      "echo-1k": 1.12,
      "add-stateless": 1.8,
      "points-1k-stateless": 1.2,
      "echo-1k-stateless": 1.2,
    },
  },
};
