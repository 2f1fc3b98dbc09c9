import type { PageReplay } from "@parlance/web/protocol";

/**
 * The clock of a replayed client: the time of the recording that its messages have reached. It stands while a response is awaited, so
 * the recorded pauses stay, and never runs back: what was sent cannot be taken back.
 */
export class ReplayClock {
  /** The time of the last message of the client, in milliseconds of the recording. */
  readonly #until: number;
  #speed: number;
  #runs = true;
  #isOver = false;
  /** The time that was reached, and the real time at which it was. */
  #at = 0;
  #since = performance.now();
  /** The time up to which nothing waits: the slider was put there. */
  #skipsTo = 0;
  /** The next message: its time, and what sends it. */
  #due: { readonly at: number; readonly send: () => void } | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param speed the factor of the recorded speed; 0 for no pauses */
  constructor(until: number, speed: number) {
    this.#until = until;
    this.#speed = speed;
  }

  /** The state that the page shows. */
  get state(): PageReplay {
    return { at: this.#now(), until: this.#until, speed: this.#speed, runs: this.#runs, isOver: this.#isOver };
  }

  /** Pauses or continues, changes the speed, or moves ahead to a time. */
  set({ at, speed, runs }: Partial<Pick<PageReplay, "at" | "speed" | "runs">>): void {
    this.#stand(this.#now());
    if (at !== undefined) this.#skipsTo = Math.max(this.#skipsTo, at);
    if (speed !== undefined) this.#speed = speed;
    if (runs !== undefined) this.#runs = runs;
    this.#wait();
  }

  /** Resolves when the message of a time may be sent. */
  reach(at: number): Promise<void> {
    return new Promise((send) => {
      this.#stand(this.#at);
      this.#due = { at, send };
      this.#wait();
    });
  }

  /** Everything was sent and answered, or nothing more can be. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    this.#runs = false;
  }

  #now(): number {
    const passed = this.#runs && this.#due !== undefined ? (performance.now() - this.#since) * this.#speed : 0;
    return Math.min(this.#at + passed, this.#due?.at ?? this.#at);
  }

  #stand(at: number): void {
    this.#at = at;
    this.#since = performance.now();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const due = this.#due;
    if (due === undefined) return;
    const isFree = due.at <= this.#skipsTo || (this.#runs && this.#speed === 0);
    const left = isFree ? 0 : (due.at - this.#now()) / this.#speed;
    if (left > 0) {
      // A message that is held by a pause has no timer: the next change looks again.
      if (this.#runs) this.#timer = setTimeout(() => this.#wait(), Math.ceil(left));
      return;
    }
    this.#due = undefined;
    this.#stand(Math.max(this.#at, due.at));
    due.send();
  }
}
