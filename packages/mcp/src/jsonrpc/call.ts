import type { CallOptions } from "./calls/outgoing-call.js";
import type { Id, Params } from "./message.js";
import type { Reporter } from "./report.js";

/** Calls the other side of a connection. A connection's own `call` is one. */
export type RemoteCall = (method: string, params?: Params, options?: CallOptions) => Promise<unknown>;

/** Context of one call while it runs. */
export interface Exchange {
  /** Aborted when the caller cancels, a deadline passes, or the connection ends. Its reason is a `LocalError`. */
  readonly signal: AbortSignal;
  /** The id of the request; undefined if the transport has none. */
  readonly id?: Id | undefined;
  /**
   * Aborted when the transport accepts no new calls and waits for running ones: long-lived calls should end then. Undefined for
   * transports that never drain.
   */
  readonly closing?: AbortSignal | undefined;
  /**
   * Tells this call's caller something before the result: progress, a log line, an event.
   * Does nothing once the call is over. Never throws.
   */
  notify(method: string, params?: Params): void;
  /** Resolves when the transport can accept more. Await it between many notifications. */
  drained(): Promise<void>;
  /** The authenticated principal; undefined for an anonymous caller. */
  readonly principal?: string | undefined;
  /** The key that limits are counted by: the principal, or the network address of an anonymous caller; undefined if neither is known. */
  readonly peer?: string | undefined;
  /**
   * Closes the connection of the caller while the call continues: the caller reconnects after `retry` milliseconds. Does nothing
   * on a transport that holds no connection per call, or whose peer would not reconnect.
   */
  release?(retry: number): void;
  /** Reports what the caller does not see, to where the connection's own reports go. */
  readonly report?: Reporter | undefined;
  /** Calls the peer, where the transport is two-way. A handler may ignore the returned promise: a rejection of it is never unhandled. */
  readonly callback?: RemoteCall | undefined;
}

/**
 * Runs a method with its params and returns a result, or a promise of one. A server *is* a Call, a client *has* one.
 *
 * A handler may return its result without a promise, which saves the cost of one.
 * Throw an `RpcError` to choose the failure that the caller sees; anything else becomes −32603 *Internal error*.
 */
export type Call = (method: string, params: Params | undefined, exchange: Exchange) => unknown;
