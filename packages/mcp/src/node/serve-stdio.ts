import type { Closed, Connection } from "../jsonrpc/connection.js";
import { type CarrierOptions, serveChannel } from "../lifecycle/serve.js";
import type { Served } from "../lifecycle/served.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { stdioChannel } from "./stdio.js";

/** Milliseconds that running calls have to finish after SIGTERM or SIGINT. */
const signalGrace = 10_000;
/** Milliseconds that the rest of the program has to end after the conversation, before it is ended. */
const exitGrace = 5_000;

/**
 * Serves the process that started this one, on stdin and stdout. Resolves when the conversation is over.
 *
 * The end of stdin, SIGTERM or SIGINT let running calls finish first; a second signal does not wait. Code behind
 * `await serveStdio(server)` can clean up; a process that is still there five seconds later is ended, so that a
 * forgotten timer leaves no orphan. Faults go to stderr unless `report` takes them.
 */
export async function serveStdio(served: Served, options: CarrierOptions = {}): Promise<Closed> {
  const frameBytes = options.limits?.frameBytes;
  const channel = stdioChannel(frameBytes === undefined ? {} : { frameBytes });
  const connection = serveChannel(served, channel, { report: faultsToStderr, ...options });
  const stop = stopOnSignal(connection);
  const closed = await connection.closed;
  process.off("SIGTERM", stop).off("SIGINT", stop);
  setTimeout(() => process.exit(), exitGrace).unref();
  return closed;
}

function stopOnSignal(connection: Connection): () => void {
  let signals = 0;
  const stop = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    void connection.drain(signalGrace);
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  return stop;
}
