import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { readJson } from "./node-http.js";

/** @import { IncomingMessage, ServerResponse } from "node:http" */

/**
 * The transport of a session in both official SDKs: it has a server of its own.
 * @typedef {object} SessionTransport
 * @property {(request: IncomingMessage, response: ServerResponse, body?: unknown) => Promise<void>} handleRequest
 */

/**
 * Sessions as the documentation of the official SDKs has them: a transport for each, in a map by its id.
 * @param {(options: {
 *   sessionIdGenerator: () => string,
 *   onsessioninitialized: (id: string) => void,
 *   onsessionclosed: (id: string) => void,
 * }) => Promise<SessionTransport>} open
 */
export function createSessionServer(open) {
  /** @type {Map<string, SessionTransport>} */
  const transports = new Map();

  async function openSession() {
    const transport = await open({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    return transport;
  }

  return createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const body = request.method === "POST" ? await readJson(request) : undefined;
    const transport = typeof id === "string" ? transports.get(id) : await openSession();
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response, body);
  });
}
