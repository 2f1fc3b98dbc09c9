/** How a handler goes on: at once, as a failure, as a bug, when the test wants, as soon as it is cancelled, or by closing. */
export const manners = ["now", "now", "fail", "throw", "later", "later", "later", "heed", "quit"] as const;
export type Manner = (typeof manners)[number];

/** The request of a caller, and its timeouts. */
export interface Asking {
  readonly nonce: number;
  readonly manner: Manner;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly totalTimeout: number;
  /** Hears of progress. */
  onProgress?(progress: number | undefined): void;
}
