import { isObject } from "../../base/json.js";
import { causeText } from "../../jsonrpc/errors.js";
import { type BoundedFetch, boundedFetch } from "../bounded-fetch.js";
import type { ResourceServer, Verification } from "../resource-server.js";
import { jwtAuth, scopesOf } from "./jwt-auth.js";
import { protect, type RemoteOptions, requireSecureUrl, unexpiredToken, type VerifiedToken } from "./protected.js";
import { remoteVerification } from "./remote-verification.js";

/** Options of the providers whose tokens name their audience. */
interface ProviderOptions extends RemoteOptions {
  /** The `aud` claim of tokens for this server, as it is set at the provider. */
  readonly audience: string;
  /** The URL of this server as clients write it. Default: the audience, which must be a URL then. */
  readonly resource?: string;
}

/** Options of the providers whose tokens do not name this server. */
interface ResourceOptions extends RemoteOptions {
  /** The URL of this server as clients write it. */
  readonly resource: string;
}

/** Options of the providers that have a domain for each tenant. */
interface DomainOptions extends ProviderOptions {
  /** The domain of the tenant, without `https://`. */
  readonly domain: string;
}

/** Options of `entra`. */
interface EntraOptions extends ResourceOptions {
  /** The id of the directory, a GUID. */
  readonly tenant: string;
  /** The id of the application that is this server. */
  readonly clientId: string;
}

/** Options of `keycloak`. */
interface KeycloakOptions extends ProviderOptions {
  /** The URL of Keycloak, without the realm. */
  readonly url: string;
  /** The name of the realm. */
  readonly realm: string;
}

/** Options of `okta`. */
interface OktaOptions extends DomainOptions {
  /** The id of a custom authorization server. Default: `default`. */
  readonly server?: string;
}

/** Options of `supabase`. */
interface SupabaseOptions extends ResourceOptions {
  /** The reference of the project, the first part of its domain. */
  readonly project: string;
}

/** Options of `google`. */
interface GoogleOptions extends ResourceOptions {
  /** The clients whose tokens are accepted. */
  readonly clientIds: readonly string[];
  /** Where tokens are looked up. Default: Google's endpoint. */
  readonly tokenInfoUrl?: string;
}

/** Options of `github`. */
interface GithubOptions extends ResourceOptions {
  /** The client id of the app whose tokens are accepted. */
  readonly clientId: string;
  /** Its secret. It is sent to GitHub by HTTP Basic. */
  readonly clientSecret: string;
  /** The REST API, of GitHub Enterprise Server for instance. Default: `https://api.github.com`. */
  readonly apiUrl?: string;
}

/** Milliseconds that a token of GitHub or Google is not verified again: both limit the requests of an application. */
const remoteTtl = 60_000;

/** A part of a URL: without its own slashes, which would lead to another issuer. */
function part(what: string, text: string): string {
  if (typeof text === "string" && /^[a-z0-9][a-z0-9._:-]*$/i.test(text)) return text;
  throw new TypeError(`${what} must be a name without https:// and slashes, got ${JSON.stringify(text)}`);
}

/**
 * Protects a server with tokens of Microsoft Entra ID. The application has to issue version 2 of access tokens
 * (`requestedAccessTokenVersion: 2` in its manifest).
 *
 * Clients request scopes as `api://<clientId>/notes`, and tokens contain `notes`: an identity has both, and `scopes` may be written
 * without the prefix. Definitions name theirs with it.
 *
 * @example
 * const auth = entra({
 *   tenant: "8eaef023-2b34-4da1-9baa-8bc8c9d6a490",
 *   clientId: "00001111-aaaa-2222-bbbb-3333cccc4444",
 *   resource: "https://mcp.example.com/mcp",
 *   scopes: ["notes"],
 * });
 *
 * @throws TypeError for a tenant that is not an id: the issuer in tokens has the id
 */
export function entra({ tenant, clientId, scopes = [], ...options }: EntraOptions): ResourceServer {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(tenant)) {
    throw new TypeError(`entra: tenant must be the id of a directory (a GUID), got ${JSON.stringify(tenant)}`);
  }
  const application = `api://${part("entra: clientId", clientId)}`;
  const qualified = (scope: string): string => (scope.includes("/") ? scope : `${application}/${scope}`);
  const server = jwtAuth({
    ...options,
    issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
    jwksUri: `https://login.microsoftonline.com/${tenant}/discovery/v2.0/keys`,
    audience: [clientId, application],
    scopes: scopes.map(qualified),
  });
  return narrowed(server, ({ identity }) => {
    // An ID token of this application has the same issuer, audience, type and keys, but no `azp`.
    // https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference
    if (identity.clientId === undefined)
      return { kind: "invalid", reason: "it names no client (azp): it is an ID token, which is no access token" };
    const granted = identity.scopes ?? [];
    return {
      kind: "identity",
      identity: { ...identity, scopes: [...new Set([...granted, ...granted.map(qualified)])] },
    };
  });
}

/**
 * Protects a server with tokens of Auth0. Without an API whose identifier is `audience`, Auth0 issues opaque tokens.
 *
 * @example
 * const auth = auth0({ domain: "example.eu.auth0.com", audience: "https://mcp.example.com/mcp" });
 */
export function auth0({ domain, ...options }: DomainOptions): ResourceServer {
  // Auth0 writes its issuer with a slash at the end.
  const issuer = `https://${part("auth0: domain", domain)}/`;
  return jwtAuth({ ...options, issuer, jwksUri: `${issuer}.well-known/jwks.json` });
}

/**
 * Protects a server with tokens of a realm of Keycloak. A client scope with an audience mapper puts `audience` into them.
 *
 * @example
 * const auth = keycloak({ url: "https://login.example.com", realm: "notes", audience: "https://mcp.example.com/mcp" });
 */
export function keycloak({ url, realm, ...options }: KeycloakOptions): ResourceServer {
  const { href } = requireSecureUrl("keycloak: url", url);
  const issuer = `${href.replace(/\/$/, "")}/realms/${encodeURIComponent(realm)}`;
  return jwtAuth({ ...options, issuer, jwksUri: `${issuer}/protocol/openid-connect/certs` });
}

/**
 * Protects a server with tokens of a custom authorization server of Okta; those of the organization itself are for Okta alone.
 *
 * @example
 * const auth = okta({ domain: "example.okta.com", audience: "api://default", resource: "https://mcp.example.com/mcp" });
 */
export function okta({ domain, server = "default", ...options }: OktaOptions): ResourceServer {
  const issuer = `https://${part("okta: domain", domain)}/oauth2/${part("okta: server", server)}`;
  return jwtAuth({ ...options, issuer, jwksUri: `${issuer}/v1/keys` });
}

/**
 * Protects a server with tokens of WorkOS AuthKit.
 *
 * @example
 * const auth = workos({ domain: "example.authkit.app", audience: "https://mcp.example.com/mcp" });
 */
export function workos({ domain, ...options }: DomainOptions): ResourceServer {
  const issuer = `https://${part("workos: domain", domain)}`;
  return jwtAuth({ ...options, issuer, jwksUri: `${issuer}/oauth2/jwks` });
}

/**
 * Protects a server with JWTs of Clerk. The MCP server has to be registered there, so that its URL is the audience of tokens.
 *
 * @example
 * const auth = clerk({ domain: "example.clerk.accounts.dev", audience: "https://mcp.example.com/mcp" });
 */
export function clerk({ domain, ...options }: DomainOptions): ResourceServer {
  const issuer = `https://${part("clerk: domain", domain)}`;
  return jwtAuth({ ...options, issuer, jwksUri: `${issuer}/.well-known/jwks.json` });
}

/**
 * Protects a server with tokens of the OAuth server of a Supabase project, with asymmetric signing keys. Its tokens name no audience but
 * `authenticated`: every OAuth client of the project can call. Sessions of the project's own pages, which name no client, are refused.
 *
 * @example
 * const auth = supabase({ project: "abcdefghijklmnop", resource: "https://mcp.example.com/mcp" });
 */
export function supabase({ project, ...options }: SupabaseOptions): ResourceServer {
  const issuer = `https://${part("supabase: project", project)}.supabase.co/auth/v1`;
  const server = jwtAuth({
    ...options,
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    audience: "authenticated",
  });
  return narrowed(server, (verified) =>
    verified.identity.clientId === undefined
      ? { kind: "invalid", reason: "it names no OAuth client: it is a session of a page" }
      : verified,
  );
}

/**
 * Protects a server with access tokens of Google, which are opaque: Google is asked, at most once a minute for each. Only tokens of the
 * given clients are accepted.
 *
 * @example
 * const auth = google({ clientIds: ["123.apps.googleusercontent.com"], resource: "https://mcp.example.com/mcp", scopes: ["openid"] });
 */
export function google({
  clientIds,
  resource,
  tokenInfoUrl = "https://oauth2.googleapis.com/tokeninfo",
  ...options
}: GoogleOptions): ResourceServer {
  if (clientIds.length === 0)
    throw new TypeError("google: clientIds is empty: tokens of any application would be accepted");
  requireSecureUrl("google: tokenInfoUrl", tokenInfoUrl);
  return remote("google", resource, "https://accounts.google.com", options, {
    ask: (token, request) => request(tokenInfoUrl, { method: "POST", headers: { authorization: `Bearer ${token}` } }),
    refused: [400, 401],
    read(claims) {
      const { aud, sub, exp } = claims;
      if (typeof aud !== "string" || !clientIds.includes(aud)) return `its client is ${JSON.stringify(aud)}`;
      const expiry = Number(exp);
      if (typeof sub !== "string" || !Number.isFinite(expiry)) return "it names no user (scope openid) or no expiry";
      return { subject: sub, clientId: aud, scopes: scopesOf(claims), expiresAt: expiry * 1000 };
    },
  });
}

/**
 * Protects a server with tokens of a GitHub App or an OAuth app, which are opaque: GitHub is asked, at most once a minute for each. Only
 * tokens of that app are accepted. The subject is the id of the user; the login is in the claims.
 *
 * @example
 * const auth = github({
 *   clientId: "Iv1.0123456789abcdef",
 *   clientSecret: process.env.GITHUB_SECRET ?? "",
 *   resource: "https://mcp.example.com/mcp",
 * });
 */
export function github({
  clientId,
  clientSecret,
  resource,
  apiUrl = "https://api.github.com",
  ...options
}: GithubOptions): ResourceServer {
  if (typeof clientSecret !== "string" || clientSecret === "") throw new TypeError("github: clientSecret is missing");
  const app = part("github: clientId", clientId);
  const url = `${requireSecureUrl("github: apiUrl", apiUrl).href.replace(/\/$/, "")}/applications/${app}/token`;
  const authorization = `Basic ${btoa(`${app}:${clientSecret}`)}`;
  return remote("github", resource, "https://github.com/login/oauth", options, {
    ask: (token, request) =>
      request(url, {
        method: "POST",
        headers: { authorization, accept: "application/vnd.github+json", "content-type": "application/json" },
        body: JSON.stringify({ access_token: token }),
      }),
    refused: [404, 422],
    read({ app: owner, user, scopes, expires_at: expiry }) {
      if (!isObject(owner) || owner.client_id !== clientId) return "it belongs to another app";
      if (!isObject(user) || typeof user.id !== "number") return "it belongs to no user";
      const granted = Array.isArray(scopes) ? scopes.filter((each) => typeof each === "string") : [];
      const expiresAt = typeof expiry === "string" ? Date.parse(expiry) : Number.NaN;
      return {
        subject: String(user.id),
        clientId,
        scopes: granted,
        claims: { login: user.login },
        ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
      };
    },
  });
}

/** The request by which a provider without introspection verifies a token. */
interface TokenApi {
  readonly ask: (token: string, request: BoundedFetch) => Promise<Response>;
  /** The statuses for tokens that are not valid. Any other but 200 says nothing about the token. */
  readonly refused: readonly number[];
  /**
   * The caller that a response identifies, or why the token is not valid here. It is not kept, since it may contain the token.
   */
  readonly read: (body: Readonly<Record<string, unknown>>) => VerifiedToken | string;
}

function remote(
  what: string,
  resource: string,
  issuer: string,
  options: RemoteOptions,
  { ask, refused, read }: TokenApi,
): ResourceServer {
  const request: BoundedFetch = (url, init) => boundedFetch(url, init, options.fetch);
  const verify = remoteVerification(remoteTtl, async (token) => {
    try {
      const response = await ask(token, request);
      const { status } = response;
      if (refused.includes(status)) return { kind: "invalid", reason: `${issuer} does not know it` };
      if (status !== 200) return { kind: "unavailable", reason: `${issuer} responds with ${status}` };
      const body: unknown = await response.json();
      const caller = isObject(body) ? read(body) : `${issuer} said nothing about it`;
      if (typeof caller === "string") return { kind: "invalid", reason: caller };
      return unexpiredToken({ issuer, ...caller });
    } catch (error) {
      return { kind: "unavailable", reason: `${issuer} did not verify a token: ${causeText(error)}` };
    }
  });
  return protect(what, resource, [issuer], options, verify);
}

type Verified = Extract<Verification, { readonly kind: "identity" }>;

/** A resource server whose valid tokens are looked at once more. */
function narrowed(server: ResourceServer, check: (verified: Verified) => Verification): ResourceServer {
  return {
    ...server,
    async verify(token, request) {
      const verified = await server.verify(token, request);
      return verified.kind === "identity" ? check(verified) : verified;
    },
  };
}
