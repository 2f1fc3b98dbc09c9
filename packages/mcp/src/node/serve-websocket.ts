import type { AddressInfo } from "node:net";
import { refusal } from "../http/answers.js";
import type { Connection } from "../jsonrpc/connection.js";
import type { Served } from "../lifecycle/served.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { writeAnswer } from "./http-exchange.js";
import { listen } from "./listen.js";
import { boundedServer, requireAuthentication } from "./serve-http.js";
import { describeAddress } from "./socket-address.js";
import { type AcceptWebSocket, type WebSocketUpgradeOptions, webSocketUpgrade } from "./websocket-upgrade.js";

/** Where a server on WebSockets listens. */
export interface ServeWebSocketOptions extends WebSocketUpgradeOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** The address of the interface. Default: 127.0.0.1, which only this machine reaches. */
  readonly host?: string;
  /** Default: `/mcp`. */
  readonly path?: string;
  /** Serve other machines although nobody is asked who they are. Default: false, and it does not start. */
  readonly exposed?: boolean;
}

/** A server on WebSockets that listens. */
export interface WebSocketListener extends AsyncDisposable {
  /** What clients connect to. */
  readonly url: string;
  readonly port: number;
  /** The conversations that are open. */
  readonly connections: ReadonlySet<Connection>;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

/**
 * Listens for clients of every revision. Only this machine reaches it, unless `host` says otherwise.
 *
 * @example
 * await using listener = await serveWebSocket(server, { port: 3000 });
 * console.log(listener.url); // ws://127.0.0.1:3000/mcp
 *
 * @throws TypeError for an address that others reach, without `authenticate`; Error when the port is taken
 */
export async function serveWebSocket(
  target: Served | AcceptWebSocket,
  options: ServeWebSocketOptions = {},
): Promise<WebSocketListener> {
  const { port: wanted = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...rest } = options;
  requireAuthentication(host, exposed || rest.authenticate !== undefined);
  const upgrade = webSocketUpgrade(target, { ...rest, path });
  const server = boundedServer((request, response) => {
    writeAnswer(request, response, refusal(426, "only WebSockets are served here", { upgrade: "websocket" }));
  });
  server.on("upgrade", upgrade);
  await listen(server, { port: wanted, host, exposed: true }); // Whether it may be was asked above.
  // A connection that cannot be accepted, for want of file descriptors for instance, is no reason to end.
  const { report = faultsToStderr } = rest;
  server.on("error", (error) => report({ kind: "fault", method: "WebSocket", error }));
  const ended = async (conversations: Promise<void>): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    await conversations;
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  const close = (): Promise<void> => ended(upgrade.close());
  return {
    url: `ws://${describeAddress({ host, port })}${path}`,
    port,
    connections: upgrade.connections,
    drain: (grace) => ended(upgrade.drain(grace)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
