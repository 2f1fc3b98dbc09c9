import type { MembersOf } from "../base/check-members.js";
/** Bounds on what a peer may send, enforced before it is parsed or stored. `Infinity` lifts a bound. */
export interface Limits {
  /** Bytes of one frame. Stops a peer from making this side buffer without end. */
  readonly frameBytes: number;
  /** Nesting of arrays and objects in one frame. `JSON.stringify` and recursive handlers die of deep values. */
  readonly depth: number;
  /** Values in one frame. Parsing and validating cost time per value, not per byte. */
  readonly nodes: number;
  /** Members of one object. Keys can be chosen to collide in a hash table. */
  readonly keys: number;
  /** Bytes of an id as it is echoed: a long one is an amplifier. */
  readonly idBytes: number;
  /** Characters of a method name. */
  readonly methodLength: number;
  /** Messages in one batch. */
  readonly batch: number;
  /** Requests of the peer that run at the same time on one connection; more of them wait. */
  readonly running: number;
  /**
   * Calls of the peer that stay open until somebody ends them, such as `subscriptions/listen`; more of them are refused with code
   * 42900. They take no place of those that run: open subscriptions would hold up every call else. On HTTP: of one principal or
   * address.
   */
  readonly listening: number;
  /** Requests of the peer that wait for a place; more of them are refused with code 42900. */
  readonly waiting: number;
  /**
   * Bytes that are kept for one peer: bodies and frames that are read, requests that wait or run, output that is queued,
   * subscriptions, events to resume from. What does not fit is refused. A peer could keep 1,152 frames of 4 MiB here else.
   * Text counts two bytes a character. A peer is a connection, or on a network everything from one principal or address.
   */
  readonly peerBytes: number;
  /** The same for all peers of this process, whatever serves them: many peers must not end it together. */
  readonly processBytes: number;
  /** Refused oversized frames within 60 s after which the connection is closed. */
  readonly oversizedPerMinute: number;
}

/** The members of `Limits`, for the check of options. */
export const limitsMembers: MembersOf<Limits> = {
  frameBytes: ["number", "maxFrameBytes", "maxBytes", "bytes"],
  depth: ["number"],
  nodes: ["number"],
  keys: ["number"],
  idBytes: ["number"],
  methodLength: ["number"],
  batch: ["number"],
  running: ["number", "concurrency", "maxRunning"],
  waiting: ["number", "queue", "maxWaiting"],
  listening: ["number", "maxSubscriptions"],
  peerBytes: ["number", "maxMemory", "maxBytes"],
  processBytes: ["number"],
  oversizedPerMinute: ["number"],
};

/** The bounds of a side that serves. */
export const serverLimits: Limits = {
  frameBytes: 4 * 1024 * 1024,
  depth: 64,
  nodes: 200_000,
  keys: 10_000,
  idBytes: 256,
  methodLength: 256,
  batch: 100,
  running: 128,
  listening: 64,
  waiting: 1_024,
  peerBytes: 64 * 1024 * 1024,
  processBytes: 256 * 1024 * 1024,
  oversizedPerMinute: 3,
};

/** The bounds of a side that calls: results may be larger than requests. */
export const clientLimits: Limits = { ...serverLimits, frameBytes: 16 * 1024 * 1024 };
