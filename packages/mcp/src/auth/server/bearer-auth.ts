import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { ResourceServer } from "../resource-server.js";
import { identityOfToken, type ProtectedOptions, protect, type VerifiedToken } from "./protected.js";

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
  resource: ["audience", "resourceUrl", "url", "baseUrl"],
  authorizationServers: ["issuer", "authorizationServer", "issuers"],
  verify: ["verifyToken", "verifyAccessToken", "verifier"],
  scopes: ["scope", "requiredScopes"],
  scopeHierarchy: [],
  dpop: [],
  resourceName: ["name"],
  documentation: ["resourceDocumentation"],
};

/**
 * Protects a server with bearer tokens that a function of yours verifies: opaque tokens, API keys of users, tokens of a provider with
 * an API of its own.
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
 * @throws TypeError for a resource or an issuer without HTTPS, except on this machine
 */
export function bearerAuth(options: BearerAuthOptions): ResourceServer {
  checkMembers("bearerAuth", options, members);
  const { resource, authorizationServers, verify } = options;
  if (typeof verify !== "function") throw new TypeError("bearerAuth: verify must be a function that takes a token");
  return protect("bearerAuth", resource, authorizationServers, options, async (token, included) => {
    const verified = await verify(token);
    if (verified === undefined) return { kind: "invalid", reason: "verify does not know it" };
    if (verified.expiresAt !== undefined && verified.expiresAt <= Date.now())
      return { kind: "invalid", reason: "it has expired" };
    return { kind: "identity", identity: identityOfToken({ ...verified, scopes: included(verified.scopes ?? []) }) };
  });
}
