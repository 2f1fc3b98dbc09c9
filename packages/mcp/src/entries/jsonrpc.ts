/**
 * JSON-RPC 2.0: connections for both roles over any transport, independent of MCP.
 * https://www.jsonrpc.org/specification
 *
 * @module jsonrpc
 */
import "../base/runtime.js";

import { checkMembers } from "../base/check-members.js";
import type { Channel } from "../jsonrpc/channel.js";
import {
  type Connection,
  type ConnectionOptions,
  connectionMembers,
  openConnection as open,
} from "../jsonrpc/connection.js";

export type { Clock } from "../base/clock.js";
export { didYouMean } from "../base/did-you-mean.js";
export { escapeControls } from "../base/escape-controls.js";
export type { Framing } from "../base/framing.js";
export { answerer } from "../jsonrpc/answerer.js";
export type { Call, CallOptions, Exchange } from "../jsonrpc/call.js";
export type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
export { decode, OutOfBounds, Problem } from "../jsonrpc/codec/decode.js";
export { encode } from "../jsonrpc/codec/encode.js";
export { Connection, type ConnectionOptions } from "../jsonrpc/connection.js";
export { codes, explainCode, invalidParams, LocalError, methodNotFound, RpcError } from "../jsonrpc/errors.js";
export { clientLimits, type Limits, serverLimits } from "../jsonrpc/limits.js";
export {
  ExactNumber,
  type Id,
  isNotification,
  isRequest,
  isResponse,
  type Message,
  type Params,
  RawJson,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../jsonrpc/message.js";
export { describeReport, type Report, type Reporter } from "../jsonrpc/report.js";
export { lspCancellation } from "../jsonrpc/routing.js";
export { type Tapped, tapChannel } from "../jsonrpc/tap.js";
export { createService, expected, type MethodOptions, type Service } from "../service/service.js";
export { contentLength } from "../transport/framing/content-length.js";
export { lines } from "../transport/framing/lines.js";
export { PartialFrame } from "../transport/framing/partial-frame.js";
export { memoryChannels } from "../transport/memory.js";
export { messagePortChannel } from "../transport/message-port.js";
export { webStreamChannel } from "../transport/web-streams.js";
export { webSocketChannel } from "../transport/websocket.js";

/**
 * Opens a connection on a channel.
 *
 * @example
 * await using connection = openConnection(channel, { handle: service.call });
 *
 * @throws TypeError for an unknown option
 */
export function openConnection(channel: Channel, options: ConnectionOptions = {}): Connection {
  checkMembers("openConnection", options, connectionMembers);
  return open(channel, options);
}
