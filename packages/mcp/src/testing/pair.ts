import { type Connection, type ConnectionOptions, memoryChannels, openConnection } from "../entries/jsonrpc.js";
import { assertAtRest, nextTurn } from "./at-rest.js";
import { createFakeClock, type FakeClock } from "./fake-clock.js";

export interface PairOptions {
  /** The end that the test holds. */
  readonly near?: ConnectionOptions;
  /** Its peer. */
  readonly far?: ConnectionOptions;
}

/** Two connections that speak to each other in memory, on a clock that the test moves. */
export interface Pair extends AsyncDisposable {
  readonly near: Connection;
  readonly far: Connection;
  /** The clock of both, unless their options name another. */
  readonly clock: FakeClock;
  /** Closes both. @throws Error when anything is left: a call, a handler, a timer */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Two connected ends for a test, with the leak check at its end.
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
        assertAtRest(near);
        assertAtRest(far);
      } finally {
        await Promise.all([near.close(), far.close()]);
      }
      if (clock.armed > 0) throw new Error(`timers are still armed behind the end of both connections: ${clock.armed}`);
    },
  };
}
