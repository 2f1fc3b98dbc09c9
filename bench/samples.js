/** Messages and the answers they must get. */

import { isDeepStrictEqual } from "node:util";
import { stateless } from "./mcp.js";
import { callTool, ping } from "./work.js";

/** @import { Sample } from "./types.d.ts" */

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
export const pingCall = (id) => sample({ jsonrpc: "2.0", id, method: "ping" }, ping());

/** @param {number} id */
export const add = (id) => call(id, "add", { a: id, b: id * 1.5 });

/**
 * 1 KB of numbers with two decimals.
 * @param {number} id
 */
export const points = (id) => call(id, "points", { points: numbers(id, 160) });

/** @param {number} size */
export const echo = (size) => (/** @type {number} */ id) => call(id, "echo", { text: prose(id, size) });

/** @param {number} size */
export function batch(size) {
  return (/** @type {number} */ id) => {
    const pings = Array.from({ length: size }, (_, index) => pingCall(id * size + index));
    return { text: `[${pings.map((each) => each.text).join(",")}]`, answer: pings.map((each) => each.answer) };
  };
}

/**
 * The same call as the stateless revision writes it, and its result as that revision wants it.
 * @param {(id: number) => Sample} handshake
 */
export function asStateless(handshake) {
  return (/** @type {number} */ id) => {
    const { text, answer } = handshake(id);
    const request = JSON.parse(text);
    const { result } = /** @type {{ result: object }} */ (answer);
    return sample(
      { ...request, params: { ...request.params, _meta: { ...request.params._meta, ...stateless.requestMeta } } },
      { ...result, ...stateless.resultMembers },
    );
  };
}

/**
 * The same call of the tool that tells its progress, to a caller that wants to hear of it.
 * @param {(id: number) => Sample} handshake
 */
export function asTelling(handshake) {
  return (/** @type {number} */ id) => {
    const { text, answer } = handshake(id);
    const { params, ...request } = JSON.parse(text);
    const told = { ...params, name: `${params.name}-and-tell`, _meta: { progressToken: id } };
    return { text: JSON.stringify({ ...request, params: told }), answer };
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

/**
 * The fault of a server's answer, if there is one. It may say more than the case expects of it, as some do in `_meta`.
 * @param {string} text
 * @param {Sample} sample
 */
export function faultIn(text, { text: request, answer: expected }) {
  const { id, result } = /** @type {any} */ (expected);
  const answer = JSON.parse(text);
  const isRight = answer.id === id && isDeepStrictEqual(answer.result?.content, result.content);
  return isRight ? undefined : `wrong answer ${clip(text)} to ${clip(request)}`;
}

/** @param {string} text */
export function clip(text) {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
