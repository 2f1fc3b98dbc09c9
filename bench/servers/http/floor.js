import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { statelessVersion } from "../../mcp.js";
import { responder } from "../floor.js";
import { listen } from "./node-http.js";

/** @import { IncomingMessage, RequestListener, ServerResponse } from "node:http" */
/** @import { ServerContestant } from "../../types.d.ts" */

/**
 * The least that answers the same bytes. It looks at no header but that of the session, and a session is a name in a Map.
 * @type {ServerContestant}
 */
export const contestant = {
  kinds: ["json", "sse", "session"],
  revision: statelessVersion,
  serve(kind) {
    if (kind === "session") return listen(createServer(inSessions()));
    const respond = responder("stateless");
    const answer = kind === "sse" ? writeEvents : writeJson;
    return listen(
      createServer((request, response) => {
        readBody(request, (message) => answer(response, respond(message) ?? "", message));
      }),
    );
  },
};

/** @returns {RequestListener} */
function inSessions() {
  const respond = responder("handshake");
  /** @type {Map<string, object>} */
  const sessions = new Map();
  return (request, response) => {
    readBody(request, (message) => {
      const { "mcp-session-id": given } = request.headers;
      if (message?.method === "initialize") {
        const id = randomUUID();
        sessions.set(id, { id });
        response.setHeader("mcp-session-id", id);
      } else if (typeof given !== "string" || !sessions.has(given)) {
        response.writeHead(404).end();
        return;
      }
      const text = message === undefined ? undefined : respond(message);
      if (request.method === "DELETE") sessions.delete(String(given));
      if (text === undefined) response.writeHead(request.method === "DELETE" ? 200 : 202).end();
      else writeJson(response, text);
    });
  };
}

/**
 * @param {IncomingMessage} request
 * @param {(message: any) => void} done
 */
function readBody(request, done) {
  let text = "";
  request
    .setEncoding("utf8")
    .on("data", (chunk) => {
      text += chunk;
    })
    .on("end", () => done(text === "" ? undefined : JSON.parse(text)));
}

/**
 * @param {ServerResponse} response
 * @param {string} text
 */
function writeJson(response, text) {
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

/**
 * @param {ServerResponse} response
 * @param {string} text
 * @param {any} message
 */
function writeEvents(response, text, message) {
  const params = { progressToken: message.params._meta.progressToken, progress: 1, total: 2 };
  const progress = JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params });
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  response.write(`event: message\ndata: ${progress}\n\n`);
  response.end(`event: message\ndata: ${text}\n\n`);
}
