import type { Socket } from "node:net";
import type { MembersOf } from "../../base/check-members.js";
import { type Clock, setBackgroundTimer, type Timer } from "../../base/clock.js";

/**
 * The members of a `ws` socket that are needed here. Declared here, so that users need not install the types of `ws`.
 */
interface Pinged {
  readonly bufferedAmount: number;
  readonly isPaused: boolean;
  ping(): void;
  once(event: "close", listener: () => void): unknown;
}

/** Options of the heartbeat. */
export interface HeartbeatOptions {
  /** Milliseconds between two pings. Default: 15,000. */
  readonly pingInterval?: number;
  /** Milliseconds to wait for any data after a ping before the connection is closed. Default: 10,000. */
  readonly pongTimeout?: number;
}

/** The members of `HeartbeatOptions`, to detect unknown options. */
export const heartbeatMembers: MembersOf<HeartbeatOptions> = {
  pingInterval: ["number", "keepAlive", "heartbeat"],
  pongTimeout: ["number"],
};

/**
 * Pings the peer while the socket is open. Any received byte counts as a response, because a pong may be queued after a
 * long message.
 *
 * @param lost called if nothing was received, with the milliseconds waited
 */
export function heartbeat(
  webSocket: Pinged,
  socket: Socket,
  options: HeartbeatOptions & { readonly clock: Clock },
  lost: (milliseconds: number) => void,
): void {
  const { pingInterval = 15_000, pongTimeout = 10_000, clock } = options;
  let timer: Timer;
  const wait = (milliseconds: number, next: () => void): void => {
    timer = setBackgroundTimer(clock, next, milliseconds);
  };
  const ask = (): void => {
    // A ping is queued after data that the peer has not read. Until it reads, the stall timer of the writer decides.
    if (webSocket.bufferedAmount > 0) {
      wait(pingInterval, ask);
      return;
    }
    const before = socket.bytesRead;
    webSocket.ping();
    wait(pongTimeout, () => {
      const isSilent = socket.bytesRead === before && !webSocket.isPaused;
      if (isSilent) lost(pongTimeout);
      else wait(Math.max(pingInterval - pongTimeout, 0), ask);
    });
  };
  wait(pingInterval, ask);
  webSocket.once("close", () => clock.clearTimer(timer));
}
