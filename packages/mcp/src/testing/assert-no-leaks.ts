import type { ConnectionState } from "../jsonrpc/connection.js";

/**
 * The leak check: nothing is in progress on a connection.
 *
 * @example
 * await connection.close();
 * assertNoLeaks(connection);
 *
 * @throws Error that lists the rest: calls without an outcome, requests without a response, running handlers
 */
export function assertNoLeaks(connection: ConnectionState): void {
  const { outgoing, incoming, running } = connection.inFlight;
  const { heldBytes } = connection;
  const left = [
    ...counted("calls without an outcome", outgoing),
    ...counted("requests of the peer without a response", incoming),
    ...counted("running handlers", running),
    ...counted("held bytes", heldBytes),
  ];
  if (left.length > 0) throw new Error(`a connection is not idle: ${left.join(", ")}`);
}

function counted(what: string, count: number): readonly string[] {
  return count === 0 ? [] : [`${what}: ${count}`];
}

/** Waits for one turn of the event loop: messages in memory are then delivered and their effects done. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
