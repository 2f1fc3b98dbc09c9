import { EventCutter } from "@parlance/wire";
import type { Rewriter } from "../../shared/forward.js";
import { type Origins, renamed } from "./origins.js";

/** Bytes at the beginning of a stream that are searched before they are forwarded. */
const mostHeld = 64 * 1024;

const nothing = new Uint8Array(0);

/**
 * Lets an event stream pass as it is, but for a first event that says where its messages go to with the whole address of
 * the server (HTTP with SSE of 2024-11-05): that is kept back until it is whole, as its reader would do, and names us.
 */
export function endpointRewriter({ near, far }: Origins): Rewriter {
  let held: Uint8Array = nothing;
  let cutter: EventCutter | undefined = new EventCutter();
  const release = (bytes: Uint8Array): Uint8Array => {
    cutter = undefined;
    return bytes;
  };
  return {
    push(bytes) {
      if (cutter === undefined) return bytes;
      held = Buffer.concat([held, bytes]);
      const [first] = cutter.push(bytes, 0);
      if (first?.ev.event === "endpoint") return release(Buffer.from(renamed(Buffer.from(held).toString(), far, near)));
      if (first !== undefined || !mayBeEndpoint(held)) return release(held);
      return nothing;
    },
    end: () => (cutter === undefined ? nothing : release(held)),
  };
}

/** The two ways to begin the event. */
const beginnings = ["event:", "data:"];

function mayBeEndpoint(held: Uint8Array): boolean {
  const text = Buffer.from(held.subarray(0, 8)).toString().trimStart();
  return held.length <= mostHeld && beginnings.some((each) => each.startsWith(text) || text.startsWith(each));
}
