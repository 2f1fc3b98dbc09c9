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

export { nodeHandler, nodeRpcHandler } from "../node/http/node-handler.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "../node/http/serve-http.js";
export {
  type ChildChannel,
  type ChildChannelOptions,
  type Command,
  childChannel,
} from "../node/process/child-process.js";
export type { CommandTarget } from "../node/process/command-target.js";
export { watchParent } from "../node/process/parent-watch.js";
export { serveStdio } from "../node/serve-stdio.js";
export { acceptTcp, serveTcp, type TcpServer } from "../node/serve-tcp.js";
export { stdioChannel } from "../node/stdio.js";
export { streamChannel } from "../node/stream-channel.js";
export { tcpChannel } from "../node/tcp.js";

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
