/** @import { Need } from "./run.js" */

/**
 * A runtime that the suite runs in.
 *
 * @typedef {object} TestedRuntime
 * @property {string} name
 * @property {string} package the package of its binary, in package.json
 * @property {string} binary the path of the binary in that package
 * @property {readonly string[]} args of the binary
 * @property {Readonly<Partial<Record<Need, string>>>} lacks what it does not have, and why: the cases that need it are skipped
 */

const nodeBinary = { binary: "bin/node", args: ["programs/node.js"], lacks: {} };

/** @type {readonly TestedRuntime[]} */
export const runtimes = [
  {
    ...nodeBinary,
    name: "Node.js 20",
    package: "node-20",
    lacks: { WebSocket: "Node.js has no global `WebSocket` before version 22; use `@parlance/mcp/websocket`" },
  },
  { ...nodeBinary, name: "Node.js 22", package: "node-22" },
  { ...nodeBinary, name: "Node.js 24", package: "node-24" },
  { ...nodeBinary, name: "Node.js 26", package: "node-26" },
  { name: "Bun", package: "@oven/bun-linux-x64", binary: "bin/bun", args: ["programs/bun.js"], lacks: {} },
  {
    name: "Deno",
    package: "@deno/linux-x64-glibc",
    binary: "deno",
    // The last one avoids a warning that the signal of a request also aborts after a complete response.
    args: ["run", "--allow-all", "--no-lock", "--quiet", "--unstable-no-legacy-abort", "programs/deno.js"],
    lacks: {},
  },
  {
    name: "workerd",
    package: "workerd",
    binary: "bin/workerd",
    args: ["serve", "wrangler.jsonc", "--socket-addr", "http=127.0.0.1:0", "--control-fd=1"],
    lacks: {
      "Node's modules":
        "a worker has no processes, TCP servers or `node:http`: `@parlance/mcp/node` and `/websocket` are for Node.js, Bun and Deno",
      "listening sockets": "a worker does not listen; the platform passes it requests, for `httpHandler`",
      "loading packages by name":
        "a worker loads no package by name at run time: pass valibot schemas through `toStandardJsonSchema`, and use zod 4 instead of 3",
    },
  },
];
