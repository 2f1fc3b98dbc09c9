import { checkMembers, type MembersOf } from "../base/check-members.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import { steadyClock } from "../jsonrpc/steady-clock.js";
import { requireServable, type Servable } from "../server/servable.js";
import { serveChannel } from "../server/session/serve-channel.js";
import { type TransportOptions, transportMembers } from "../session/options.js";
import { watchParent } from "./process/parent-watch.js";
import { defaultGrace, type Serving } from "./serving.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends TransportOptions, Pick<StdioChannelOptions, "parentWatch"> {}

const serveStdioMembers: MembersOf<ServeStdioOptions> = { ...transportMembers, parentWatch: ["boolean"] };

/** Milliseconds for the rest of the program to finish after the connection has closed; then the process exits. */
const exitGrace = 5_000;

/**
 * Serves the parent process over stdin and stdout. Resolves once it is ready; `closed` resolves when the connection is
 * closed. The process stays alive until then.
 *
 * When stdin ends, the parent exits (`parentWatch`), or SIGTERM or SIGINT arrives, running calls may finish first; a
 * second signal exits at once. Code after `closed` can clean up; five seconds later the process exits, so that a
 * forgotten timer does not leave an orphan. Faults go to stderr unless `report` is set.
 *
 * @example
 * const { closed } = await serveStdio(server);
 * await closed;
 * await database.end();
 *
 * @throws TypeError if `served` is not a server, or for an unknown option
 */
export async function serveStdio(served: Servable, options: ServeStdioOptions = {}): Promise<Serving> {
  requireServable("serveStdio", served);
  checkMembers("serveStdio", options, serveStdioMembers);
  const { parentWatch = true, ...transport } = options;
  const { limits } = transport;
  const clock = steadyClock(transport.clock, transport.report);
  const channel = stdioChannel({
    parentWatch,
    clock,
    ...(limits?.frameBytes !== undefined && { frameBytes: limits.frameBytes }),
  });
  const connection = serveChannel(served, channel, transport);
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

export interface StdioChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /**
   * Whether to end the channel when the parent process has exited, even if another process still holds its end of the pipe. Turn
   * it off for a server that should outlive its parent. Default: true.
   */
  readonly parentWatch?: boolean;
}

const stdioMembers: MembersOf<StdioChannelOptions> = { ...streamMembers, parentWatch: ["boolean"] };

/**
 * The channel of a stdio server: frames on stdin and stdout. Nothing else may write to stdout: use `console.error`
 * instead of `console.log`.
 *
 * @example
 * await using connection = openConnection(stdioChannel(), { handle: service.call });
 */
export function stdioChannel(options: StdioChannelOptions = {}): Channel {
  checkMembers("stdioChannel", options, stdioMembers);
  return new StdioChannel(options);
}

class StdioChannel extends StreamChannel {
  readonly #stopWatch: () => void;

  constructor({ parentWatch = true, ...options }: StdioChannelOptions) {
    super(process.stdin, process.stdout, { ...options, keepsOutputOpen: true });
    // Destroying stdin ends the channel as its end does, so running calls may finish.
    this.#stopWatch = parentWatch
      ? watchParent(() => process.stdin.destroy(), { clock: steadyClock(options.clock) })
      : () => undefined;
  }

  override close(): Promise<void> {
    this.#stopWatch();
    return super.close();
  }
}
