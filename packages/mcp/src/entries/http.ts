/**
 * MCP servers over HTTP for every platform with `Request` and `Response`, and channels for HTTP clients.
 *
 * @module http
 */
import "../base/runtime.js";

export { legacySseChannel } from "../http/client/remote-legacy-sse.js";
export { sessionChannel } from "../http/client/remote-session.js";
export type { Auth } from "../http/server/authorization.js";
export { httpHandler, rpcHandler } from "../http/server/fetch-handler.js";
export type { HttpOptions } from "../http/server/options.js";
export { originCheck } from "../http/server/origin-check.js";
export { type EventStore, memoryEventStore } from "../http/server/streams/event-store.js";
export type { Identity } from "../jsonrpc/call.js";
