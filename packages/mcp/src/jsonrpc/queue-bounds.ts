import type { MembersOf } from "../base/check-members.js";
import type { Clock } from "../base/clock.js";
import { steadyClock } from "./steady-clock.js";

/** Bounds of the queue for a peer that does not read. */
export interface QueueBounds {
  /** Queued bytes from which on senders are asked to wait. Default: 1 MiB. */
  readonly highWaterBytes?: number;
  /** Queued bytes from which on a peer that does not read is given up. Default: 32 MiB. */
  readonly maxQueuedBytes?: number;
  /** Milliseconds without a byte taken by the peer, while bytes are queued, until it is given up. Default: 30,000. */
  readonly stallTimeout?: number;
  /** The clock of `stallTimeout`. Default: that of the system. */
  readonly clock?: Clock;
}

/** The members of `QueueBounds`, for the check of options. */
export const queueMembers: MembersOf<QueueBounds> = {
  highWaterBytes: ["number", "highWaterMark"],
  maxQueuedBytes: ["number"],
  stallTimeout: ["number"],
  clock: ["object"],
};

/** The error of a connection that is ended because the peer does not read. */
export class UnreadError extends Error {
  constructor(why: string) {
    super(`the peer does not read: ${why}`);
  }
}

/** The bounds with their defaults. */
export function queueBoundsOf(bounds: QueueBounds): Required<QueueBounds> {
  const { highWaterBytes = 1024 * 1024, maxQueuedBytes = 32 * 1024 * 1024, stallTimeout = 30_000 } = bounds;
  return { highWaterBytes, maxQueuedBytes, stallTimeout, clock: steadyClock(bounds.clock) };
}

/** Queued bytes of one stream that no budget is charged for: there are few of them, and counting each short frame costs time. */
export const freeQueueBytes: number = 64 * 1024;

/** Milliseconds without progress after which the end of a transport is not waited for any longer. */
export const endGrace = 2_000;

/** Milliseconds in which a peer that takes no more input may end its output: its last output is still read. */
export const drainGrace = 100;
