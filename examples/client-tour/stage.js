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
 * @property {(text: string) => void} note
 * @property {(options?: ClientOptions) => Promise<Client>} connect opens another connection to the same server
 * @property {Root[]} roots the roots that the client sends
 */

/**
 * A part of the tour.
 *
 * @typedef {object} Section
 * @property {string} title
 * @property {boolean} [ours] it needs what only the server of this example has
 * @property {(stage: Stage) => Promise<void>} play
 */

/**
 * The first item of an async iterable; of a list, later pages are not fetched.
 *
 * @template T
 * @param {AsyncIterable<T>} items
 * @returns {Promise<T | undefined>}
 */
export async function first(items) {
  for await (const item of items) return item;
  return undefined;
}
