import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Clock } from "../../base/clock.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { decode } from "../../jsonrpc/codec/decode.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { excerpt } from "../../jsonrpc/report.js";
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
  headers: ["object", "header"],
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
      this.once("unexpected-response", (_request, response) => void this.#refusedBy(response));
      this.once("upgrade", ({ socket }) => {
        heartbeat(this, socket, { ...intervals, clock }, (milliseconds) => {
          this.emit("error", new Error(`the server has sent nothing for ${milliseconds} ms`));
          this.terminate();
        });
      });
    }

    /** Instead of the socket's own error, which has the status alone. */
    async #refusedBy(response: IncomingMessage): Promise<void> {
      const reason = await reasonIn(response);
      const why = reason === "" ? "" : `: ${excerpt(reason)}`;
      this.emit("error", new Error(`the server responded with status ${response.statusCode}${why}`));
      this.terminate();
    }
  };
}

/** More characters of a reason than an error shows. */
const longestReason = 4_096;

/** The reason in the body of a refusal: the message of a JSON-RPC error, or the beginning of the text. Never rejects. */
async function reasonIn(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const piece of response.setEncoding("utf8")) {
      text += piece;
      if (text.length >= longestReason) break;
    }
  } catch {
    // The connection broke; what has come of the body is enough.
  }
  const message = decode(text, mcpProfile, clientLimits);
  return "error" in message ? message.error.message : text;
}
