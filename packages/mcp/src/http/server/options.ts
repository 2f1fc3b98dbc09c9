import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { type TransportOptions, transportMembers } from "../../session/options.js";
import type { Auth } from "./authorization.js";
import { type PageHeaders, pageHeaderMembers } from "./cors.js";
import { type OriginCheckOptions, originCheckMembers } from "./origin-check.js";
import type { HttpRequest } from "./request.js";
import { type SessionLimits, sessionLimitMembers } from "./sessions/session-table.js";
import type { EventStore } from "./streams/event-store.js";

/** Options of sessions, for handshake revisions. */
export interface SessionOptions extends Partial<SessionLimits> {
  /** Stores events so that clients can resume streams; false disables it. Default: the memory of this process. */
  readonly eventStore?: EventStore | false;
}

const sessionMembers: MembersOf<SessionOptions> = { ...sessionLimitMembers, eventStore: ["any", "store"] };

/**
 * Returns the network address of an anonymous caller if it is not the peer of the connection, e.g. the last entry of
 * `x-forwarded-for` from your own proxy. Undefined: unknown, so only the global limits apply. Must not throw.
 */
export type AddressOf = (
  request: Pick<HttpRequest, "method" | "url" | "header" | "address" | "raw">,
) => string | undefined;

/** Options of an MCP server over HTTP. */
export interface HttpOptions
  extends TransportOptions,
    PageHeaders,
    Pick<OriginCheckOptions, "allowedHosts" | "allowedOrigins"> {
  /**
   * Authenticates callers, with access tokens (`jwtAuth`, `introspectionAuth`, `bearerAuth` of `@parlance/mcp/auth`) or by a function.
   * Default: every caller with an allowed host is accepted.
   *
   * @example
   * const auth = jwtAuth({ issuer: "https://login.example.com", audience: "https://mcp.example.com/mcp" });
   * await serveHttp(server, { port: 3000, auth });
   */
  readonly auth?: Auth;
  /**
   * The network address of anonymous callers, by which their limits are counted. Set it behind a proxy, where all
   * callers have the proxy's address. Default: the peer of the connection on Node; unknown on other platforms.
   *
   * @example
   * const addressOf: HttpOptions["addressOf"] = (request) => request.header("x-forwarded-for")?.split(",").at(-1)?.trim();
   */
  readonly addressOf?: AddressOf;
  /**
   * How to serve the handshake revisions. With sessions (default); `false`: each request on its own, so that any
   * process can handle it, but without input requests and change notifications; `"none"`: not at all.
   */
  readonly sessions?: SessionOptions | false | "none";
  /** Also serve HTTP+SSE clients: a GET without a session at the same URL opens their stream. Default: false. */
  readonly legacySse?: boolean;
  /** Milliseconds between keep-alives on streams, above 0; `Infinity` for none. Default: 15,000. */
  readonly keepAlive?: number;
}

/** The members of the options by which a request is checked, over MCP and plain JSON-RPC. */
export const checkedMembers: MembersOf<
  Pick<HttpOptions, "allowedHosts" | "allowedOrigins" | "allowedHeaders" | "auth" | "addressOf">
> = {
  ...originCheckMembers,
  ...pageHeaderMembers,
  auth: ["any", "authenticate", "authorize", "authentication", "oauth"],
  addressOf: ["function", "trustProxy", "trustedProxy", "clientAddress"],
};

/** The members of `HttpOptions`, to detect unknown options. */
export const httpMembers: MembersOf<HttpOptions> = {
  ...transportMembers,
  ...checkedMembers,
  sessions: ["any"],
  legacySse: ["boolean", "sse"],
  keepAlive: ["number", "heartbeat", "pingInterval"],
};

/** @throws TypeError for what is neither options of sessions nor one of the words for none */
export function requireSessions(sessions: HttpOptions["sessions"]): void {
  if (sessions === undefined || sessions === false || sessions === "none") return;
  checkMembers('sessions, unless it is false or "none"', sessions, sessionMembers);
}

const withoutSessions = "write sessions: false to serve each request on its own";

/** Options of other libraries that are a value of ours, for `checkMembers`. */
export const httpNotes: Readonly<Record<string, string>> = {
  stateless: withoutSessions,
  sessionIdGenerator: withoutSessions,
};
