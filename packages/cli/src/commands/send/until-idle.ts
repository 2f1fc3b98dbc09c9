/** Milliseconds without anything, after which nothing more is expected. */
const quiet = 1_000;

/** How long somebody listens. */
export interface Listening {
  /** Milliseconds: exactly so long. Otherwise until it is quiet. */
  readonly wait: number | undefined;
  /** Milliseconds: no longer than this, however lively it is, or however long the first sign takes. */
  readonly timeout: number;
  /** An answer must come, so that the quiet before it does not count. */
  readonly isOwed: boolean;
  /** Somebody does not want to listen any more. */
  readonly stop: AbortSignal;
}

/** Waits for what comes back. */
export class IdleWatch {
  readonly #over = new AbortController();
  #quiet: NodeJS.Timeout | undefined;
  #hasCome = false;

  /** Something came. */
  disturb(): void {
    this.#hasCome = true;
    if (this.#quiet !== undefined) this.#expectQuiet();
  }

  /** Nothing will come any more. */
  end(): void {
    this.#over.abort();
  }

  /** Resolves when there is nothing more to wait for. Called once. */
  async until({ wait, timeout, isOwed, stop }: Listening): Promise<void> {
    const { signal } = this.#over;
    const end = (): void => this.end();
    // No `AbortSignal.timeout` in an `AbortSignal.any`: nothing holds them, and those of Node 20 may be collected unheard.
    const late = setTimeout(end, wait ?? timeout);
    if (stop.aborted) end();
    stop.addEventListener("abort", end);
    if (wait === undefined && (this.#hasCome || !isOwed)) this.#expectQuiet();
    if (wait === undefined) this.#quiet ??= setTimeout(end, timeout);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    stop.removeEventListener("abort", end);
    clearTimeout(late);
    clearTimeout(this.#quiet);
  }

  #expectQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.end(), quiet);
  }
}
