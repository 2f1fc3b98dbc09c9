import { endGrace } from "../../jsonrpc/queue-bounds.js";

/** The maximum number of fragments of a message: each costs memory, however small it is. */
const maxFragments = 1_024;

/**
 * Options for sockets of `ws`. Compression is off: a compressed message of a few bytes could expand to fill all memory.
 */
export function socketOptions(frameBytes: number): {
  readonly perMessageDeflate: false;
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly closeTimeout: number;
} {
  return { perMessageDeflate: false, maxPayload: frameBytes, maxFragments, closeTimeout: endGrace };
}
