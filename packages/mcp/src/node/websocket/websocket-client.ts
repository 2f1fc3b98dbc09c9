import { WebSocket } from "ws";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Clock } from "../../base/clock.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { steadyClock } from "../../jsonrpc/steady-clock.js";
import { type WebSocketOptions, webSocketChannel, webSocketMembers } from "../../transport/websocket.js";
import type { WebSocketConstructor, WebSocketLike } from "../../transport/websocket-writer.js";
import { type HeartbeatOptions, heartbeat, heartbeatMembers } from "./heartbeat.js";
import { socketOptions } from "./websocket-options.js";

/** Options of a channel over a WebSocket of the package `ws`. */
export interface NodeWebSocketOptions extends WebSocketOptions, HeartbeatOptions {
  /** Headers of the opening request, e.g. `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

const nodeWebSocketMembers: MembersOf<NodeWebSocketOptions> = {
  ...webSocketMembers,
  ...heartbeatMembers,
  headers: ["header"],
};

/**
 * Like `webSocketChannel` of the jsonrpc entry, but on sockets of `ws`: they support headers and pausing, reject a
 * message that is too long before buffering it, and detect a vanished server within 25 s (`pingInterval` +
 * `pongTimeout`).
 *
 * @example
 * const headers = { authorization: `Bearer ${token}` };
 * await using client = await connect(() => nodeWebSocketChannel("wss://example.com/mcp", { headers }));
 *
 * @throws SyntaxError for an invalid WebSocket URL
 */
export function nodeWebSocketChannel(
  target: string | URL | WebSocketLike,
  options: NodeWebSocketOptions = {},
): Channel {
  checkMembers("nodeWebSocketChannel", options, nodeWebSocketMembers);
  const { headers, pingInterval, pongTimeout, ...rest } = options;
  const clock = steadyClock(options.clock);
  return webSocketChannel(target, { WebSocket: socketsWith({ ...options, clock }), ...rest, clock });
}

function socketsWith({
  headers = {},
  frameBytes = clientLimits.frameBytes,
  clock,
  ...intervals
}: NodeWebSocketOptions & { readonly clock: Clock }): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string | URL, protocols: string[]) {
      super(url, protocols, { headers, ...socketOptions(frameBytes) });
      this.once("upgrade", ({ socket }) => {
        heartbeat(this, socket, { ...intervals, clock }, (milliseconds) => {
          this.emit("error", new Error(`the server has sent nothing for ${milliseconds} ms`));
          this.terminate();
        });
      });
    }
  };
}
