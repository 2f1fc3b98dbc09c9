import type { MaybePromise } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import { type CarrierOptions, carrierMembers } from "../lifecycle/serve.js";
import { type PageHeaders, pageHeaderMembers } from "./cors.js";
import type { EventStore } from "./event-store.js";
import { type GuardOptions, guardMembers } from "./guard.js";
import type { HttpRequest } from "./request.js";
import { type SessionLimits, sessionLimitMembers } from "./session-table.js";

/** Who calls. */
export interface Identity {
  /** The same for the same caller, and for no other, e.g. issuer, subject and client of a token. */
  readonly principal: string;
}

/** Finds out who calls; undefined turns the request away. It runs before the body is read. */
export type Authenticate = (
  request: Pick<HttpRequest, "method" | "url" | "header">,
) => MaybePromise<Identity | undefined>;

/** How sessions of the revisions with a handshake are kept. */
export interface SessionOptions extends Partial<SessionLimits> {
  /** Keeps what clients may come back for; false: nothing is kept. Default: the memory of this process. */
  readonly eventStore?: EventStore | false;
}

const sessionMembers: MembersOf<SessionOptions> = { ...sessionLimitMembers, eventStore: ["store"] };

/**
 * Finds the network address that an anonymous request comes from, where that is not the other end of the connection; e.g. the
 * last entry of `x-forwarded-for`, when a proxy of yours has written it. Undefined: it is not known, and bounded only together
 * with all others. Must not throw.
 */
export type AddressOf = (request: Pick<HttpRequest, "method" | "url" | "header" | "address">) => string | undefined;

/** What can be set about a server on HTTP. */
export interface HttpOptions
  extends CarrierOptions,
    PageHeaders,
    Pick<GuardOptions, "allowedHosts" | "allowedOrigins"> {
  /** Who may call. Default: everybody who reaches this server by an allowed host. */
  readonly authenticate?: Authenticate;
  /**
   * Where anonymous callers come from: their limits are counted by it. Behind a proxy all have its address, unless this finds
   * theirs. Default: the other end of the connection, on Node; elsewhere nothing is known of it.
   *
   * @example
   * addressOf: (request) => request.header("x-forwarded-for")?.split(",").at(-1)?.trim(),
   */
  readonly addressOf?: AddressOf;
  /**
   * How the revisions with a handshake are answered: with sessions; `false`, each request for itself, so that any process
   * can take any of them, but nobody can be asked or told of changes; `"none"`, not at all. Default: with sessions.
   */
  readonly sessions?: SessionOptions | false | "none";
  /** Serve clients of HTTP+SSE too, whose stream is a GET without a session on the same URL. Default: false. */
  readonly legacySse?: boolean;
  /** Milliseconds between signs of life on streams. Default: 15,000. */
  readonly keepAlive?: number;
}

/** The members of `HttpOptions`, for the check of options. */
export const httpMembers: MembersOf<HttpOptions> = {
  ...carrierMembers,
  ...guardMembers,
  ...pageHeaderMembers,
  authenticate: ["auth", "authorize", "authentication"],
  addressOf: ["trustProxy", "trustedProxy", "clientAddress"],
  sessions: sessionMembers,
  legacySse: ["sse"],
  keepAlive: ["heartbeat", "pingInterval"],
};
