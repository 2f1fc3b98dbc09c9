import { endGrace } from "../jsonrpc/queue-bounds.js";

/** The most fragments that a message may come in: each costs room, however little it holds. */
const maxFragments = 1_024;

/** What the sockets of `ws` are made with. Compressed, a message of a few bytes could become one that takes all memory. */
export function socketOptions(frameBytes: number): {
  readonly perMessageDeflate: false;
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly closeTimeout: number;
} {
  return { perMessageDeflate: false, maxPayload: frameBytes, maxFragments, closeTimeout: endGrace };
}
