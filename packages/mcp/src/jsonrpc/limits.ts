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
  /** Requests of the peer that wait for a place; more of them are refused with code 42900. */
  readonly waiting: number;
  /** Refused oversized frames within 60 s after which the connection is closed. */
  readonly oversizedPerMinute: number;
}

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
  waiting: 1_024,
  oversizedPerMinute: 3,
};

/** The bounds of a side that calls: results may be larger than requests. */
export const clientLimits: Limits = { ...serverLimits, frameBytes: 16 * 1024 * 1024 };
