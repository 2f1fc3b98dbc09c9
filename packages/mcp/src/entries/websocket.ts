/**
 * WebSockets on Node, with the package `ws`, which has to be installed beside this one.
 *
 * @module
 */
import "../base/runtime.js";

export { type ServeWebSocketOptions, serveWebSocket, type WebSocketListener } from "../node/serve-websocket.js";
export { type NodeWebSocketOptions, webSocketChannel } from "../node/websocket-client.js";
export {
  type AcceptWebSocket,
  type WebSocketCaller,
  type WebSocketUpgrade,
  type WebSocketUpgradeOptions,
  webSocketUpgrade,
} from "../node/websocket-upgrade.js";
