/**
 * WebSockets for Node, based on the package `ws`, which must be installed separately.
 *
 * @module websocket
 */
import "../base/runtime.js";

export { nodeWebSocketChannel } from "../node/websocket/websocket-client.js";
export { serveWebSocket, webSocketUpgrade } from "../node/websocket/websocket-upgrade.js";
