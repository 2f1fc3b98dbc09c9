/**
 * MCP servers over HTTP for every platform with `Request` and `Response`, and channels for HTTP clients.
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
