import type { PeerSettings } from "../../jsonrpc/peer-settings.js";
import type { Servable } from "../../server/servable.js";
import type { ConcurrencyLimit } from "./concurrency-limit.js";
import type { Peers } from "./peers.js";
import type { StreamTerms } from "./streams/event-stream.js";
import type { KeepAlive } from "./streams/keep-alive.js";

/** State shared by everything that serves one URL. */
export interface HandlerState {
  readonly served: Servable;
  /** How to read messages and respond outside of sessions. */
  readonly terms: PeerSettings;
  readonly streams: StreamTerms;
  readonly pulse: KeepAlive;
  readonly peers: Peers;
  /** The concurrency limit of POSTs without a session. */
  readonly calls: ConcurrencyLimit;
  /** The limit of open subscriptions among them. */
  readonly subscriptions: ConcurrencyLimit;
  /** Functions that end each of them. */
  readonly running: Set<() => void>;
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
}
