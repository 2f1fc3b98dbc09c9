import type { AuthorizationServer } from "oauth4webapi";
import { scopesIn } from "./challenge.js";

/** The deviations of an authorization server from the requirements of MCP. Clients adapt their requests to them. */
interface Quirks {
  /** Set if it refuses the parameter `resource` (RFC 8707), because its scopes name the resource. */
  readonly refusesResource?: true;
  /** Takes the resource from this parameter; `resource` only where the tenant has opted in. */
  readonly resourceAlsoAs?: "audience";
  /** A refresh without scopes gets a token for another resource. */
  readonly needsScopeOnRefresh?: true;
  /** Set if it supports PKCE with S256, but its metadata has no `code_challenge_methods_supported`. */
  readonly leavesOutPkceMethods?: true;
  /** Parameters of the authorization request without which there is no refresh token. It has no scope for that. */
  readonly offlineAccess?: Readonly<Record<string, string>>;
  /** A registration with scopes is refused, or loses the default scopes of the server, which set the audience of tokens. */
  readonly registersWithoutScope?: true;
  /** Separates the scopes that it granted by commas. */
  readonly separatesScopesByComma?: true;
  /** Its error for a refresh token that is no longer accepted, instead of `invalid_grant`. */
  readonly refreshError?: string;
}

const entra: Quirks = { refusesResource: true, needsScopeOnRefresh: true, leavesOutPkceMethods: true };

/** A server that is not here is taken to conform. None of these weakens a check of the issuer, of `state` or of PKCE itself. */
const knownServers: readonly (readonly [issuer: RegExp, quirks: Quirks])[] = [
  // AADSTS901002, AADSTS9010010: https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow
  [/^https:\/\/login\.microsoftonline\.(?:com|us)\/[^/]+\/v2\.0$/, entra],
  [/^https:\/\/[\w-]+\.ciamlogin\.com\/[^/]+\/v2\.0$/, entra],
  // https://auth0.com/ai/docs/mcp/guides/resource-param-compatibility-profile
  [/^https:\/\/[\w-]+(?:\.[a-z]{2,})?\.auth0\.com\/$/, { resourceAlsoAs: "audience" }],
  // https://developers.google.com/identity/protocols/oauth2/web-server#offline
  [/^https:\/\/accounts\.google\.com$/, { offlineAccess: { access_type: "offline", prompt: "consent" } }],
  // https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
  [/^https:\/\/github\.com\/login\/oauth$/, { separatesScopesByComma: true, refreshError: "bad_refresh_token" }],
  // Keycloak: https://github.com/keycloak/keycloak/issues/50807, https://github.com/keycloak/keycloak/issues/43654
  [/^https?:\/\/.+\/realms\/[^/]+$/, { registersWithoutScope: true }],
];

/**
 * Issuers that MCP servers of a provider write in another way than its metadata does.
 * https://github.com/modelcontextprotocol/python-sdk/issues/1919
 */
const otherSpellings: ReadonlyMap<string, string> = new Map([
  ["https://accounts.google.com/", "https://accounts.google.com"],
]);

function quirksOf({ issuer }: AuthorizationServer): Quirks {
  return knownServers.find(([pattern]) => pattern.test(issuer))?.[1] ?? {};
}

/** The issuer as its own metadata writes it. */
export function issuerAsItsOwn(named: unknown): unknown {
  return typeof named === "string" ? (otherSpellings.get(named) ?? named) : named;
}

/** The parameters that bind a token to its resource, where the server takes them. */
export function resourceParameters(server: AuthorizationServer, resource: string): Readonly<Record<string, string>> {
  const { refusesResource, resourceAlsoAs } = quirksOf(server);
  if (refusesResource === true) return {};
  return { resource, ...(resourceAlsoAs === undefined ? {} : { [resourceAlsoAs]: resource }) };
}

/** The parameters of an authorization request that leads to a refresh token, besides its scopes. */
export function offlineParameters(
  server: AuthorizationServer,
  scopes: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  // OpenID Connect grants offline access only with consent.
  return quirksOf(server).offlineAccess ?? (scopes?.includes("offline_access") === true ? { prompt: "consent" } : {});
}

/** The parameters of a refresh besides the refresh token. */
export function refreshParameters(
  server: AuthorizationServer,
  resource: string,
  scopes: readonly string[],
): Readonly<Record<string, string>> {
  const scope = quirksOf(server).needsScopeOnRefresh === true && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
  return { ...resourceParameters(server, resource), ...scope };
}

/** Whether the error of a refresh means that the refresh token is no longer accepted. */
export function endsRefresh(server: AuthorizationServer, code: string | undefined): boolean {
  return code !== undefined && (code === "invalid_grant" || code === quirksOf(server).refreshError);
}

/** The scopes of a registration; undefined to leave them out. */
export function scopesToRegister(
  server: AuthorizationServer,
  scopes: readonly string[] | undefined,
): readonly string[] | undefined {
  return quirksOf(server).registersWithoutScope === true ? undefined : scopes;
}

/** The scopes that a server says it has granted. */
export function grantedScopes(server: AuthorizationServer, text: string): readonly string[] {
  return scopesIn(quirksOf(server).separatesScopesByComma === true ? text.replaceAll(",", " ") : text);
}

/** The methods of PKCE that a server supports; undefined if it does not say. */
export function pkceMethods(server: AuthorizationServer): readonly string[] | undefined {
  const { code_challenge_methods_supported: methods } = server;
  return methods === undefined && quirksOf(server).leavesOutPkceMethods === true ? ["S256"] : methods;
}
