import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpDoor } from "../http/door.js";
import { Door } from "../http/handler.js";
import type { HttpOptions } from "../http/options.js";
import { RpcDoor, type RpcOptions } from "../http/rpc-door.js";
import type { Call } from "../jsonrpc/call.js";
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
  return handlerOf(new Door(served, { report: faultsToStderr, ...options }));
}

/**
 * Plain JSON-RPC 2.0 on HTTP: a POST is a message or a batch, and its answer is the answer, or 204 where none is owed.
 *
 * @example
 * http.createServer(nodeRpcHandler(service.call)).listen(3000, "127.0.0.1");
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function nodeRpcHandler(call: Call, options: RpcOptions = {}): NodeHandler {
  return handlerOf(new RpcDoor(call, options));
}

function handlerOf(door: HttpDoor): NodeHandler {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    void door.handle(new NodeRequest(request, response)).then((answer) => writeAnswer(request, response, answer));
  };
  return Object.assign(handle, {
    drain: (grace: number = defaultGrace) => door.drain(grace),
    close: () => door.close(),
  });
}
