/**
 * Transports for Node: HTTP, stdio, child processes, TCP and Unix sockets, byte streams.
 *
 * @module
 */
import "../base/runtime.js";

import type { Client } from "../client/client.js";
import { type CommandTarget, startedChannel } from "../node/process/command-target.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { type ConnectOptions, connect as connectAnywhere, type Target, type ToolsOf } from "./client.js";

export {
  type NodeHandler,
  type NodeHandlerOptions,
  type NodeRpcHandlerOptions,
  nodeHandler,
  nodeRpcHandler,
} from "../node/http/node-handler.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "../node/http/serve-http.js";
export type { ProcessExit } from "../node/process/child-process.js";
export {
  type ChildChannel,
  type ChildChannelOptions,
  type Command,
  childChannel,
} from "../node/process/child-process.js";
export type { CommandTarget } from "../node/process/command-target.js";
export { watchParent } from "../node/process/parent-watch.js";
export { type ServeStdioOptions, serveStdio } from "../node/serve-stdio.js";
export {
  type AcceptOptions,
  type AcceptTcp,
  acceptTcp,
  type ServeTcpOptions,
  serveTcp,
  type TcpCaller,
  type TcpServer,
} from "../node/serve-tcp.js";
export type { Serving } from "../node/serving.js";
export type { ListenAddress, ListenPath, ListenPort, SocketAddress } from "../node/socket-address.js";
export { type StdioChannelOptions, stdioChannel } from "../node/stdio.js";
export { type StreamChannelOptions, streamChannel } from "../node/stream-channel.js";
export { type TcpChannelOptions, tcpChannel } from "../node/tcp.js";

/**
 * Like `connect` of the client entry, but also starts commands and connects to them over stdio. By default the
 * command's stderr goes to the stderr of this process; see `CommandTarget.stderr`.
 *
 * @example
 * await using client = await connect({ command: "node", args: ["server.js"] });
 *
 * @throws as `connect` of the client entry
 */
export function connect<Tools extends ToolTypes = never, To extends Target | CommandTarget = Target | CommandTarget>(
  target: To,
  options: ConnectOptions = {},
): Promise<Client<ToolsOf<Tools, To>>> {
  const isCommand = typeof target === "object" && target !== null && "command" in target;
  const connected = connectAnywhere(isCommand ? () => startedChannel(target, options.report) : target, options);
  return connected as Promise<Client<ToolsOf<Tools, To>>>; // A command has no tool types.
}
