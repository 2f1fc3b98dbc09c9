import { type Connection, type ConnectionOptions, memoryChannels, openConnection } from "../entries/jsonrpc.js";
import { assertNoLeaks, nextTurn } from "./assert-no-leaks.js";
import { createFakeClock, type FakeClock } from "./fake-clock.js";

export interface PairOptions {
  /** Options of `near`, the end that the test calls. */
  readonly near?: ConnectionOptions;
  /** Options of `far`, its peer. */
  readonly far?: ConnectionOptions;
}

/** Two connections to each other in memory, on a fake clock. */
export interface Pair extends AsyncDisposable {
  readonly near: Connection;
  readonly far: Connection;
  /** The clock of both ends, unless their options have another. */
  readonly clock: FakeClock;
  /**
   * Closes both ends.
   * @throws Error if a call, a handler or a timer is left
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates two connected ends for a test, with a leak check when they are disposed.
 *
 * @example
 * await using ends = pair({ far: { handle: createService().method("ping", () => "pong").call } });
 * assert.equal(await ends.near.call("ping"), "pong");
 */
export function pair(options: PairOptions = {}): Pair {
  const clock = createFakeClock();
  const [left, right] = memoryChannels();
  const near = openConnection(left, { clock, ...options.near });
  const far = openConnection(right, { clock, ...options.far });
  return {
    near,
    far,
    clock,
    async [Symbol.asyncDispose]() {
      await nextTurn();
      try {
        assertNoLeaks(near);
        assertNoLeaks(far);
      } finally {
        await Promise.all([near.close(), far.close()]);
      }
      if (clock.armed > 0) throw new Error(`timers are still armed after both connections have closed: ${clock.armed}`);
    },
  };
}
