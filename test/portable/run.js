/** @import { Server } from "@parlance/mcp/server" */

/**
 * The needs of a case that not every platform meets.
 *
 * @typedef {"listening sockets" | "WebSocket" | "MessageChannel" | "Node's modules" | "loading packages by name"} Need
 */

/**
 * A test that runs on every platform which has what it needs.
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {Need | undefined} [needs]
 * @property {(platform: Platform) => unknown} run throws, or rejects, when it fails
 */

/**
 * The differences between platforms.
 *
 * @typedef {object} Platform
 * @property {string} version
 * @property {(server: Server) => Promise<{ url: string, close(): unknown }>} listen serves over HTTP on a socket
 * @property {(server: Server) => Promise<{ target(): string | WebSocket, close?: (() => unknown) | undefined }>} webSocket
 * @property {readonly [command: string, ...args: string[]]} [command] runs a program
 */

/** Milliseconds after which a case has failed, so that the report names it. */
const longest = 60_000;

/**
 * Runs cases one after the other. Yields lines of JSON: the version and the globals of the platform, each case that ran,
 * and the end.
 *
 * @param {readonly Case[]} cases
 * @param {Platform} platform
 * @param {readonly string[]} lacks
 */
export async function* run(cases, platform, lacks) {
  const globals = ["WebSocket", "MessageChannel"].filter((name) => name in globalThis);
  yield JSON.stringify({ version: platform.version, globals });
  for (const { name, needs, run } of cases) {
    if (needs !== undefined && lacks.includes(needs)) continue;
    yield JSON.stringify({ name, error: await errorOf(() => run(platform)) });
  }
  yield JSON.stringify({ done: true });
}

/** @param {() => unknown} work */
async function errorOf(work) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not ended within ${longest} ms`)), longest);
  });
  try {
    await Promise.race([work(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}
