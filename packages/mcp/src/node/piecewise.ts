import type { WebSocket } from "ws";
import { endGrace } from "../jsonrpc/queue-bounds.js";

/** The most fragments that a message may come in: each costs room, however little it holds. */
const maxFragments = 1_024;

/** What a socket of either side is made with. Compressed, a small message would be a large one that nobody has bounded. */
export function socketOptions(frameBytes: number): {
  readonly perMessageDeflate: false;
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly closeTimeout: number;
} {
  return { perMessageDeflate: false, maxPayload: frameBytes, maxFragments, closeTimeout: endGrace };
}

/** What a fragment holds at least, so that every one that is taken is a sign that the peer reads. */
const pieceBytes = 64 * 1024;

/** Makes a socket send its long messages in fragments. */
export function piecewise(webSocket: WebSocket): WebSocket {
  const { send } = webSocket;
  return Object.assign(webSocket, {
    send(text: string): void {
      const bytes = Buffer.from(text);
      const size = Math.max(pieceBytes, Math.ceil(bytes.length / maxFragments));
      let at = 0;
      for (; at + size < bytes.length; at += size) {
        send.call(webSocket, bytes.subarray(at, at + size), { binary: false, fin: false });
      }
      send.call(webSocket, bytes.subarray(at), { binary: false });
    },
  });
}
