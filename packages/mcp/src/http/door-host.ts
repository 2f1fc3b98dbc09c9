import type { Terms } from "../jsonrpc/terms.js";
import type { Served } from "../lifecycle/served.js";
import type { Admission } from "./admission.js";
import type { StreamTerms } from "./event-stream.js";
import type { Peers } from "./peers.js";
import type { Pulse } from "./pulse.js";

/** State shared by everything that serves one URL. */
export interface DoorHost {
  readonly served: Served;
  /** How to read messages and respond outside of sessions. */
  readonly terms: Terms;
  readonly streams: StreamTerms;
  readonly pulse: Pulse;
  readonly peers: Peers;
  /** The concurrency limit of POSTs without a session. */
  readonly calls: Admission;
  /** The limit of open subscriptions among them. */
  readonly subscriptions: Admission;
  /** Functions that end each of them. */
  readonly running: Set<() => void>;
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
}
