/**
 * Carriers of Node: HTTP, stdio, child processes, TCP and Unix sockets, byte streams.
 *
 * @module
 */
import type { Client } from "../client/client.js";
import type { ToolTypes } from "../client/tool-types.js";
import { type Command, childChannel } from "../node/child-process.js";
import { type ConnectOptions, connect as connectAnywhere, type Target } from "./client.js";

export type { ProcessExit } from "../node/child-process.js";
export { type ChildChannel, type ChildChannelOptions, type Command, childChannel } from "../node/child-process.js";
export { type NodeHandler, nodeHandler, nodeRpcHandler } from "../node/node-handler.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "../node/serve-http.js";
export { serveStdio } from "../node/serve-stdio.js";
export { type AcceptOptions, acceptTcp, type ServeTcpOptions, serveTcp, type TcpServer } from "../node/serve-tcp.js";
export type { ListenAddress, ListenPath, ListenPort, SocketAddress } from "../node/socket-address.js";
export { stdioChannel } from "../node/stdio.js";
export { type StreamChannelOptions, streamChannel } from "../node/stream-channel.js";
export { type TcpChannelOptions, tcpChannel } from "../node/tcp.js";

/**
 * `connect` of the client entry, which also starts a command and speaks to it on stdio.
 *
 * @example
 * await using client = await connect({ command: "node", args: ["server.js"] });
 */
export function connect<Tools extends ToolTypes = ToolTypes>(
  target: Target | Command,
  options: ConnectOptions = {},
): Promise<Client<Tools>> {
  const isCommand = typeof target === "object" && "command" in target;
  return connectAnywhere(isCommand ? () => childChannel(target) : target, options);
}
