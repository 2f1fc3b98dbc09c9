import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { checkMembers, type MembersOf } from "../base/members.js";
import { settlesWithin } from "../base/settles-within.js";
import type { HttpDoor } from "../http/door.js";
import type { GuardOptions } from "../http/guard.js";
import { Door } from "../http/handler.js";
import { type HttpOptions, httpMembers } from "../http/options.js";
import { RpcDoor, type RpcOptions, rpcMembers } from "../http/rpc-door.js";
import type { Call } from "../jsonrpc/call.js";
import { requireServed, type Served } from "../lifecycle/served.js";
import { NodeRequest, writeAnswer } from "./http-exchange.js";
import { defaultGrace } from "./serving.js";

/** A server for `node:http`, and for everything that hands on its requests: Express, Fastify (`.raw`), Connect. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends every session and stream at once. */
  close(): void;
}

/** What can be set about a server behind requests of `node:http`. */
export interface NodeHandlerOptions extends HttpOptions, Pick<GuardOptions, "exposed"> {}

/** What can be set about plain JSON-RPC behind requests of `node:http`. */
export interface NodeRpcHandlerOptions extends RpcOptions, Pick<GuardOptions, "exposed"> {}

const exposedMember = { exposed: ["expose"] };
const nodeHandlerMembers: MembersOf<NodeHandlerOptions> = { ...httpMembers, ...exposedMember };
const nodeRpcHandlerMembers: MembersOf<NodeRpcHandlerOptions> = { ...rpcMembers, ...exposedMember };

/**
 * Serves clients of every revision on one URL. A body that a parser has read is taken from `request.body`. Faults go to stderr
 * unless `report` takes them. Requests by a name of this machine, such as `localhost`, are served to this machine alone, also
 * where the framework listens on every interface.
 *
 * @example
 * app.all("/mcp", nodeHandler(server)); // Express
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function nodeHandler(served: Served, options: NodeHandlerOptions = {}): NodeHandler {
  requireServed("nodeHandler", served);
  checkMembers("nodeHandler", options, nodeHandlerMembers);
  return handlerOf(new Door(served, options));
}

/**
 * Plain JSON-RPC 2.0 on HTTP: a POST is a message or a batch, and its answer is the answer, or 204 where none is owed.
 *
 * @example
 * http.createServer(nodeRpcHandler(service.call)).listen(3000, "127.0.0.1");
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function nodeRpcHandler(call: Call, options: NodeRpcHandlerOptions = {}): NodeHandler {
  checkMembers("nodeRpcHandler", options, nodeRpcHandlerMembers);
  return handlerOf(new RpcDoor(call, options));
}

/** Milliseconds in which answers have to leave that are given at the end of a drain. */
const leaveTime = 2_000;

function handlerOf(door: HttpDoor): NodeHandler {
  const open = new Set<ServerResponse>();
  let whenLeft: (() => void) | undefined;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    open.add(response);
    // It closes once: `once` would only cost more.
    response.on("close", () => {
      open.delete(response);
      if (open.size === 0) whenLeft?.();
    });
    void door.handle(new NodeRequest(request, response)).then((answer) => writeAnswer(request, response, answer));
  };
  return Object.assign(handle, {
    async drain(grace: number = defaultGrace) {
      await door.drain(grace);
      if (open.size === 0) return;
      const left = deferred<void>();
      whenLeft = left.resolve;
      await settlesWithin(left.promise, leaveTime, systemClock);
    },
    close: () => door.close(),
  });
}
