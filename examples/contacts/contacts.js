import { createServer, RpcError } from "@parlance/mcp/server";
import { addDeleting } from "./deleting.js";
import { addImporting } from "./importing.js";
import { addReading } from "./reading.js";
import { StoreError } from "./store.js";
import { addTools } from "./tools.js";

/** @import { Server, ServerOptions } from "@parlance/mcp/server" */
/** @import { Store } from "./store.js" */

/**
 * The objects that the files of this example share: the contacts, and the listeners for their changes.
 *
 * @typedef {object} Book
 * @property {Server} server
 * @property {Store} store
 * @property {(id: number) => void} changed one contact has changed
 * @property {() => void} listChanged contacts have come or gone
 */

/**
 * A server for contacts, to be served on any transport.
 *
 * @param {Store} store
 * @param {object} [options]
 * @param {((path: string) => Promise<string>) | undefined} [options.readFile] reads a file for an import, and throws a
 *   ToolError for one that may not be read; without it only text is imported
 * @param {ServerOptions["requestState"]} [options.requestState] for servers that share their clients
 */
export function createContacts(store, { readFile, requestState } = {}) {
  const server = createServer({
    name: "contacts",
    title: "Contacts",
    version: "0.1.0",
    instructions: "Names, addresses and notes of people. Search first: the other tools want the id that it shows.",
    ...(requestState && { requestState }),
  });
  /** @type {Book} */
  const book = {
    server,
    store,
    changed(id) {
      server.changed.resource(`contacts:/${id}`);
      server.changed.resource("contacts:/all");
    },
    listChanged() {
      server.changed.list("resources");
      server.changed.resource("contacts:/all");
    },
  };
  addTools(book);
  addDeleting(book);
  addImporting(book, readFile);
  addReading(book);
  server.use(readableFaults);
  return server;
}

/**
 * A database that is busy is no bug of a handler: whoever has called reads why, and can try again.
 *
 * @type {Parameters<Server["use"]>[0]}
 */
function readableFaults(next) {
  return async (method, params, operation) => {
    try {
      return await next(method, params, operation);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (method === "tools/call") return { content: [{ type: "text", text: error.message }], isError: true };
      // biome-ignore lint/style/useErrorCause: the cause is there, behind code and data
      throw new RpcError(-32603, error.message, undefined, { cause: error });
    }
  };
}
