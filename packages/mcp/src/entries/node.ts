/**
 * Transports for Node: HTTP, stdio, child processes, TCP and Unix sockets, byte streams.
 *
 * @module node
 */
import "../base/runtime.js";

import { checkMembers } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import type { Client } from "../client/client.js";
import type { ClientOptions } from "../client/open-client.js";
import { openOnChannel } from "../client/session/open-session.js";
import { type CommandTarget, startedChannel } from "../node/process/child-process.js";
import type { ToolTypes } from "../schema/tool-types.js";

export { nodeHandler, nodeRpcHandler } from "../node/http/node-handler.js";
export { type HttpServer, serveHttp } from "../node/http/serve-http.js";
export type { CommandTarget } from "../node/process/child-process.js";
export { type ChildChannel, type Command, childChannel } from "../node/process/child-process.js";
export { watchParent } from "../node/process/parent-watch.js";
export { serveStdio, stdioChannel } from "../node/serve-stdio.js";
export { acceptTcp, serveTcp } from "../node/serve-tcp.js";
export { streamChannel } from "../node/stream-channel.js";
export { tcpChannel } from "../node/tcp.js";

/**
 * Starts a command and connects to it over stdio. By default the command's stderr goes to the stderr of this process; see
 * `CommandTarget.stderr`.
 *
 * @example
 * await using client = await connectStdio({ command: "node", args: ["server.js"] });
 *
 * @throws TypeError if `target` is not a command; otherwise as `connect` of the client entry
 */
export async function connectStdio<Tools extends ToolTypes = ToolTypes>(
  target: CommandTarget,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  if (!isObject(target) || !("command" in target)) {
    throw new TypeError(
      `connectStdio needs a command, got ${kindOf(target)}: give it { command: "node", args: ["server.js"] }; ` +
        "connect of @parlance/mcp/client connects to URLs, server objects and channels",
    );
  }
  const { clientMembers, openClient } = await import("../client/open-client.js"); // A server needs no client.
  checkMembers("connectStdio", options, clientMembers);
  return openClient((how) => openOnChannel(() => startedChannel(target, options.report), how), options);
}
