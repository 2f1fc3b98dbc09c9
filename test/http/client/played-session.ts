import { latestHandshake } from "@parlance/mcp";
import { type Asked, json, type PlayedServer, playServer } from "./played-server.js";

/** Further behaviour of such a server. */
export interface SessionTerms {
  /** The revision that it chooses. */
  readonly version?: string;
  readonly capabilities?: object;
  /** Whether it has an event stream of its own, which waits for the test. Default: it answers GET with 405. */
  readonly listens?: boolean;
  /** Takes what is asked before anything else; true if it was answered. */
  readonly first?: (asked: Asked) => boolean;
}

/** A server of the handshake era, with sessions s1, s2 and so on; what is not about opening and closing one waits for the test. */
export function playSession(terms: SessionTerms = {}): Promise<PlayedServer> {
  const { version = latestHandshake.version, capabilities = { tools: { listChanged: true } } } = terms;
  let sessions = 0;
  return playServer((asked) => {
    const { method, message, response } = asked;
    if (terms.first?.(asked) === true) return true;
    if (method === "DELETE") return response.writeHead(204).end();
    if (method === "GET") return terms.listens === true ? false : response.writeHead(405).end();
    if (message.method === "server/discover") return refuse(asked);
    if (message.method === "notifications/initialized") return response.writeHead(202).end();
    if (message.method !== "initialize") return false;
    sessions += 1;
    const result = { protocolVersion: version, capabilities, serverInfo: { name: "played", version: "1" } };
    return json(asked, 200, { jsonrpc: "2.0", id: message.id, result }, { "mcp-session-id": `s${sessions}` });
  });
}

/** The response of servers of that era to a request before `initialize`. */
function refuse(asked: Asked): void {
  const error = { code: -32_000, message: "Bad Request: Server not initialized" };
  json(asked, 400, { jsonrpc: "2.0", error, id: null });
}

/** The response of a server to an unknown session. */
export function forgotten(asked: Asked): void {
  json(asked, 404, { jsonrpc: "2.0", error: { code: -32_001, message: "Session not found" }, id: null });
}

/** The methods of what was asked, in order; a request without a message by its verb. */
export function methodsOf({ asked }: PlayedServer): readonly string[] {
  return asked.map(({ method, message }) => message.method ?? (method === "POST" ? "an answer" : method));
}
