/** @import { Root } from "@parlance/mcp" */
/** @import { Client, ClientOptions, ToolTypes } from "@parlance/mcp/client" */
/** @import { Narrator } from "./narrator.js" */
/** @import { add } from "./server/sums.js" */

/**
 * The values that a section uses.
 *
 * @typedef {object} Stage
 * @property {Client<ToolTypes & { add: typeof add }>} client calls of `add` are typed by its schemas
 * @property {Narrator["show"]} show
 * @property {(text: string) => void} heard
 * @property {(options?: ClientOptions) => Promise<Client>} connect opens another conversation with the same server
 * @property {Root[]} roots what the client says of its roots
 */

/**
 * A part of the tour.
 *
 * @typedef {object} Section
 * @property {string} title
 * @property {boolean} [ours] it plays with what only our own server has
 * @property {(stage: Stage) => Promise<void>} play
 */

/**
 * The first of what comes; in a list, the pages behind it are not asked for.
 *
 * @template T
 * @param {AsyncIterable<T>} items
 * @returns {Promise<T | undefined>}
 */
export async function first(items) {
  for await (const item of items) return item;
  return undefined;
}
