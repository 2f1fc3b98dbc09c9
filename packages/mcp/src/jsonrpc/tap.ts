import type { Refusal } from "../base/frame.js";
import type { Channel } from "./channel.js";

/** What passed a tap: in the order in which it passed, before either side acts on it. */
export type Tapped =
  | { readonly kind: "sent"; readonly frame: string }
  | { readonly kind: "received"; readonly frame: string }
  /** Bytes of the peer that did not become a frame. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** The peer's side has ended. */
  | { readonly kind: "ended"; readonly error?: Error };

/** Lets an observer see everything that passes a channel. It must not throw; what it does delays the conversation. */
export function tapChannel(channel: Channel, observe: (tapped: Tapped) => void): Channel {
  return {
    open: (receiver) =>
      channel.open({
        frame(frame, decoded) {
          observe({ kind: "received", frame });
          receiver.frame(frame, decoded);
        },
        refuse(refusal) {
          observe({ kind: "refused", refusal });
          receiver.refuse(refusal);
        },
        lost: (request, error) => receiver.lost?.(request, error),
        end(error) {
          observe(error === undefined ? { kind: "ended" } : { kind: "ended", error });
          receiver.end(error);
        },
      }),
    send(frame, relatedTo, isAnswer) {
      observe({ kind: "sent", frame });
      return channel.send(frame, relatedTo, isAnswer);
    },
    close: () => channel.close(),
    pause: () => channel.pause?.(),
    resume: () => channel.resume?.(),
    ...(channel.drained && { drained: (relatedTo) => channel.drained?.(relatedTo) ?? Promise.resolve() }),
    unanswered: (request) => channel.unanswered?.(request),
    release: (request, retry) => channel.release?.(request, retry),
  };
}
