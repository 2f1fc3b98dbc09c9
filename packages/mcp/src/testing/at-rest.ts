import type { ConnectionState } from "../entries/jsonrpc.js";

/**
 * The leak check: everything that was begun on a connection has come to its end.
 * @throws Error that says what has not: calls without an outcome, requests without an answer, handlers that still run
 */
export function assertAtRest(connection: ConnectionState): void {
  const { outgoing, incoming, running } = connection.inFlight;
  const { heldBytes } = connection;
  const left = [
    ...counted("its calls without an outcome", outgoing),
    ...counted("requests of the peer without an answer", incoming),
    ...counted("handlers that have not ended", running),
    ...counted("bytes that are held", heldBytes),
  ];
  if (left.length > 0) throw new Error(`a connection is not at rest: ${left.join(", ")}`);
}

function counted(what: string, count: number): readonly string[] {
  return count === 0 ? [] : [`${what}: ${count}`];
}

/** One turn of the event loop: whatever is on its way in memory has arrived, and what it set off is done. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
