import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  type AuthorizationServer as UpstreamMetadata,
  validateAuthResponse,
} from "oauth4webapi";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { Identity } from "../../jsonrpc/call.js";
import { HookError, thrownText } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { type BoundedFetch, boundedFetch, type OwnFetch } from "../bounded-fetch.js";
import { type ClientAtServer, endpointError, withReadableErrors } from "../client/grant.js";
import { revokeAt } from "../client/revocation.js";
import { discover } from "../discovery.js";
import type { ResourceServer } from "../resource-server.js";
import { issuerMembers, type ProtectedOptions, protect, requireSecureUrl } from "../server/protected.js";
import {
  type AuthorizationRequest,
  AuthorizationServer,
  decisionTtl,
  redirect,
  type SignIn,
} from "./authorization-server.js";
import { Clients } from "./clients.js";
import { Grants } from "./grants.js";
import { KeptUpstreamTokens } from "./kept-upstream-tokens.js";
import { digest, randomSecret, Secrets } from "./keys.js";
import { OAuthError } from "./oauth-error.js";
import { type AuthorizationStore, memoryAuthorizationStore, namedStore } from "./state-store.js";

/** An authorization server without metadata. */
export interface UpstreamEndpoints {
  /** Its issuer. */
  readonly issuer: string;
  /** Where users sign in. */
  readonly authorizationEndpoint: string;
  /** Where codes are redeemed. */
  readonly tokenEndpoint: string;
  /** Where tokens are revoked (RFC 7009). Default: they are valid until they expire. */
  readonly revocationEndpoint?: string;
}

/** The tokens that the upstream authorization server issued for a user. They are never given to a client. */
export interface UpstreamTokens {
  /** The access token. */
  readonly accessToken: string;
  /** The claims of the ID token; undefined without one. */
  readonly idClaims?: Readonly<Record<string, unknown>>;
}

/** Options of `oauthProxy`. */
export interface OAuthProxyOptions extends Omit<ProtectedOptions, "dpop"> {
  /** The URL of this server as clients write it. The callback to register upstream is `/callback` at its origin. */
  readonly resource: string;
  /** The authorization server at which users sign in: its issuer, or its endpoints if it has no metadata. */
  readonly upstream: string | UpstreamEndpoints;
  /** The client that this server is there. */
  readonly clientId: string;
  /** Its secret. */
  readonly clientSecret: string;
  /** How the secret is sent. Default: `client_secret_basic`. */
  readonly clientAuthentication?: "client_secret_basic" | "client_secret_post";
  /** The scopes to request upstream. Default: `openid`. */
  readonly upstreamScopes?: readonly string[];
  /** Further parameters of the authorization request upstream, e.g. `{ access_type: "offline" }`. Default: none. */
  readonly upstreamParameters?: Readonly<Record<string, string>>;
  /** At least 32 characters, from which all keys are derived. Processes that serve the same resource share it. */
  readonly secret: string;
  /** Where grants and encrypted tokens are kept. Default: the memory of this process. */
  readonly store?: AuthorizationStore;
  /** Further scopes of this server that clients may get. Default: only those that every request needs. */
  readonly optionalScopes?: readonly string[];
  /** Who has signed in; undefined refuses the user. Default: the `sub` of the ID token. */
  readonly subject?: (tokens: UpstreamTokens) => MaybePromise<string | undefined>;
  /** Seconds that access tokens are valid. Default: 600. */
  readonly tokenLifetime?: number;
  /**
   * Fetches client ID metadata documents, whose URLs anonymous clients choose. Give `publicFetch()`, which refuses addresses of your network. Default:
   * the platform's `fetch`, for host names only.
   */
  readonly fetch?: OwnFetch;
}

const members: MembersOf<OAuthProxyOptions> = {
  resource: ["string", "audience", "resourceUrl", "url", "baseUrl"],
  upstream: ["any", "issuer", "provider", "endpoints"],
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret"],
  clientAuthentication: ["string", "tokenEndpointAuthMethod"],
  upstreamScopes: ["strings"],
  upstreamParameters: ["object", "extraParameters"],
  secret: ["string", "signingKey", "jwtSigningKey", "encryptionKey"],
  store: ["object", "storage"],
  optionalScopes: ["strings", "validScopes"],
  subject: ["function", "identify"],
  tokenLifetime: ["number", "expiresIn"],
  fetch: ["function"],
  ...issuerMembers,
};

/** A protected server whose users sign in at another authorization server. */
export interface OAuthProxy extends ResourceServer {
  /**
   * The upstream access token of a caller (`ctx.auth`), for calls to the APIs of the provider. It is refreshed when it has expired.
   * @throws Error for a caller without one
   */
  upstreamToken(caller: Identity): Promise<string>;
}

/**
 * Protects a server with users of an authorization server that MCP clients cannot register at, such as GitHub or Google. To clients,
 * this server is the authorization server, with dynamic client registration and client ID metadata documents. Each sign-in asks the user
 * for consent to the client, then leads to the provider. Clients get tokens of this server only; the tokens of the provider stay here,
 * encrypted. A client that revokes its tokens here ends those of the provider too, if the provider offers that.
 * https://modelcontextprotocol.io/specification/latest/basic/security_best_practices#confused-deputy-problem
 *
 * @example
 * const auth = oauthProxy({
 *   resource: "https://mcp.example.com/mcp",
 *   upstream: "https://login.example.com",
 *   clientId: "notes-server",
 *   clientSecret: process.env.CLIENT_SECRET ?? "",
 *   secret: process.env.PROXY_SECRET ?? "",
 * });
 *
 * @throws TypeError for URLs without HTTPS, except on this machine, a missing client secret, or a short secret
 */
export function oauthProxy(options: OAuthProxyOptions): OAuthProxy {
  checkMembers("oauthProxy", options, members);
  const { resource, secret, clientId, clientSecret, scopes = [], optionalScopes = [], tokenLifetime = 600 } = options;
  const { origin } = requireSecureUrl("oauthProxy: the resource", resource);
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== "string" || value === "") throw new TypeError(`oauthProxy: ${name} is missing`);
  }
  if (typeof secret !== "string" || secret.length < 32)
    throw new TypeError("oauthProxy: secret must have at least 32 characters, e.g. of `openssl rand -hex 32`");
  const store = options.store === undefined ? memoryAuthorizationStore() : namedStore(options.store);
  const secrets = new Secrets(new TextEncoder().encode(secret));
  const key = secrets.signingKey();
  const grants = new Grants(() => resource, store, key, tokenLifetime);
  const upstream = new Upstream(options, `${origin}/callback`, store, secrets);
  const server = new AuthorizationServer({
    clients: new Clients(secrets, [], false, options.fetch),
    grants,
    secrets,
    key,
    defaultScopes: scopes,
    isDevelopment: false,
    signIn: upstream.signIn([...scopes, ...optionalScopes]),
  });
  const protectedServer = protect("oauthProxy", resource, [origin], options, (token) => grants.verify(token));
  return { ...protectedServer, endpoints: server, upstreamToken: (caller) => upstream.token(caller) };
}

/** A state of the query of a callback can be any text, which no store should get for a key. */
async function keyOfState(state: string): Promise<string> {
  return `state:${await digest(state)}`;
}

/** The authorization server at which users sign in. */
class Upstream {
  readonly #options: OAuthProxyOptions;
  readonly #callback: string;
  readonly #store: AuthorizationStore;
  readonly #secrets: Secrets;
  readonly #issuer: URL;
  readonly #client: ClientAtServer;
  #metadata: Promise<UpstreamMetadata> | undefined;
  readonly #tokens: KeptUpstreamTokens;

  constructor(options: OAuthProxyOptions, callback: string, store: AuthorizationStore, secrets: Secrets) {
    const { upstream, clientId, clientSecret, clientAuthentication } = options;
    this.#options = options;
    this.#callback = callback;
    this.#store = store;
    this.#secrets = secrets;
    this.#tokens = new KeptUpstreamTokens(store, secrets);
    const authenticate = clientAuthentication === "client_secret_post" ? ClientSecretPost : ClientSecretBasic;
    this.#client = { client: { client_id: clientId }, authentication: authenticate(clientSecret) };
    if (typeof upstream === "string") {
      this.#issuer = requireSecureUrl("oauthProxy: upstream", upstream);
      return;
    }
    const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = upstream;
    this.#issuer = requireSecureUrl("oauthProxy: the issuer of upstream", issuer);
    requireSecureUrl("oauthProxy: authorizationEndpoint", authorizationEndpoint);
    requireSecureUrl("oauthProxy: tokenEndpoint", tokenEndpoint);
    if (revocationEndpoint !== undefined) requireSecureUrl("oauthProxy: revocationEndpoint", revocationEndpoint);
    const endpoints = {
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
      ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint }),
    };
    this.#metadata = Promise.resolve({ issuer, ...endpoints });
  }

  /** Consent here, then the sign-in there. */
  signIn(allowed: readonly string[]): SignIn {
    return {
      form: () => `<button name="decision" value="allow">Allow and sign in at ${this.#issuer.host}</button>`,
      decide: async (request, form) =>
        form.get("decision") === "allow" ? redirect(await this.#begin(request)) : undefined,
      callback: { path: "/callback", finish: (query, agent) => this.#finish(query, agent, allowed) },
      revoked: (grantId) => this.#revoke(grantId),
    };
  }

  /** The upstream access token of a caller. */
  async token({ claims }: Identity): Promise<string> {
    const grantId = claims?.grant_id;
    if (typeof grantId !== "string") throw new Error("oauthProxy: the caller did not sign in at the upstream provider");
    const { accessToken } = await this.#tokens.refreshed(grantId, (refreshToken) => this.#refresh(refreshToken));
    return accessToken;
  }

  /** Keeps the request until the user comes back; the state is its only key, and is used once. */
  async #begin(request: AuthorizationRequest): Promise<URL> {
    const { authorization_endpoint: endpoint = "" } = await this.#server();
    const [state, verifier] = [randomSecret(), generateRandomCodeVerifier()];
    const sealed = await this.#secrets.seal("upstream-request", { request, verifier }, decisionTtl);
    await this.#store.set(await keyOfState(state), sealed, decisionTtl);
    const url = new URL(endpoint);
    const { upstreamScopes = ["openid"], upstreamParameters = {} } = this.#options;
    const parameters = {
      ...upstreamParameters,
      response_type: "code",
      client_id: this.#options.clientId,
      redirect_uri: this.#callback,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(upstreamScopes.length === 0 ? {} : { scope: upstreamScopes.join(" ") }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  async #finish(
    query: URLSearchParams,
    agent: string | undefined,
    allowed: readonly string[],
  ): ReturnType<NonNullable<SignIn["callback"]>["finish"]> {
    const state = query.get("state") ?? "";
    const sealed = await this.#store.take(await keyOfState(state));
    const opened = sealed === undefined ? undefined : await this.#secrets.open("upstream-request", sealed);
    if (opened === undefined || typeof opened.verifier !== "string")
      throw new OAuthError(
        "invalid_request",
        "this sign-in has expired or was finished before: start again in the client",
      );
    const request = opened.request as AuthorizationRequest; // Only `#begin` seals this kind.
    // The consent was given in one browser. In another browser, another user would sign in for the client of the first.
    if (agent !== request.agent)
      throw new OAuthError("invalid_request", "this sign-in was begun in another browser: start again in the client");
    try {
      const granted = await this.#redeem(query, state, opened.verifier);
      const subject = await this.#subjectOf(granted);
      if (subject === undefined)
        return { request, outcome: new OAuthError("access_denied", "this user has no access") };
      const grantId = crypto.randomUUID();
      await this.#tokens.keep(grantId, granted);
      const scopes = request.scopes.filter((scope) => allowed.includes(scope));
      return { request, outcome: { subject, scopes, grantId } };
    } catch (error) {
      if (error instanceof HookError)
        return { request, outcome: new OAuthError("server_error", "the sign-in failed here", { cause: error }) };
      // The text of the provider is for the operator: it may be anything.
      const { text: cause } = await endpointError(error);
      return { request, outcome: new OAuthError("access_denied", "the sign-in at the provider failed", { cause }) };
    }
  }

  async #redeem(query: URLSearchParams, state: string, verifier: string): Promise<TokenEndpointResponse> {
    const server = await this.#server();
    const { client, authentication } = this.#client;
    const parameters = validateAuthResponse(server, client, query, state);
    const args = [server, client, authentication, parameters, this.#callback, verifier] as const;
    const response = await authorizationCodeGrantRequest(...args, this.#requestOptions());
    return processAuthorizationCodeResponse(server, client, response);
  }

  async #subjectOf(granted: TokenEndpointResponse): Promise<string | undefined> {
    const idClaims = getValidatedIdTokenClaims(granted);
    const { subject = (tokens: UpstreamTokens) => tokens.idClaims?.sub } = this.#options;
    const tokens = {
      accessToken: granted.access_token,
      ...(idClaims === undefined ? {} : { idClaims: { ...idClaims } }),
    };
    const found = await inHook("subject", () => subject(tokens));
    return typeof found === "string" && found !== "" ? found : undefined;
  }

  async #refresh(refreshToken: string): Promise<TokenEndpointResponse> {
    const server = await this.#server();
    const { client, authentication } = this.#client;
    const args = [server, client, authentication, refreshToken] as const;
    const response = await refreshTokenGrantRequest(...args, this.#requestOptions());
    return processRefreshTokenResponse(server, client, response);
  }

  /** Forgets the tokens of a grant and revokes them at the provider, if it offers that. Why that failed, for the operator. */
  async #revoke(grantId: string): Promise<string | undefined> {
    const kept = await this.#tokens.take(grantId);
    if (kept === undefined) return undefined;
    const failed = (reason: string): string => `the tokens of the provider were not revoked: ${reason}`;
    try {
      const server = await this.#server();
      if (server.revocation_endpoint === undefined) return undefined;
      const request: BoundedFetch = (url, init) => boundedFetch(requireSecureUrl("the URL", url).href, init);
      const revocation = await revokeAt(server, this.#client, kept, request);
      return revocation.kind === "failed" ? failed(revocation.reason) : undefined;
    } catch (error) {
      return failed(thrownText(error));
    }
  }

  #requestOptions(): { readonly [customFetch]: BoundedFetch; readonly [allowInsecureRequests]: boolean } {
    return {
      [customFetch]: withReadableErrors(boundedFetch),
      [allowInsecureRequests]: this.#issuer.protocol === "http:",
    };
  }

  /** After a failure it is looked for again. */
  #server(): Promise<UpstreamMetadata> {
    const { upstream } = this.#options;
    const issuer = typeof upstream === "string" ? upstream : upstream.issuer;
    this.#metadata ??= discover(issuer).catch((error: unknown) => {
      this.#metadata = undefined;
      throw error;
    });
    return this.#metadata;
  }
}
