import {
  type AuthorizationServer,
  allowInsecureRequests,
  ClientSecretBasic,
  customFetch,
  type IntrospectionResponse,
  introspectionRequest,
  processIntrospectionResponse,
} from "oauth4webapi";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { causeText } from "../../jsonrpc/errors.js";
import { type BoundedFetch, boundedFetch } from "../bounded-fetch.js";
import { discover } from "../discovery.js";
import type { ResourceServer } from "../resource-server.js";
import { verificationOf } from "./jwt-auth.js";
import { protect, protectedMembers, type RemoteOptions, requireSecureUrl } from "./protected.js";
import { remoteVerification } from "./remote-verification.js";

/** Options of `introspectionAuth`. */
export interface IntrospectionAuthOptions extends RemoteOptions {
  /** The authorization server. */
  readonly issuer: string;
  /** The `aud` of tokens for this server, as in `jwtAuth`. */
  readonly audience: string;
  /** The URL of this server as clients write it. Default: the audience, which must be a URL then. */
  readonly resource?: string;
  /** The client that this server is at the authorization server. */
  readonly clientId: string;
  /** Its secret. It is sent to the authorization server by HTTP Basic. */
  readonly clientSecret: string;
  /**
   * Seconds that a valid token is not introspected again, at most until it expires. A token that is revoked meanwhile is accepted as long.
   * Default: 0, so every request asks.
   */
  readonly cacheSeconds?: number;
  /** Where tokens are introspected. Default: read from the metadata of the issuer. */
  readonly introspectionEndpoint?: string;
}

const members: MembersOf<IntrospectionAuthOptions> = {
  issuer: ["string", "iss", "issuerUrl", "authority"],
  audience: ["string", "aud"],
  resource: ["string", "resourceUrl", "url", "baseUrl"],
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret", "secret"],
  cacheSeconds: ["number", "cacheTtl", "ttl", "cache"],
  introspectionEndpoint: ["string", "introspection_endpoint", "endpoint", "introspectionUrl"],
  fetch: ["function"],
  ...protectedMembers,
};

/**
 * Protects a server by asking its authorization server about the token of every request (RFC 7662). For opaque tokens, and for tokens
 * whose revocation must take effect at once.
 *
 * @example
 * const auth = introspectionAuth({
 *   issuer: "https://login.example.com",
 *   audience: "https://mcp.example.com/mcp",
 *   clientId: "notes-server",
 *   clientSecret: process.env.CLIENT_SECRET ?? "",
 * });
 *
 * @throws TypeError for an issuer or a resource without HTTPS, except on this machine, or a missing secret
 */
export function introspectionAuth(options: IntrospectionAuthOptions): ResourceServer {
  checkMembers("introspectionAuth", options, members);
  const {
    issuer,
    audience,
    clientId,
    clientSecret,
    introspectionEndpoint,
    resource = audience,
    cacheSeconds = 0,
  } = options;
  for (const [name, value] of Object.entries({ audience, clientId, clientSecret })) {
    if (typeof value !== "string" || value === "") throw new TypeError(`introspectionAuth: ${name} is missing`);
  }
  if (!(cacheSeconds >= 0))
    throw new TypeError(`introspectionAuth: cacheSeconds must be a number of seconds, got ${cacheSeconds}`);
  const issuerUrl = requireSecureUrl("introspectionAuth: the issuer", issuer);
  let server: Promise<AuthorizationServer> | undefined;
  if (introspectionEndpoint !== undefined) {
    requireSecureUrl("introspectionAuth: introspectionEndpoint", introspectionEndpoint);
    server = Promise.resolve({ issuer, introspection_endpoint: introspectionEndpoint });
  }
  const authenticate = ClientSecretBasic(clientSecret);
  const insecure = issuerUrl.protocol === "http:";
  const request: BoundedFetch = (url, init) => boundedFetch(url, init, options.fetch);
  const verify = remoteVerification(cacheSeconds * 1000, async (token) => {
    const client = { client_id: clientId };
    let said: IntrospectionResponse;
    try {
      server ??= discover(issuer, options.fetch);
      const known = await server;
      const how = { [allowInsecureRequests]: insecure, [customFetch]: request };
      const response = await introspectionRequest(known, client, authenticate, token, how);
      said = await processIntrospectionResponse(known, client, response);
    } catch (error) {
      if (introspectionEndpoint === undefined) server = undefined;
      return { kind: "unavailable", reason: `${issuer} did not introspect a token: ${causeText(error)}` };
    }
    const { active, aud, iss = issuer } = said;
    if (!active) return { kind: "invalid", reason: `${issuer} says that it is not active` };
    if (iss !== issuer) return { kind: "invalid", reason: `its issuer is ${iss}` };
    if (![aud].flat().includes(audience)) return { kind: "invalid", reason: `its audience is ${JSON.stringify(aud)}` };
    return verificationOf(issuer, said.client_id, { ...said });
  });
  return protect("introspectionAuth", resource, [issuer], options, verify);
}
