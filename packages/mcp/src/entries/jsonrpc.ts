/**
 * JSON-RPC 2.0: connections for both roles over any transport, independent of MCP.
 * https://www.jsonrpc.org/specification
 *
 * @module
 */
import "../base/runtime.js";

import { checkMembers } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import {
  type Connection,
  type ConnectionOptions,
  connectionMembers,
  openConnection as open,
} from "../jsonrpc/connection.js";

export { ByteBudget, processBudget } from "../base/byte-budget.js";
export type { Clock, Timer } from "../base/clock.js";
export type { FrameDecoder, FrameSink, Framing, Refusal, RefusalReason } from "../base/frame.js";
export { didYouMean } from "../base/nearest.js";
export { visible } from "../base/visible.js";
export { contentLength } from "../framing/content-length.js";
export { lines } from "../framing/lines.js";
export { type Span, Unfinished } from "../framing/unfinished.js";
export type { MethodAlias, MethodAliases } from "../jsonrpc/aliases.js";
export { type Answerer, answerer } from "../jsonrpc/answer.js";
export type { RequestBatch } from "../jsonrpc/batch.js";
export { OutOfBounds } from "../jsonrpc/bounds.js";
export type { Call, Exchange, Middleware, RemoteCall } from "../jsonrpc/call.js";
export type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
export { Problem, type ProblemSubject, type Valid } from "../jsonrpc/check.js";
export { type Decoded, decode, encode, RawJson, validate } from "../jsonrpc/codec.js";
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
export type { InFlightCounts, Phase } from "../jsonrpc/in-flight.js";
export { clientLimits, type Limits, serverLimits } from "../jsonrpc/limits.js";
export type { AnswerTolerance } from "../jsonrpc/meant-answers.js";
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
export type { CallOptions, Outcome } from "../jsonrpc/outgoing-call.js";
export { baseProfile, mcpAskingProfile, mcpBatchProfile, mcpProfile, type Profile } from "../jsonrpc/profile.js";
export type { QueueBounds } from "../jsonrpc/queue-bounds.js";
export { describeReport, type Report, type Reporter } from "../jsonrpc/report.js";
export { type Cancellation, lspCancellation, type NotificationListener, type Routing } from "../jsonrpc/routing.js";
export { type Tapped, tapChannel } from "../jsonrpc/tap.js";
export type { TermsOptions } from "../jsonrpc/terms.js";
export {
  createService,
  expected,
  type Handler,
  type MethodOptions,
  type Service,
  type ServiceOptions,
} from "../service/service.js";
export { memoryChannels } from "../transports/memory.js";
export { type MessagePortLike, messagePortChannel } from "../transports/message-port.js";
export { type ByteStreams, type WebStreamOptions, webStreamChannel } from "../transports/web-streams.js";
export { type WebSocketOptions, webSocketChannel } from "../transports/websocket.js";
export type { WebSocketConstructor, WebSocketEvent, WebSocketLike } from "../transports/websocket-like.js";

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
