import { checkMembers, type MembersOf } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import { type Connection, type ConnectionOptions, memoryChannels, openConnection } from "../entries/jsonrpc.js";
import type { ConnectionState } from "../jsonrpc/connection.js";
import { createFakeClock, type FakeClock } from "./fake-clock.js";

export interface PairOptions {
  /** Options of `near`, the end that the test calls. Default: none. */
  readonly near?: ConnectionOptions;
  /** Options of `far`, its peer. Default: none. */
  readonly far?: ConnectionOptions;
}

const pairMembers: MembersOf<PairOptions> = { near: ["object"], far: ["object", "peer"] };

const servesFar = "write pair({ far: { handle: service.call } })";

/** Two connections to each other in memory, on a fake clock. */
export type Pair = AsyncDisposable & {
  /** The end that calls. */
  readonly near: Connection;
  /** The end that answers. */
  readonly far: Connection;
  /** The clock of both ends, unless their options have another. */
  readonly clock: FakeClock;
  /**
   * Closes both ends.
   * @throws Error if a call, a handler or a timer is left
   */
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Creates two connected ends for a test, with a leak check when they are disposed.
 *
 * @example
 * await using ends = pair({ far: { handle: createService().method("ping", () => "pong").call } });
 * assert.equal(await ends.near.call("ping"), "pong");
 */
export function pair(options: PairOptions = {}): Pair {
  checkMembers("pair", options, pairMembers, { handle: servesFar, method: servesFar, call: servesFar });
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

/**
 * The leak check: nothing is in progress on a connection.
 *
 * @example
 * await connection.close();
 * assertNoLeaks(connection);
 *
 * @throws Error that lists the rest: calls without an outcome, requests without a response, running handlers; TypeError if it is not
 * given a connection
 */
export function assertNoLeaks(connection: ConnectionState): void {
  const given: unknown = connection;
  if (!isObject(given) || !("inFlight" in given)) {
    const remedy = "write assertNoLeaks(client.connection)";
    throw new TypeError(`assertNoLeaks needs a connection, got ${kindOf(given)}: ${remedy}`);
  }
  const { outgoing, incoming, running } = connection.inFlight;
  const counts = {
    "calls without an outcome": outgoing,
    "requests of the peer without a response": incoming,
    "running handlers": running,
    "held bytes": connection.heldBytes,
  };
  const left = Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`]));
  if (left.length > 0) throw new Error(`a connection is not idle: ${left.join(", ")}`);
}

/** Waits for one turn of the event loop: messages in memory are then delivered and their effects done. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
