/**
 * MCP servers over HTTP for every platform with `Request` and `Response`, and channels for HTTP clients.
 *
 * @module
 */
import "../base/runtime.js";

export { legacySseChannel } from "../http/client/remote-legacy-sse.js";
export { sessionChannel } from "../http/client/remote-session.js";
export { httpHandler, rpcHandler } from "../http/server/fetch-handler.js";
export type { Authenticate, HttpOptions, Identity } from "../http/server/options.js";
export { originCheck } from "../http/server/origin-check.js";
export { type EventStore, memoryEventStore } from "../http/server/streams/event-store.js";
