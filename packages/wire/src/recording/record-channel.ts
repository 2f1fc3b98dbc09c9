import { type Channel, type Clock, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import type { Entry } from "./entry.js";
import { directionOf, otherSide, type Sender } from "./frame.js";

/** Options of a recorded channel. */
export interface RecordOptions {
  /** The side that owns the channel. Default: the client. */
  readonly side?: Sender;
  /** The clock of the recorded times. Default: the system clock. */
  readonly clock?: Pick<Clock, "now">;
}

/**
 * Records everything that passes a channel, for a test or a tool.
 *
 * @example
 * const entries: Entry[] = [];
 * const client = await connect(recordChannel(channel, (entry) => entries.push(entry)));
 * assert.deepEqual(violations(entries).map(describeVerdict), []);
 *
 * @param onEntry called with each entry; it delays the conversation while it runs. Errors that it throws or rejects with are
 *   written to the console (stderr)
 */
export function recordChannel(
  channel: Channel,
  onEntry: (entry: Entry) => unknown,
  { side = "client", clock = performance }: RecordOptions = {},
): Channel {
  const began = clock.now();
  let n = 0;
  return tapChannel(channel, (tapped) => {
    n += 1;
    const d = directionOf(tapped.kind === "sent" ? side : otherSide(side));
    return onEntry(entryOf(tapped, { n, s: "1", t: clock.now() - began, d }));
  });
}

type Place = Pick<Extract<Entry, { readonly k: "f" }>, "n" | "s" | "t" | "d">;

const encoder = new TextEncoder();

function entryOf(tapped: Tapped, place: Place): Entry {
  switch (tapped.kind) {
    case "sent":
    case "received":
      return { k: "f", ...place, ch: "socket", len: encoder.encode(tapped.frame).length, nl: "", raw: tapped.frame };
    case "refused": {
      const { head, bytes } = tapped.refusal;
      return { k: "f", ...place, ch: "socket", len: bytes, nl: "", kept: encoder.encode(head).length, raw: head };
    }
    case "ended":
      return { k: "l", ...place, ev: "close", ...(tapped.error && { why: tapped.error.message }) };
  }
}
