import type { IncomingMessage, ServerResponse } from "node:http";
import { Door } from "../http/handler.js";
import type { HttpOptions } from "../http/options.js";
import type { Served } from "../lifecycle/served.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { NodeRequest, writeAnswer } from "./http-exchange.js";

/** A server for `node:http`, and for everything that hands on its requests: Express, Fastify (`.raw`), Connect. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends every session and stream at once. */
  close(): void;
}

/** Milliseconds that running calls have to finish. */
export const defaultGrace = 10_000;

/**
 * Serves clients of every revision on one URL. A body that a parser has read is taken from `request.body`. Faults go to stderr
 * unless `report` takes them.
 *
 * @example
 * app.all("/mcp", nodeHandler(server)); // Express
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function nodeHandler(served: Served, options: HttpOptions = {}): NodeHandler {
  const door = new Door(served, { report: faultsToStderr, ...options });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    void door.handle(new NodeRequest(request, response)).then((answer) => writeAnswer(request, response, answer));
  };
  return Object.assign(handle, {
    drain: (grace: number = defaultGrace) => door.drain(grace),
    close: () => door.close(),
  });
}
