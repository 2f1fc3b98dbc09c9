import type { AddressInfo } from "node:net";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { refusal } from "../../http/server/responses.js";
import type { Connection } from "../../jsonrpc/connection.js";
import { reporterOf } from "../../jsonrpc/hooks.js";
import { requireServable, type Servable } from "../../server/servable.js";
import { boundConnections, defaultConnections } from "../http/http-connections.js";
import { NodeExchange } from "../http/http-exchange.js";
import { boundedServer, pathsOf, requireAuthentication } from "../http/serve-http.js";
import { listen } from "../listen.js";
import { closedOf, type Serving } from "../serving.js";
import { describeAddress } from "../socket-address.js";
import {
  type AcceptWebSocket,
  upgradeMembers,
  type WebSocketUpgradeOptions,
  webSocketUpgrade,
} from "./websocket-upgrade.js";

/** Options of `serveWebSocket`. */
export interface ServeWebSocketOptions extends WebSocketUpgradeOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The address of the interface to listen on. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string;
}

const serveWebSocketMembers: MembersOf<ServeWebSocketOptions> = {
  ...upgradeMembers,
  port: [],
  host: ["hostname", "address"],
  path: ["url", "endpoint"],
};

/** A running WebSocket server. */
export interface WebSocketListener extends Serving {
  /** The URL for clients. */
  readonly url: string;
  readonly port: number;
  /** The open connections. */
  readonly connections: ReadonlySet<Connection>;
}

/** The extra places for connections that are not upgraded yet, or get an error response. */
const spare = 64;

/**
 * Listens for MCP clients of every revision. Reachable from this machine only, unless `host` is set.
 *
 * @example
 * await using listener = await serveWebSocket(server, { port: 3000 });
 * console.log(listener.url); // ws://127.0.0.1:3000/mcp
 *
 * @throws TypeError if other machines can connect and there is no `authenticate`; Error if the port is in use
 */
export async function serveWebSocket(
  target: Servable | AcceptWebSocket,
  options: ServeWebSocketOptions = {},
): Promise<WebSocketListener> {
  if (typeof target !== "function") requireServable("serveWebSocket", target);
  checkMembers("serveWebSocket", options, serveWebSocketMembers);
  const { port: wanted = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...rest } = options;
  requireAuthentication(host, exposed || rest.authenticate !== undefined);
  const upgrade = webSocketUpgrade(target, { ...rest, exposed, path });
  const server = boundedServer((request, response) => {
    new NodeExchange(request, response).respond(
      refusal(426, "only WebSockets are served here", { upgrade: "websocket" }),
    );
  });
  const { maxConnections = defaultConnections.max, maxConnectionsPerAddress = defaultConnections.maxPerAddress } = rest;
  const upgraded = boundConnections(server, {
    max: maxConnections + spare,
    maxPerAddress: maxConnectionsPerAddress + spare,
  });
  server.on("upgrade", (request, socket, head) => {
    upgraded(request);
    upgrade(request, socket, head);
  });
  await listen(server, { port: wanted, host, exposed: true }); // `requireAuthentication` checked that.
  // A connection that cannot be accepted, such as for lack of file descriptors, must not end the process.
  const report = reporterOf(rest.report);
  server.on("error", (error) => report({ kind: "fault", method: "WebSocket", error }));
  const ended = async (conversations: Promise<void>): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    await conversations;
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo; // A TCP server always has this type of address.
  const close = (): Promise<void> => ended(upgrade.close());
  return {
    url: `ws://${describeAddress({ host, port })}${pathsOf(path)[0]}`,
    port,
    connections: upgrade.connections,
    closed: closedOf(server),
    drain: (grace) => ended(upgrade.drain(grace)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
