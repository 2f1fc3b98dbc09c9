import type { IncomingMessage, ServerResponse } from "node:http";
import { checkMembers, type MembersOf, requireFunction } from "../../base/check-members.js";
import { settlesWithin, systemClock } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import type { HttpServerHandler } from "../../http/server/http-server-handler.js";
import { McpHandler } from "../../http/server/mcp-handler.js";
import { type HttpOptions, httpMembers, httpNotes } from "../../http/server/options.js";
import type { OriginCheckOptions } from "../../http/server/origin-check.js";
import { RpcHandler, type RpcOptions, rpcMembers } from "../../http/server/rpc-handler.js";
import type { Call } from "../../jsonrpc/call.js";
import { requireServable, type Servable } from "../../server/servable.js";
import { defaultGrace } from "../serving.js";
import { NodeExchange } from "./http-exchange.js";

/** A request listener for `node:http`, and for frameworks that use its requests: Express, Fastify (`.raw`), Connect. */
export type NodeHandler = ((request: IncomingMessage, response: ServerResponse) => void) &
  Readonly<{
    /** Stops accepting requests, waits up to `grace` milliseconds (default: 10,000) for running calls, then closes. */
    drain(grace?: number): Promise<void>;
    /** Closes every session and stream at once. */
    close(): void;
  }>;

/** Options of `nodeHandler`. */
export interface NodeHandlerOptions extends HttpOptions, Pick<OriginCheckOptions, "exposed"> {}

/** Options of `nodeRpcHandler`. */
export interface NodeRpcHandlerOptions extends RpcOptions, Pick<OriginCheckOptions, "exposed"> {}

const exposedMember: MembersOf<Pick<NodeHandlerOptions, "exposed">> = { exposed: ["boolean", "expose"] };
const nodeHandlerMembers: MembersOf<NodeHandlerOptions> = { ...httpMembers, ...exposedMember };
const nodeRpcHandlerMembers: MembersOf<NodeRpcHandlerOptions> = { ...rpcMembers, ...exposedMember };

/**
 * Serves MCP clients of every revision at one URL. If a body parser ran before, the body is taken from `request.body`.
 * Faults go to stderr unless `report` is set. Requests to a loopback name such as `localhost` are accepted only from
 * this machine, even if the framework listens on all interfaces.
 *
 * @example
 * app.all("/mcp", nodeHandler(server)); // Express
 *
 * @returns a function of Node's request and response, which fits Express's `RequestHandler`; `drain(grace)` waits up to `grace` milliseconds for
 * running calls and closes, `close()` closes at once
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function nodeHandler(served: Servable, options: NodeHandlerOptions = {}): NodeHandler {
  requireServable("nodeHandler", served);
  checkMembers("nodeHandler", options, nodeHandlerMembers, httpNotes);
  return handlerOf(new McpHandler(served, options));
}

/**
 * Serves plain JSON-RPC 2.0 over HTTP: a POST contains a message or a batch, and its response is the JSON-RPC response,
 * or 204 if there is none.
 *
 * @example
 * http.createServer(nodeRpcHandler(service.call)).listen(3000, "127.0.0.1");
 *
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function nodeRpcHandler(call: Call, options: NodeRpcHandlerOptions = {}): NodeHandler {
  requireFunction("nodeRpcHandler", call, "write nodeRpcHandler(service.call)");
  checkMembers("nodeRpcHandler", options, nodeRpcHandlerMembers);
  return handlerOf(new RpcHandler(call, options));
}

/** Milliseconds to wait at the end of a drain for the last responses to be sent. */
const leaveTime = 2_000;

function handlerOf(serverHandler: HttpServerHandler): NodeHandler {
  let open = 0;
  let whenLeft: (() => void) | undefined;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = new NodeExchange(request, response);
    open += 1;
    // `close` fires once, so `on` is enough, and `once` is slower.
    response.on("close", () => {
      open -= 1;
      exchange.closed();
      if (open === 0) whenLeft?.();
    });
    serverHandler.handle(exchange);
  };
  return Object.assign(handle, {
    async drain(grace: number = defaultGrace) {
      await serverHandler.drain(grace);
      if (open === 0) return;
      const left = deferred<void>();
      whenLeft = left.resolve;
      await settlesWithin(left.promise, leaveTime, systemClock);
    },
    close: () => serverHandler.close(),
  });
}
