import type { Connection } from "../entries/jsonrpc.js";

/**
 * The leak check: everything that was begun on a connection has come to its end.
 * @throws Error that says what has not: calls without an outcome, requests without an answer, handlers that still run
 */
export function assertAtRest(connection: Connection): void {
  const { outgoing, incoming, running } = connection.inFlight;
  const left = [
    ...counted(outgoing, "of its calls without an outcome"),
    ...counted(incoming, "calls of the peer without an answer"),
    ...counted(running, "handlers that have not ended"),
  ];
  if (left.length > 0) throw new Error(`a connection is not at rest: ${left.join(", ")}`);
}

function counted(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

/** One turn of the event loop: whatever is on its way in memory has arrived, and what it set off is done. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
