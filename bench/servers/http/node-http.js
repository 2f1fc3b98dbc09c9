import { once } from "node:events";
import { createServer } from "node:http";

/** @import { IncomingMessage, Server } from "node:http" */

/**
 * The port that a server has got.
 * @param {Server} server
 */
export async function listen(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address()); // It is no pipe.
  return address.port;
}

/**
 * @param {IncomingMessage} request
 * @returns {Promise<any>}
 */
export async function readJson(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

/** A port for a server that wants to be told. Somebody else may take it first, and then the server says so. */
export async function freePort() {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}
