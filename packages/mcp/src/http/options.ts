import type { MaybePromise } from "../base/later.js";
import type { CarrierOptions } from "../lifecycle/serve.js";
import type { EventStore } from "./event-store.js";
import type { GuardOptions } from "./guard.js";
import type { HttpRequest } from "./request.js";
import type { SessionLimits } from "./session-table.js";

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

/** What can be set about a server on HTTP. */
export interface HttpOptions extends CarrierOptions, Pick<GuardOptions, "allowedHosts" | "allowedOrigins"> {
  /** Who may call. Default: everybody who reaches this server by an allowed host. */
  readonly authenticate?: Authenticate;
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
