import type { MembersOf } from "../../base/check-members.js";
import { kindOf } from "../../base/json.js";
import type { Identity } from "../../jsonrpc/call.js";
import type { OwnFetch } from "../bounded-fetch.js";
import type { DpopSupport, ResourceServer, Verification } from "../resource-server.js";
import { DpopProofs, proofAlgorithms } from "./dpop-proofs.js";

/** The options of every protected server, whichever function verifies its tokens. */
export interface ProtectedOptions {
  /** The scopes that every request needs. Definitions may name further ones. Default: none. */
  readonly scopes?: readonly string[];
  /**
   * Scopes that include others, e.g. `{ "files:write": ["files:read"] }`: a token with the first is taken to have the others too.
   * Default: none does.
   */
  readonly scopeHierarchy?: Readonly<Record<string, readonly string[]>>;
  /**
   * Tokens that are bound to a key of their client (RFC 9449). A bound token needs its proof in any case. `"supported"`: challenges and
   * metadata name DPoP too. `"required"`: a token that is not bound is refused. `"nonce"`: and proofs need a nonce of this server, so
   * that none can be made in advance. Default: challenges name bearer tokens only.
   */
  readonly dpop?: "supported" | "required" | "nonce";
  /** The name of this server for people, in its metadata. Default: none. */
  readonly resourceName?: string;
  /** A page for developers, in its metadata. Default: none. */
  readonly documentation?: string;
}

/** The members of `ProtectedOptions`, to detect unknown options. */
export const protectedMembers: MembersOf<ProtectedOptions> = {
  scopes: ["strings", "scope", "requiredScopes"],
  scopeHierarchy: ["object"],
  dpop: ["string"],
  resourceName: ["string", "name"],
  documentation: ["string", "resourceDocumentation"],
};

const { dpop: _, ...unboundMembers } = protectedMembers;

/** The members for a server that issues its tokens itself: none of them is bound to a key. */
export const issuerMembers: MembersOf<Omit<ProtectedOptions, "dpop">> = unboundMembers;

/** The options of every protected server that asks its authorization server about tokens, or for its keys. */
export interface RemoteOptions extends ProtectedOptions {
  /**
   * Sends the requests to the authorization server, for a proxy, or for certificates of an organization. Every URL is HTTPS, except on this
   * machine. What it throws is reported: 401, or 503 once a request has succeeded. Default: the platform's `fetch`.
   */
  readonly fetch?: OwnFetch;
}

/** A verified token. */
export interface VerifiedToken extends Omit<Identity, "principal"> {
  /** The user, or the client itself if no user is involved. */
  readonly subject: string;
}

/** Verifies a token. `address`: the network address of the caller. */
export type VerifyToken = (token: string, address: string | undefined) => Promise<Verification>;

/**
 * The resource server of one URL.
 *
 * @param what the function that was called, for messages
 * @param verify verifies a token; the scopes of the identity need not have those that they include
 * @throws TypeError for a resource or an issuer that is not a URL which clients may use
 */
export function protect(
  what: string,
  resource: string,
  authorizationServers: readonly string[],
  { scopes = [], scopeHierarchy = {}, resourceName, documentation, dpop }: ProtectedOptions,
  verify: VerifyToken,
): ResourceServer {
  requireSecureUrl(`${what}: the resource`, resource);
  if (authorizationServers.length === 0) {
    const remedy = "without one, give auth a function that returns { principal }";
    throw new TypeError(`${what}: name at least one authorization server; ${remedy}`);
  }
  for (const each of authorizationServers) requireSecureUrl(`${what}: the issuer`, each);
  if (dpop !== undefined && !["supported", "required", "nonce"].includes(dpop)) {
    throw new TypeError(`${what}: dpop must be "supported", "required" or "nonce", got ${JSON.stringify(dpop)}`);
  }
  const support: DpopSupport = {
    algorithms: proofAlgorithms,
    isAnnounced: dpop !== undefined,
    isRequired: dpop === "required" || dpop === "nonce",
    requiresNonce: dpop === "nonce",
  };
  const proofs = new DpopProofs(resource, support);
  return {
    resource,
    authorizationServers,
    scopes,
    dpop: support,
    metadata: {
      ...(resourceName === undefined ? {} : { resource_name: resourceName }),
      ...(documentation === undefined ? {} : { resource_documentation: documentation }),
    },
    async verify(token, request) {
      const verified = await verify(token, request.address);
      if (verified.kind !== "identity") return verified;
      const { identity } = verified;
      const refusal = await proofs.refusal(token, identity.claims?.cnf, request);
      if (refusal !== undefined) return refusal;
      const scopes = withIncluded(identity.scopes ?? [], scopeHierarchy);
      return { kind: "identity", identity: { ...identity, scopes } };
    },
  };
}

/** The verification of a valid token. Everything that a server keeps is bound to issuer, subject and client together. */
export function acceptedToken(token: VerifiedToken): Verification {
  const { issuer = null, subject, clientId = null } = token;
  return { kind: "identity", identity: { ...token, principal: JSON.stringify([issuer, subject, clientId]) } };
}

/** The verification of a token that is valid until it expires. */
export function unexpiredToken(token: VerifiedToken): Verification {
  const { expiresAt = Number.POSITIVE_INFINITY } = token;
  return expiresAt <= Date.now() ? { kind: "invalid", reason: "it has expired" } : acceptedToken(token);
}

/**
 * URLs of OAuth must be HTTPS, except on this machine: a token that crosses a network in the clear can be read.
 * @throws TypeError for any other
 */
export function requireSecureUrl(what: string, url: unknown): URL {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) {
    throw new TypeError(
      `${what} must be a URL, e.g. "https://mcp.example.com/mcp", got ${typeof url === "string" ? JSON.stringify(url) : kindOf(url)}`,
    );
  }
  if (parsed.hash !== "") throw new TypeError(`${what} must not have a fragment: ${parsed.href}`);
  if (parsed.protocol !== "https:" && !isThisMachine(parsed)) {
    throw new TypeError(`${what} must begin with https:, unless it is on this machine: ${parsed.href}`);
  }
  return parsed;
}

/** Whether a URL is on the loopback interface. */
export function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/** The scopes, and those that they include, at any depth. */
function withIncluded(
  granted: readonly string[],
  hierarchy: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const all = new Set(granted);
  // A set visits what is added while it is visited.
  for (const scope of all) for (const included of hierarchy[scope] ?? []) all.add(included);
  return [...all];
}
