import { stateless } from "../mcp.js";
import { callTool, ping } from "../work.js";

/** @import { Case, Sample, Suite } from "../types.d.ts" */

/**
 * @param {number} id
 * @param {string} name
 * @param {object} args
 * @returns {Sample}
 */
function call(id, name, args) {
  const params = { name, arguments: args };
  return sample({ jsonrpc: "2.0", id, method: "tools/call", params }, callTool(params));
}

/**
 * @param {{ jsonrpc: "2.0", id: number, method: string, params?: object }} request
 * @param {object} result
 * @returns {Sample}
 */
function sample(request, result) {
  return { text: JSON.stringify(request), answer: { jsonrpc: "2.0", id: request.id, result } };
}

/** @param {number} id */
const pingCall = (id) => sample({ jsonrpc: "2.0", id, method: "ping" }, ping());

/** @param {number} id */
const add = (id) => call(id, "add", { a: id, b: id * 1.5 });

/**
 * 1 KB of numbers with two decimals.
 * @param {number} id
 */
const points = (id) => call(id, "points", { points: numbers(id, 160) });

/** @param {number} size */
const echo = (size) => (/** @type {number} */ id) => call(id, "echo", { text: prose(id, size) });

/** @param {number} size */
function batch(size) {
  return (/** @type {number} */ id) => {
    const pings = Array.from({ length: size }, (_, index) => pingCall(id * size + index));
    return { text: `[${pings.map((each) => each.text).join(",")}]`, answer: pings.map((each) => each.answer) };
  };
}

/**
 * The same call as the stateless revision writes it, and its result as that revision wants it.
 * @param {(id: number) => Sample} handshake
 */
function asStateless(handshake) {
  return (/** @type {number} */ id) => {
    const { text, answer } = handshake(id);
    const request = JSON.parse(text);
    const { result } = /** @type {{ result: object }} */ (answer);
    return sample(
      { ...request, params: { ...request.params, _meta: stateless.requestMeta } },
      { ...result, ...stateless.resultMembers },
    );
  };
}

/**
 * A small generator of repeatable noise: every process must make the same messages from the same id.
 * @param {number} seed
 */
function noise(seed) {
  let state = Math.imul(seed, 2654435761) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * @param {number} seed
 * @param {number} count
 */
function numbers(seed, count) {
  const next = noise(seed);
  return Array.from({ length: count }, () => Math.round(next() * 100_000) / 100);
}

const words =
  'the of and a to in "is" you that it he was for on are as with his they I\n at be this have from or one had by'.split(
    " ",
  );

/**
 * Text as people write it: words, a quotation mark and a line break here and there.
 * @param {number} seed
 * @param {number} size in characters
 */
function prose(seed, size) {
  const next = noise(seed);
  let text = "";
  while (text.length < size) text += `${words[Math.floor(next() * words.length)]} `;
  return text.slice(0, size);
}

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
  contestants: ["floor", "parlance", "jayson", "json-rpc-2.0", "vscode-jsonrpc", "mcp-lite", "sdk-v2"],
  bars: {
    parlance: { ping: 1.2, add: 1.15, "points-1k": 1.05, "echo-1k": 1.05, "batch-100": 1.35 },
  },
};
