/**
 * JSON-RPC 2.0, complete, for both roles and any carrier. Knows nothing of MCP.
 * https://www.jsonrpc.org/specification
 *
 * @module
 */
export type { Clock, Timer } from "../base/clock.js";
export type { FrameDecoder, FrameSink, Framing, Refusal, RefusalReason } from "../base/frame.js";
export { visible } from "../base/visible.js";
export { contentLength } from "../framing/content-length.js";
export { lines } from "../framing/lines.js";
export type { MethodAlias, MethodAliases } from "../jsonrpc/aliases.js";
export { type Answerer, answerer } from "../jsonrpc/answer.js";
export type { RequestBatch } from "../jsonrpc/batch.js";
export type { Call, Exchange, Middleware, RemoteCall } from "../jsonrpc/call.js";
export type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
export { Problem, type ProblemSubject, type Valid } from "../jsonrpc/check.js";
export { type Decoded, decode, encode, RawJson, validate } from "../jsonrpc/codec.js";
export {
  type Closed,
  Connection,
  type ConnectionOptions,
  type ConnectionState,
  openConnection,
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
export type { Cancellation, NotificationListener, Routing } from "../jsonrpc/inbound.js";
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
export type { CallOptions, Outcome } from "../jsonrpc/outgoing-call.js";
export { baseProfile, mcpAskingProfile, mcpBatchProfile, mcpProfile, type Profile } from "../jsonrpc/profile.js";
export type { QueueBounds } from "../jsonrpc/queue-bounds.js";
export { describeReport, type Report, type Reporter } from "../jsonrpc/report.js";
export {
  createService,
  expected,
  type Handler,
  type MethodOptions,
  type Service,
  type ServiceOptions,
} from "../jsonrpc/service.js";
export { type Tapped, tapChannel } from "../jsonrpc/tap.js";
export type { TermsOptions } from "../jsonrpc/terms.js";
export { memoryChannels } from "../transports/memory.js";
export { type MessagePortLike, messagePortChannel } from "../transports/message-port.js";
export { type ByteStreams, type WebStreamOptions, webStreamChannel } from "../transports/web-streams.js";
export { type WebSocketOptions, webSocketChannel } from "../transports/websocket.js";
export type { WebSocketConstructor, WebSocketEvent, WebSocketLike } from "../transports/websocket-like.js";
