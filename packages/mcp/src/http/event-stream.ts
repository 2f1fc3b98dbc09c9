import type { Clock, Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { keepAliveComment } from "./events.js";
import type { Living } from "./pulse.js";

/** Where the text of an event stream goes: the platform's end of it. */
export interface EventSink {
  /** Takes text. A promise says that the reader is behind, and resolves when it has caught up or is gone. */
  write(text: string): void | Promise<void>;
  /** Ends the stream. */
  end(): void;
  /** Breaks the connection. */
  destroy(): void;
}

/** What bounds a stream whose reader does not read. */
export interface StreamTerms {
  readonly clock: Clock;
  /** Characters that wait for the reader, from which on it is given up instead of given more. */
  readonly maxQueuedBytes: number;
  /** Milliseconds without any of them being read, after which it is given up. */
  readonly stallTimeout: number;
}

/**
 * A body that is written event by event. What is pushed in one turn goes out in one write, and what is pushed before the
 * platform takes the stream waits for it.
 */
export class EventStream implements Living {
  readonly #terms: StreamTerms;
  #phase: "open" | "ended" | "gone" = "open";
  #sink: EventSink | undefined;
  #waiting = "";
  #isScheduled = false;
  #room: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;

  constructor(terms: StreamTerms) {
    this.#terms = terms;
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** Writes text that is made of whole events. After the end it is dropped. */
  push(text: string): void {
    if (this.#phase !== "open") return;
    if (this.#room !== undefined && this.#waiting.length > this.#terms.maxQueuedBytes) {
      this.#giveUp();
    } else {
      this.#waiting += text;
      this.#schedule();
    }
  }

  /** A sign of life. */
  beat(): boolean {
    // A reader that is behind has something to read.
    if (this.#room === undefined) this.push(keepAliveComment);
    return this.isOpen;
  }

  /** Ends the stream behind what was pushed. */
  end(): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#schedule();
  }

  /** Resolves when the reader has room for more, or is gone. */
  drained(): Promise<void> {
    return this.#room?.promise ?? Promise.resolve();
  }

  /** The platform takes the stream. */
  attach(sink: EventSink): void {
    this.#sink = sink;
    if (this.#phase === "gone") sink.destroy();
    else this.#flush();
  }

  /** The platform has lost the reader. */
  gone(): void {
    if (this.#phase === "gone") return;
    this.#phase = "gone";
    this.#waiting = "";
    this.#makeRoom();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#sink === undefined || this.#room !== undefined) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#sink === undefined || this.#room !== undefined || this.#phase === "gone") return;
    while (this.#waiting !== "") {
      const text = beginningOf(this.#waiting);
      this.#waiting = this.#waiting.slice(text.length);
      const behind = this.#sink.write(text);
      if (behind === undefined) continue;
      this.#waitForRoom(behind);
      return;
    }
    if (this.#phase === "ended") this.#sink.end();
  }

  #waitForRoom(behind: Promise<void>): void {
    const { clock, stallTimeout } = this.#terms;
    this.#room = deferred<void>();
    this.#stallTimer = clock.setTimer(() => this.#giveUp(), stallTimeout);
    this.#stallTimer.unref?.();
    void behind.then(() => {
      this.#makeRoom();
      this.#flush();
    });
  }

  #makeRoom(): void {
    if (this.#stallTimer !== undefined) this.#terms.clock.clearTimer(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #giveUp(): void {
    this.#sink?.destroy();
    this.gone();
  }
}

/** Characters of one write. What a reader takes of a longer one could not be seen. */
export const longestWrite: number = 128 * 1024;

/** As much as goes out in one write. It ends behind a whole character. */
function beginningOf(text: string): string {
  if (text.length <= longestWrite) return text;
  const last = text.charCodeAt(longestWrite - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWrite - 1 : longestWrite);
}
