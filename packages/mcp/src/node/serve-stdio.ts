import { checkMembers, type MembersOf } from "../base/members.js";
import type { Connection } from "../jsonrpc/connection.js";
import { type CarrierOptions, carrierMembers, serveChannel } from "../lifecycle/serve.js";
import { requireServed, type Served } from "../lifecycle/served.js";
import { defaultGrace, type Serving } from "./serving.js";
import { type StdioChannelOptions, stdioChannel } from "./stdio.js";

/** Settings of a server on stdin and stdout. */
export interface ServeStdioOptions extends CarrierOptions, Pick<StdioChannelOptions, "parentWatch"> {}

const serveStdioMembers: MembersOf<ServeStdioOptions> = { ...carrierMembers, parentWatch: [] };

/** Milliseconds that the rest of the program has to end after the conversation, before it is ended. */
const exitGrace = 5_000;

/**
 * Serves the process that started this one, on stdin and stdout. Resolves when it serves; `closed` resolves when the conversation
 * is over. The process lives until then.
 *
 * The end of stdin, the end of the process that started this one (`parentWatch`), SIGTERM and SIGINT let running calls finish
 * first; a second signal does not wait. Code behind `closed` can clean up; a process that is still there five seconds later is
 * ended, so that a forgotten timer leaves no orphan. Faults go to stderr unless `report` takes them.
 *
 * @example
 * const { closed } = await serveStdio(server);
 * await closed;
 * await database.end();
 *
 * @throws TypeError for what is no server, or for an option that does not exist
 */
export async function serveStdio(served: Served, options: ServeStdioOptions = {}): Promise<Serving> {
  requireServed("serveStdio", served);
  checkMembers("serveStdio", options, serveStdioMembers);
  const { parentWatch = true, ...carrier } = options;
  const { clock, limits } = carrier;
  const channel = stdioChannel({
    parentWatch,
    ...(clock !== undefined && { clock }),
    ...(limits?.frameBytes !== undefined && { frameBytes: limits.frameBytes }),
  });
  const connection = serveChannel(served, channel, carrier);
  const stop = stopOnSignal(connection);
  const closed = connection.closed.then((how) => {
    process.off("SIGTERM", stop).off("SIGINT", stop);
    setTimeout(() => process.exit(), exitGrace).unref();
    return how;
  });
  const close = (): Promise<void> => connection.close();
  const drain = (grace: number = defaultGrace): Promise<void> => connection.drain(grace);
  return { closed, drain, close, [Symbol.asyncDispose]: close };
}

function stopOnSignal(connection: Connection): () => void {
  let signals = 0;
  const stop = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    void connection.drain(defaultGrace);
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  return stop;
}
