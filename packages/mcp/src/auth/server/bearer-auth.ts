import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { isObject, kindOf } from "../../base/json.js";
import { requireScopes } from "../../jsonrpc/call.js";
import type { ResourceServer } from "../resource-server.js";
import { type ProtectedOptions, protect, protectedMembers, unexpiredToken, type VerifiedToken } from "./protected.js";

/** Options of `bearerAuth`. */
export interface BearerAuthOptions extends ProtectedOptions {
  /** The URL of this server as clients write it, e.g. `https://mcp.example.com/mcp`. */
  readonly resource: string;
  /** The authorization servers that clients get tokens from, by their issuers. */
  readonly authorizationServers: readonly string[];
  /**
   * Verifies a token: what it says of its caller, or undefined for one that is not valid **for this server**. Check its expiry and
   * its audience. An error is reported, and the client gets 401.
   */
  readonly verify: (token: string) => Promise<VerifiedToken | undefined> | VerifiedToken | undefined;
}

const members: MembersOf<BearerAuthOptions> = {
  resource: ["string", "audience", "resourceUrl", "url", "baseUrl"],
  authorizationServers: ["strings", "issuer", "authorizationServer", "issuers"],
  verify: ["function", "verifyToken", "verifyAccessToken", "verifier"],
  ...protectedMembers,
};

/**
 * Protects a server with bearer tokens that a function of yours verifies: opaque tokens, API keys of users, tokens of a provider with
 * an API of its own. They come from an authorization server, which the metadata names; for keys that the application hands out
 * itself, give `auth` a function that returns `{ principal }`.
 *
 * @example
 * const users = new Map([["a-secret-token", "ada"]]);
 * const auth = bearerAuth({
 *   resource: "https://mcp.example.com/mcp",
 *   authorizationServers: ["https://login.example.com"],
 *   verify: (token) => {
 *     const subject = users.get(token);
 *     return subject === undefined ? undefined : { subject, scopes: ["notes"] };
 *   },
 * });
 *
 * @throws TypeError for a resource or an issuer without HTTPS, except on this machine; without an authorization server
 */
export function bearerAuth(options: BearerAuthOptions): ResourceServer {
  checkMembers("bearerAuth", options, members);
  const { resource, authorizationServers, verify } = options;
  if (typeof verify !== "function") throw new TypeError("bearerAuth: verify must be a function that takes a token");
  return protect("bearerAuth", resource, authorizationServers, options, async (token) => {
    const given = await verify(token);
    if (given === undefined) return { kind: "invalid", reason: "verify does not know it" };
    return unexpiredToken(requireVerified(given));
  });
}

/**
 * A verifier in JavaScript may return whether a token is valid. `false` must not be the identity of a caller, and neither must a name
 * without an object: all such callers would share one principal.
 * @throws TypeError for a value without a subject, or with scopes or a time of expiry that cannot be compared
 */
function requireVerified(given: unknown): VerifiedToken {
  const remedy = "return { subject, scopes }, or undefined for a token that is not valid";
  if (!isObject(given)) throw new TypeError(`bearerAuth: verify has returned ${kindOf(given)}: ${remedy}`);
  const { subject, scopes, expiresAt } = given;
  if (typeof subject !== "string" || subject === "") {
    const found = subject === "" ? "an empty one" : kindOf(subject);
    throw new TypeError(`bearerAuth: the subject that verify returns must be a string, got ${found}: ${remedy}`);
  }
  requireScopes("bearerAuth: the scopes that verify returns", scopes);
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    const unit = "in milliseconds since 1970, e.g. Date.now() + 60_000";
    throw new TypeError(`bearerAuth: expiresAt must be a number, got ${kindOf(expiresAt)}: give it ${unit}`);
  }
  return given as unknown as VerifiedToken;
}
