import { createContacts } from "../contacts/contacts.js";
import { MemoryStore } from "../contacts/memory-store.js";
import { people } from "../contacts/people.js";

/** @import { ServerOptions } from "@parlance/mcp/server" */

/**
 * The server of every platform here: a few contacts, which are gone when the process ends.
 *
 * @param {Pick<ServerOptions, "requestState">} [options]
 */
export function createSample(options) {
  const store = new MemoryStore();
  store.addAll(people);
  return createContacts(store, options);
}
