import type { FrameRefusal } from "../base/framing.js";
import type { Channel } from "./channel.js";
import { guarded, reporterOf } from "./hooks.js";
import type { Reporter } from "./report.js";

/** Traffic that a tap observed, in order, before either side acts on it. */
export type Tapped =
  | {
      readonly kind: "sent";
      /** The text of the frame. */
      readonly frame: string;
    }
  | {
      readonly kind: "received";
      /** The text of the frame. */
      readonly frame: string;
    }
  /** Bytes of the peer that did not become a frame. */
  | {
      readonly kind: "refused";
      /** The reason, and the first bytes. */
      readonly refusal: FrameRefusal;
    }
  /** The peer's side has ended. */
  | {
      readonly kind: "ended";
      /** The transport error; absent after an orderly end. */
      readonly error?: Error;
    };

/**
 * Passes all traffic of a channel to an observer. A slow observer delays the traffic; its errors go to `report` and do not end
 * the connection.
 *
 * @example
 * const channel = tapChannel(stdioChannel(), (tapped) => console.error(tapped));
 *
 * @param report default: faults go to the console
 */
export function tapChannel(channel: Channel, observer: (tapped: Tapped) => unknown, report?: Reporter): Channel {
  const reporter = reporterOf(report);
  const observe = (tapped: Tapped): void => guarded("tapChannel observer", () => observer(tapped), reporter);
  return {
    open: (receiver) =>
      channel.open({
        budget: receiver.budget,
        frame(frame, decoded, cause) {
          observe({ kind: "received", frame });
          receiver.frame(frame, decoded, cause);
        },
        refuse(refusal) {
          observe({ kind: "refused", refusal });
          receiver.refuse(refusal);
        },
        lost: (request, error) => receiver.lost?.(request, error),
        end(error, isClosed) {
          observe(error === undefined ? { kind: "ended" } : { kind: "ended", error });
          receiver.end(error, isClosed);
        },
      }),
    get waiting() {
      return channel.waiting;
    },
    get unfinished() {
      return channel.unfinished;
    },
    send(frame, relatedTo, isAnswer, lossy) {
      observe({ kind: "sent", frame });
      return channel.send(frame, relatedTo, isAnswer, lossy);
    },
    close: () => channel.close(),
    pause: () => channel.pause?.(),
    resume: () => channel.resume?.(),
    ...(channel.drained && { drained: (relatedTo) => channel.drained?.(relatedTo) ?? Promise.resolve() }),
    failed: (request, thrown) => channel.failed?.(request, thrown),
    unanswered: (request) => channel.unanswered?.(request),
    release: (request, retry) => channel.release?.(request, retry),
  };
}
