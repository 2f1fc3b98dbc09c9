import { requireString } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import type { Id, Params } from "./message.js";
import type { Reporter } from "./report.js";

/** Calls the other side of a connection. A connection's own `call` is one. */
export type RemoteCall = (method: string, params?: Params, options?: CallOptions) => Promise<unknown>;

/** Options of one call. An `Exchange` is valid here, so a handler can forward a call with its own exchange. */
export interface CallOptions {
  /** Cancels the call: the peer is notified, and the promise rejects with a `LocalError` of reason `cancelled`. Default: none. */
  readonly signal?: AbortSignal;
  /**
   * Receives what the peer sends for this call before its result: in plain JSON-RPC, notifications with the `tag` of the call. Resets
   * `timeout`. Its failure is reported. Default: it is dropped.
   */
  notify?(method: string, params?: Params): unknown;
  /** Milliseconds without an answer or a notification for this call. Default: the connection's, 60,000. */
  readonly timeout?: number;
  /** Milliseconds that the whole call may take, however often the peer gives a sign. Default: the connection's, 600,000. */
  readonly totalTimeout?: number;
  /**
   * The tag that the peer's notifications for this call carry, unique among running calls; see `ConnectionOptions.relatedTo`. Default: none.
   */
  readonly tag?: string | number;
  /** False for a request that the peer must not be asked to cancel. Default: true. */
  readonly cancellable?: boolean;
  /**
   * Whether an element of a list in the result that breaks a bound spoils only itself: an `OutOfBounds` stands in its place.
   * Default: false, the call fails with the bound.
   */
  readonly partial?: boolean;
}

/** An authenticated caller, as a handler sees it in `ctx.auth`. The claims of a token are verified before a handler runs. */
export interface Identity {
  /**
   * A unique and stable name of the caller. Everything that a server keeps for a caller (sessions, streams, tasks, `requestState`)
   * is bound to it. `jwtAuth` and the other verifiers make it from issuer, subject and client.
   */
  readonly principal: string;
  /** The authorization server that issued the token. */
  readonly issuer?: string;
  /** The user, or the client itself if no user is involved. Unique per issuer only. */
  readonly subject?: string;
  /** The OAuth client that the token was issued to. */
  readonly clientId?: string;
  /** The granted scopes. Default: none. */
  readonly scopes?: readonly string[];
  /** All claims of the token, or whatever else the verifier found out. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** When the token expires, in milliseconds since 1970; undefined if it does not, or if that is unknown. */
  readonly expiresAt?: number;
}

/**
 * The caller as a transport knows it: its identity, `"anonymous"` on a network without one, undefined on a transport that only the
 * user of this machine can reach (stdio, in memory).
 */
export type Authentication = Identity | "anonymous" | undefined;

/**
 * The identity that a hook has returned. Callers without a name would share what is kept for them.
 * @param remedy how the hook refuses a caller
 * @throws TypeError for one without a principal, or with scopes that are not an array of strings
 */
export function requireIdentity(given: Identity, remedy: string): Identity {
  const principal: unknown = isObject(given) ? given.principal : undefined;
  requireString("the principal that auth returns", principal, remedy);
  requireScopes("the scopes that auth returns", given.scopes);
  return given;
}

/**
 * The scopes of a caller are compared with those of definitions. A text is no list of scopes: `"notes:write"` includes `"notes"`.
 * @param subject names the scopes in the message
 * @throws TypeError for anything but an array of strings; undefined is none
 */
export function requireScopes(subject: string, scopes: unknown): void {
  if (scopes === undefined) return;
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string")) return;
  const found = Array.isArray(scopes) ? "other elements" : kindOf(scopes);
  throw new TypeError(`${subject} must be an array of strings, got ${found}: write scopes: ["notes", "notes:write"]`);
}

/** The identity of a caller that has one. */
export function identityOf(auth: Authentication): Identity | undefined {
  return auth === "anonymous" ? undefined : auth;
}

/** Context of one call while it runs. Its methods may be destructured: `(params, { notify }) => …`. */
export interface Exchange {
  /**
   * Aborted when the caller cancels, a deadline passes, or the connection ends. Its reason is a `LocalError`: `cancelled`, or `closed`
   * at the end of the connection.
   */
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
  /** The caller; `"anonymous"` on a network without authentication, undefined on a transport that only the user of this machine can reach. */
  readonly auth?: Authentication;
  /** The principal of the caller; undefined for an anonymous one. */
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
  /**
   * Calls a method of the peer, where the transport is two-way; undefined over HTTP. A handler may ignore the returned promise: a
   * rejection of it is never unhandled.
   */
  readonly callback?: RemoteCall | undefined;
}

/**
 * Runs a method with its params and returns a result, or a promise of one. A server *is* a Call, a client *has* one.
 *
 * A handler may return its result without a promise, which saves the cost of one.
 * Throw an `RpcError` to choose the failure that the caller sees; anything else becomes −32603 *Internal error*.
 */
export type Call = (method: string, params: Params | undefined, exchange: Exchange) => unknown;
