import { WebSocket } from "ws";
import type { Channel } from "../jsonrpc/channel.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { webSocketChannel as anyWebSocketChannel, type WebSocketOptions } from "../transports/websocket.js";
import type { WebSocketConstructor, WebSocketLike } from "../transports/websocket-like.js";
import { socketOptions } from "./websocket-options.js";

/** What can be set about a channel over a WebSocket of `ws`. */
export interface NodeWebSocketOptions extends WebSocketOptions {
  /** Headers of the request that opens the socket, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `webSocketChannel` of the jsonrpc entry, on the sockets of `ws`: they take headers, wait when this side cannot read on, and
 * end a message that is too long before it is there.
 *
 * @example
 * const headers = { authorization: `Bearer ${token}` };
 * await using client = await connect(() => webSocketChannel("wss://example.com/mcp", { headers }));
 *
 * @throws SyntaxError for a URL that is none of a WebSocket
 */
export function webSocketChannel(target: string | URL | WebSocketLike, options: NodeWebSocketOptions = {}): Channel {
  return anyWebSocketChannel(target, { WebSocket: socketsWith(options), ...options });
}

function socketsWith({
  headers = {},
  frameBytes = clientLimits.frameBytes,
}: NodeWebSocketOptions): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string | URL, protocols: string[]) {
      super(url, protocols, { headers, ...socketOptions(frameBytes) });
    }
  };
}
