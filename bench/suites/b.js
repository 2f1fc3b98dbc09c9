import { add, asStateless } from "../samples.js";

/** @import { Case, Suite } from "../types.d.ts" */

const depths = [1, 16, 256];

/** @type {readonly Case[]} */
const cases = [
  ...depths.map((inFlight) => ({
    name: `depth-${inFlight}`,
    kind: /** @type {const} */ ("call"),
    pool: 1024,
    inFlight,
    sample: add,
  })),
  ...depths.map((inFlight) => ({
    name: `depth-${inFlight}-stateless`,
    kind: /** @type {const} */ ("stateless"),
    pool: 1024,
    inFlight,
    sample: asStateless(add),
  })),
];

/** @type {Suite} */
export const suite = {
  name: "b",
  title: "tools/call on stdio, the server in a process of its own",
  program: "over-stdio.js",
  serves: true,
  cases,
  contestants: ["floor", "parlance", "sdk-v2", "sdk-v1", "fastmcp", "tmcp"],
  bars: {
    parlance: { "depth-1": 1.15, "depth-256": 2.5, "depth-1-stateless": 1.15, "depth-256-stateless": 2.5 },
  },
  memory: { title: "Memory of the server's process after the run", unit: "MB", bar: (floor) => floor + 12 },
};
