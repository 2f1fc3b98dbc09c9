/**
 * WebSockets for Node, based on the package `ws`, which must be installed separately.
 *
 * @module
 */
import "../base/runtime.js";

export {
  type ServeWebSocketOptions,
  serveWebSocket,
  type WebSocketListener,
} from "../node/websocket/serve-websocket.js";
export { type NodeWebSocketOptions, webSocketChannel } from "../node/websocket/websocket-client.js";
export {
  type AcceptWebSocket,
  type WebSocketCaller,
  type WebSocketUpgrade,
  type WebSocketUpgradeOptions,
  webSocketUpgrade,
} from "../node/websocket/websocket-upgrade.js";
