import type { Id, Params } from "./message.js";
import type { CallOptions } from "./outgoing-call.js";
import type { Reporter } from "./report.js";

/** Calls the other side of a connection. A connection's own `call` is one. */
export type RemoteCall = (method: string, params?: Params, options?: CallOptions) => Promise<unknown>;

/** What surrounds one call while it runs. */
export interface Exchange {
  /** Aborted when the caller cancels, a deadline passes, or the carrier ends. Its reason is a `LocalError`. */
  readonly signal: AbortSignal;
  /** The id of the request; undefined where there is none, or the carrier does not tell it. */
  readonly id?: Id | undefined;
  /**
   * Aborted when the carrier takes nothing new and waits for what runs: a call that has no end of its own ends at it.
   * Undefined where the carrier never waits.
   */
  readonly closing?: AbortSignal | undefined;
  /**
   * Tells this call's caller something before the result: progress, a log line, an event.
   * Does nothing once the call is over. Never throws.
   */
  notify(method: string, params?: Params): void;
  /** Resolves when the carrier can take more. A producer of many notifications awaits it between them. */
  drained(): Promise<void>;
  /** Whom the carrier has authenticated; undefined where it knows nobody. */
  readonly principal?: string | undefined;
  /** What limits are counted by: the principal, or the network address of an anonymous caller; undefined where neither is known. */
  readonly peer?: string | undefined;
  /**
   * Lets the caller's connection go while the call goes on: the caller comes back after `retry` milliseconds for what
   * there is to tell. Does nothing on a carrier that holds no connection for a call, or whose peer would not come back.
   */
  release?(retry: number): void;
  /** Reports what the caller does not see, to where the connection's own reports go. */
  readonly report?: Reporter | undefined;
  /** Back to the peer, where the carrier has a way back. A handler need not await the answer, nor look whether it is a failure. */
  readonly callback?: RemoteCall | undefined;
}

/**
 * A call: a method and its params, answered by a result or a promise of one. A server *is* a Call, a client *has* one.
 *
 * A result that is there at once may be returned as it is: a call that never waits costs no promise.
 * Throw an `RpcError` to choose the failure that the caller sees; anything else becomes −32603 *Internal error*.
 */
export type Call = (method: string, params: Params | undefined, exchange: Exchange) => unknown;

/** Turns a Call into a Call; the same type at both ends. */
export type Middleware = (next: Call) => Call;
