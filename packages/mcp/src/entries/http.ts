/**
 * Servers on HTTP, for every platform that speaks in `Request` and `Response`, and the channels of a client's sessions.
 *
 * @module
 */
import "../base/runtime.js";

export { type HttpChannelOptions, legacySseChannel, sessionChannel } from "../http/client/channels.js";
export {
  type EventStore,
  type MemoryEventStoreOptions,
  memoryEventStore,
  type StoredEvent,
  type StreamName,
} from "../http/event-store.js";
export { type HttpHandler, httpHandler, rpcHandler } from "../http/fetch-handler.js";
export {
  type ConnectionEnds,
  type Guard,
  type GuardOptions,
  type GuardRefusal,
  guardOf,
} from "../http/guard.js";
export type { AddressOf, Authenticate, HttpOptions, Identity, SessionOptions } from "../http/options.js";
export type { HttpRequest } from "../http/request.js";
export type { RpcOptions } from "../http/rpc-door.js";
