/**
 * MCP servers over HTTP for every platform with `Request` and `Response`, and channels for HTTP clients.
 *
 * @module
 */
import "../base/runtime.js";

export { type HttpChannelOptions, legacySseChannel, sessionChannel } from "../http/client/channels.js";
export { type HttpHandler, httpHandler, rpcHandler } from "../http/server/fetch-handler.js";
export type { AddressOf, Authenticate, HttpOptions, Identity, SessionOptions } from "../http/server/options.js";
export {
  type ConnectionEnds,
  type OriginCheck,
  type OriginCheckOptions,
  type OriginRefusal,
  originCheck,
} from "../http/server/origin-check.js";
export type { HttpRequest } from "../http/server/request.js";
export type { RpcOptions } from "../http/server/rpc-handler.js";
export {
  type EventStore,
  type MemoryEventStoreOptions,
  memoryEventStore,
  type StoredEvent,
  type StreamName,
} from "../http/server/streams/event-store.js";
