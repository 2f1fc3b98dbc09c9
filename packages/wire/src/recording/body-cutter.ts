import type { FrameEntry } from "./entry.js";
import { EventCutter } from "./event-cutter.js";
import { TimedBytes, type TimedRun } from "./timed-bytes.js";

/** A frame of a body, with its bytes as they crossed. */
export interface BodyFrame extends Omit<TimedRun, "last" | "w">, Pick<FrameEntry, "w" | "ev" | "cut"> {
  readonly ch: "http" | "sse";
}

/** Cuts the body of an HTTP message into frames: each event of an event stream is one; any other body is one as a whole. */
export class BodyCutter {
  readonly #events: EventCutter | undefined;
  readonly #body = new TimedBytes();

  /** @param contentType the header, if there is one */
  constructor(contentType: string | null | undefined) {
    if (/^text\/event-stream\b/i.test(contentType ?? "")) this.#events = new EventCutter();
  }

  get isStream(): boolean {
    return this.#events !== undefined;
  }

  /** Takes the next bytes, which the caller must not write to again, and returns the frames that they complete. */
  push(bytes: Uint8Array, t: number): readonly BodyFrame[] {
    if (this.#events !== undefined) return this.#events.push(bytes, t).map((event) => ({ ch: "sse", ...event }));
    this.#body.append(bytes, t);
    return [];
  }

  /** Returns the last frame, if there is one: the whole body, or an event that no blank line ends. */
  end(how: "ended" | "aborted"): BodyFrame | undefined {
    const event = this.#events?.end();
    if (event !== undefined) return { ch: "sse", ...event, cut: how };
    if (this.#body.length === 0) return undefined;
    const { last, ...body } = this.#body.end();
    return { ch: "http", ...body, ...(how === "aborted" && { cut: how }) };
  }
}
