import type { Terms } from "../jsonrpc/terms.js";
import type { Served } from "../lifecycle/served.js";
import type { Admission } from "./admission.js";
import type { StreamTerms } from "./event-stream.js";
import type { Peers } from "./peers.js";
import type { Pulse } from "./pulse.js";

/** What everything behind one door shares. */
export interface DoorHost {
  readonly served: Served;
  /** How messages are read and answered where no conversation has its own terms. */
  readonly terms: Terms;
  readonly streams: StreamTerms;
  readonly pulse: Pulse;
  readonly peers: Peers;
  /** What runs on POSTs that belong to no session. */
  readonly calls: Admission;
  /** Those of them that stay open. */
  readonly subscriptions: Admission;
  /** What ends them, one by one. */
  readonly running: Set<() => void>;
  /** Aborted when nothing new is taken. */
  readonly closing: AbortSignal;
}
