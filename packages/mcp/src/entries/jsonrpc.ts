/**
 * JSON-RPC 2.0: connections for both roles over any transport, independent of MCP.
 * https://www.jsonrpc.org/specification
 *
 * @module
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

export { ByteBudget, processBudget } from "../base/byte-budget.js";
export type { Clock, Timer } from "../base/clock.js";
export { didYouMean } from "../base/did-you-mean.js";
export { escapeControls } from "../base/escape-controls.js";
export type { FrameDecoder, FrameRefusal, FrameRefusalReason, FrameSink, Framing } from "../base/framing.js";
export { type Answerer, answerer } from "../jsonrpc/answerer.js";
export type { RequestBatch } from "../jsonrpc/batch.js";
export type { Call, Exchange, Middleware, RemoteCall } from "../jsonrpc/call.js";
export type { InFlightCounts, Phase } from "../jsonrpc/calls/in-flight.js";
export type { CallOptions, Outcome } from "../jsonrpc/calls/outgoing-call.js";
export type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
export { OutOfBounds } from "../jsonrpc/codec/bounds.js";
export { Problem, type ProblemSubject, type Valid } from "../jsonrpc/codec/check-message.js";
export { type Decoded, decode, encode, RawJson, validate } from "../jsonrpc/codec/codec.js";
export type { MethodAlias, MethodAliases } from "../jsonrpc/codec/method-aliases.js";
export type { ResponseTolerance } from "../jsonrpc/codec/misspelt-responses.js";
export {
  type Closed,
  Connection,
  type ConnectionOptions,
  type ConnectionState,
  type Remote,
} from "../jsonrpc/connection.js";
export {
  type CodeExplanation,
  codes,
  type ErrorMapper,
  explainCode,
  invalidParams,
  LocalError,
  type LocalReason,
  methodNotFound,
  type ParamsFault,
  RpcError,
} from "../jsonrpc/errors.js";
export { clientLimits, type Limits, serverLimits } from "../jsonrpc/limits.js";
export {
  type Batch,
  type ErrorObject,
  ExactNumber,
  failure,
  type Id,
  isFailure,
  isNotification,
  isRequest,
  isResponse,
  isSuccess,
  type Message,
  notification,
  type Params,
  type RpcFailure,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type RpcSuccess,
  request,
  success,
} from "../jsonrpc/message.js";
export type { PeerOptions } from "../jsonrpc/peer-settings.js";
export { baseProfile, mcpBatchProfile, mcpProfile, mcpRequestingProfile, type Profile } from "../jsonrpc/profile.js";
export type { QueueBounds } from "../jsonrpc/queue-bounds.js";
export { describeReport, type Report, type Reporter } from "../jsonrpc/report.js";
export { type Cancellation, lspCancellation, type NotificationListener, type Routing } from "../jsonrpc/routing.js";
export { type Tapped, tapChannel } from "../jsonrpc/tap.js";
export {
  createService,
  expected,
  type Handler,
  type MethodOptions,
  type Service,
  type ServiceOptions,
} from "../service/service.js";
export { contentLength } from "../transport/framing/content-length.js";
export { lines } from "../transport/framing/lines.js";
export { type ByteSpan, PartialFrame } from "../transport/framing/partial-frame.js";
export { memoryChannels } from "../transport/memory.js";
export { type MessagePortLike, messagePortChannel } from "../transport/message-port.js";
export { type ByteStreams, type WebStreamOptions, webStreamChannel } from "../transport/web-streams.js";
export { type WebSocketOptions, webSocketChannel } from "../transport/websocket.js";
export type { WebSocketConstructor, WebSocketEvent, WebSocketLike } from "../transport/websocket-like.js";

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
