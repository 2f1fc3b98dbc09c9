import type { AuthorizationServer } from "oauth4webapi";

/** How an authorization server differs from what MCP requires of one. Clients adapt their requests to it. */
interface Quirks {
  /** Refuses the parameter `resource` (RFC 8707): its scopes name the resource. */
  readonly refusesResource?: true;
  /** A refresh without scopes gets a token for another resource. */
  readonly needsScopeOnRefresh?: true;
  /** Does PKCE with S256, but its metadata has no `code_challenge_methods_supported`. */
  readonly leavesOutPkceMethods?: true;
}

const entra: Quirks = { refusesResource: true, needsScopeOnRefresh: true, leavesOutPkceMethods: true };

/** A server that is not here is taken to conform. None of these weakens a check of the issuer, of `state` or of PKCE itself. */
const knownServers: readonly (readonly [issuer: RegExp, quirks: Quirks])[] = [
  // AADSTS901002, AADSTS9010010: https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow
  [/^https:\/\/login\.microsoftonline\.(?:com|us)\/[^/]+\/v2\.0$/, entra],
  [/^https:\/\/[\w-]+\.ciamlogin\.com\/[^/]+\/v2\.0$/, entra],
];

function quirksOf({ issuer }: AuthorizationServer): Quirks {
  return knownServers.find(([pattern]) => pattern.test(issuer))?.[1] ?? {};
}

/** The parameter that binds a token to its resource, where the server takes it. */
export function resourceParameter(server: AuthorizationServer, resource: string): { readonly resource?: string } {
  return quirksOf(server).refusesResource === true ? {} : { resource };
}

/** The parameters of a refresh besides the refresh token. */
export function refreshParameters(
  server: AuthorizationServer,
  resource: string,
  scopes: readonly string[],
): Readonly<Record<string, string>> {
  const scope = quirksOf(server).needsScopeOnRefresh === true && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
  return { ...resourceParameter(server, resource), ...scope };
}

/** The methods of PKCE that a server supports; undefined if it does not say. */
export function pkceMethods(server: AuthorizationServer): readonly string[] | undefined {
  const { code_challenge_methods_supported: methods } = server;
  return methods === undefined && quirksOf(server).leavesOutPkceMethods === true ? ["S256"] : methods;
}
