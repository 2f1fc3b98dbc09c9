import { type HttpOptions, httpHandler } from "@parlance/mcp/http";
import type { Server } from "@parlance/mcp/server";
import { expect } from "vitest";
import type { HttpHandler } from "../../../packages/mcp/src/http/server/fetch-handler.js";
import { initialized, request } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { type Asked, headersOf, sessionPost } from "./asked.js";
import { site } from "./site.js";
import type { Answer } from "./wire.js";

/** A server of ours, on whichever platform. */
export interface Door extends AsyncDisposable {
  ask(asked: Asked): Promise<Answer>;
}

/** The platforms that a test can take: a socket of Node, and `Request`s. */
export const doors: readonly {
  readonly on: "node" | "fetch";
  open(server: Server, options?: HttpOptions): Promise<Door>;
}[] = [
  { on: "node", open: site },
  { on: "fetch", open: (server, options) => Promise.resolve(fetchDoor(server, options)) },
];

function fetchDoor(server: Server, options: HttpOptions = {}): Door {
  const handler = httpHandler(server, { report: () => undefined, ...options });
  return {
    ask: (asked) => askFetch(handler, asked),
    async [Symbol.asyncDispose]() {
      handler.close();
      await turn();
      expect(server.changes.size, "listeners that are left").toBe(0);
    },
  };
}

async function askFetch(handler: HttpHandler, asked: Asked): Promise<Answer> {
  const response = await handler(requestOf(asked));
  const body = await response.text();
  // Platforms leave out the body of an answer to a HEAD.
  return { status: response.status, headers: new Map(response.headers), body: asked.method === "HEAD" ? "" : body };
}

/** A request as platforms with `Request` hand it over. */
export function requestOf(asked: Asked): Request {
  const { method = "POST", path = "/mcp", body } = asked;
  const headers = new Headers();
  for (const [name, value] of headersOf(asked)) headers.append(name, value);
  const bytes = body === undefined ? undefined : new Uint8Array(Buffer.from(body as string));
  return new Request(`http://localhost${path}`, { method, headers, ...(bytes && { body: bytes }) });
}

/** Opens a session; its id. */
export async function openSession(
  door: Pick<Door, "ask">,
  version = "2025-11-25",
  headers: Asked["headers"] = {},
  capabilities: object = {},
): Promise<string> {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: "raw", version: "1" } };
  const opened = await door.ask({ headers, body: request(0, "initialize", params) });
  const id = opened.headers.get("mcp-session-id");
  if (id === undefined) throw new Error(`no session, but ${opened.status} ${opened.body}`);
  expect((await door.ask(sessionPost(id, initialized, headers))).status).toBe(202);
  return id;
}
