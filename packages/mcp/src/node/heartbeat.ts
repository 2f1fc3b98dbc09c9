import type { Socket } from "node:net";
import type { Clock, Timer } from "../base/clock.js";
import type { MembersOf } from "../base/members.js";

/** What is needed of a socket of `ws`, without its types: whoever imports ours need not have them. */
interface Pinged {
  readonly bufferedAmount: number;
  readonly isPaused: boolean;
  ping(): void;
  once(event: "close", listener: () => void): unknown;
}

/** When a peer is asked whether it is still there. */
export interface HeartbeatOptions {
  /** Milliseconds between two pings. Default: 15,000. */
  readonly pingInterval?: number;
  /** Milliseconds for a sign of life behind a ping, until the peer is given up. Default: 10,000. */
  readonly pongTimeout?: number;
}

/** The members of `HeartbeatOptions`, for the check of options. */
export const heartbeatMembers: MembersOf<HeartbeatOptions> = {
  pingInterval: ["keepAlive", "heartbeat"],
  pongTimeout: [],
};

/**
 * Pings a peer while its socket is open. Any byte that comes is a sign of life: a pong waits behind a long message.
 *
 * @param lost told when there is none, with how long there was none
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
    timer = clock.setTimer(next, milliseconds);
    timer.unref?.();
  };
  const ask = (): void => {
    // A ping waits behind what was sent. While that is not taken, its sender watches over the peer, and may not read.
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
