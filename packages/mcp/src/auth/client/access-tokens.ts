import {
  type AuthorizationServer,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { causeText, thrownText } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import { faultsToConsole } from "../../jsonrpc/report.js";
import { hostKind, mayLeadTo } from "../addresses.js";
import { type BoundedFetch, boundedFetch } from "../bounded-fetch.js";
import { findServerMetadata, placesText } from "../discovery.js";
import { requireSecureUrl } from "../server/protected.js";
import { proofAlgorithm, type TokenKey, tokenKey, withNonce } from "./bound-tokens.js";
import type { Challenge } from "./challenge.js";
import { type ClientAtServer, endpointError, type GrantSettings, libraryOptions, type TokenOptions } from "./grant.js";
import { endsRefresh, grantedScopes, refreshParameters } from "./quirks.js";
import { type ProtectedResource, readResourceMetadata } from "./resource-metadata.js";
import { SignInError, type SignInStep } from "./sign-in-error.js";
import type { StoredCredentials } from "./token-store.js";

export type Tokens = NonNullable<StoredCredentials["tokens"]>;

/** Tokens, and where they come from. */
export interface Obtained {
  readonly tokens: Tokens;
  readonly from: "store" | "refresh" | "grant";
}

/** The token store of a client, and its access to authorization servers. */
type TokenSettings = TokenOptions & Required<Pick<TokenOptions, "store">>;

/** Milliseconds before its expiry at which a token is renewed, so that it does not expire on its way. */
const renewAhead = 10_000;

/** The access tokens of one client for one MCP server. */
export class AccessTokens {
  readonly #server: URL;
  readonly #settings: TokenSettings;
  readonly #how: GrantSettings;
  #resource: ProtectedResource | undefined;
  #tokens: Tokens | undefined;
  /** The key of bound tokens. */
  #key: TokenKey | undefined;
  /** The scopes of the last request to the authorization server: it may have granted fewer. */
  #requested: readonly string[] = [];
  /** Renewals that run, by the scopes that they are for. Calls with the same need share one. */
  readonly #running = new Map<string, Promise<Obtained>>();

  constructor(server: URL, settings: TokenSettings, how: GrantSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#how = how;
  }

  /** The key that the tokens are bound to; undefined for bearer tokens. */
  get key(): TokenKey | undefined {
    return this.#key;
  }

  /** The token to send, renewed if it is about to expire. Undefined until the server requires one. */
  async current(): Promise<Tokens | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined || !isExpired(tokens, renewAhead)) return tokens;
    if (tokens.refreshToken === undefined && this.#how.isInteractive) return tokens;
    try {
      return (await this.renew(tokens, undefined, true)).tokens;
    } catch (error) {
      if (isExpired(tokens, 0)) throw error;
      this.report("refresh", `the token could not be renewed, and is used while it is valid: ${causeText(error)}`);
      return tokens; // It is valid for some more seconds, in which the authorization server may respond again.
    }
  }

  /**
   * Obtains other tokens than those that the server refused.
   *
   * @param challenge what the server requires; undefined for tokens that expire
   * @param mayRefresh false if refreshed tokens were refused too
   * @throws SignInError
   */
  renew(refused: Tokens | undefined, challenge: Challenge | undefined, mayRefresh: boolean): Promise<Obtained> {
    const tokens = this.#tokens;
    // Another call has renewed them since this request was sent.
    if (tokens !== undefined && tokens !== refused && hasScopes(tokens, challenge))
      return Promise.resolve({ tokens, from: "store" });
    const need = `${mayRefresh} ${stepUpScopes(challenge)?.join(" ") ?? ""}`;
    const running = this.#running.get(need);
    if (running !== undefined) return running;
    const renewal = this.#renew(refused, challenge, mayRefresh).finally(() => this.#running.delete(need));
    this.#running.set(need, renewal);
    return renewal;
  }

  report(kind: SignInStep["kind"], text: string, exchange: Partial<SignInStep> = {}): void {
    const { onStep } = this.#settings;
    if (onStep !== undefined) guarded("onStep", () => onStep({ kind, text, ...exchange }), faultsToConsole);
  }

  async #renew(refused: Tokens | undefined, challenge: Challenge | undefined, mayRefresh: boolean): Promise<Obtained> {
    const resource = await this.#protectedResource(challenge);
    const key = JSON.stringify([resource.issuer, resource.resource, this.#how.name]);
    // Also while a user signs in: otherwise every process that shares the store would open a page.
    const obtained = await this.#settings.store.exclusive(key, () =>
      this.#obtain(key, resource, refused, challenge, mayRefresh),
    );
    this.#tokens = obtained.tokens;
    return obtained;
  }

  /** Read again for each challenge: the server may have moved to another authorization server. */
  async #protectedResource(challenge: Challenge | undefined): Promise<ProtectedResource> {
    if (challenge === undefined && this.#resource !== undefined) return this.#resource;
    const { issuer } = this.#how;
    const request = this.#request("resource-metadata");
    const resource = await readResourceMetadata(this.#server, challenge?.resourceMetadata, issuer, request);
    if (issuer !== undefined && resource.issuer !== issuer) {
      throw new SignInError({
        kind: "issuer-mismatch",
        step: "resource-metadata",
        received: `the authorization server ${resource.issuer}`,
        expected: `${issuer}, with which this client is registered`,
        remedy: "the credentials of the client were not sent; give those of a client that is registered there",
      });
    }
    if (this.#resource !== undefined && this.#resource.issuer !== resource.issuer) {
      this.#requested = [];
      this.#key = undefined; // By the same key, two authorization servers would know the client for one.
    }
    this.#resource = resource;
    const why = resource.isWithoutMetadata
      ? "it has no metadata, so it is its own authorization server"
      : "its metadata";
    this.report("resource-metadata", `the authorization server of ${resource.resource} is ${resource.issuer} (${why})`);
    return resource;
  }

  async #obtain(
    key: string,
    resource: ProtectedResource,
    refused: Tokens | undefined,
    challenge: Challenge | undefined,
    mayRefresh: boolean,
  ): Promise<Obtained> {
    const { store } = this.#settings;
    const stored = this.#bound(await store.get(key), resource);
    const inStore = stored?.tokens;
    if (stored?.dpopKey !== undefined) this.#key = await tokenKey(stored.dpopKey);
    if (inStore !== undefined && inStore.accessToken !== refused?.accessToken && isUsable(inStore, challenge)) {
      this.report("stored", "the token store has an access token");
      return { tokens: inStore, from: "store" };
    }
    const server = await this.#serverMetadata(resource);
    const boundTo = await this.#keyFor(server);
    const bound = boundTo === undefined ? {} : { dpopKey: boundTo.jwk };
    const stamp = { issuer: resource.issuer, resource: resource.resource };
    const keep = async (tokens: Tokens, client: ClientAtServer): Promise<Tokens> => {
      await store.set(key, { ...stamp, ...clientOf(client), ...bound, tokens });
      return tokens;
    };
    let ended: SignInError | undefined;
    let registration = stored?.client;
    const client = this.#how.clientAt(server, registration);
    if (inStore?.refreshToken !== undefined && client !== undefined && mayRefresh && challenge?.status !== 403) {
      const refreshed = await this.#refresh(server, client, resource, inStore.refreshToken, inStore.scopes);
      if (!(refreshed instanceof SignInError)) {
        const { refreshToken } = inStore; // It goes on if the response has no other one.
        const tokens = { refreshToken, ...tokensOf(server, refreshed, inStore.scopes) };
        return { tokens: await keep(tokens, client), from: "refresh" };
      }
      ended = refreshed;
      if (ended.failure.code === "invalid_client") registration = undefined; // The server has forgotten it.
      await store.set(key, { ...stamp, ...(registration === undefined ? {} : { client: registration }) });
    }
    const scopes = this.#scopesFor(resource, inStore, challenge);
    this.#requested = scopes ?? [];
    try {
      const granted = await this.#how.grant({
        server,
        resource: resource.resource,
        scopes,
        isStepUp: challenge?.status === 403,
        stored: registration,
        key: boundTo,
        request: (step) => this.#request(step),
        secureUrl: (step, url) => this.#requireSecure(step, url),
        report: (kind, text, url) => this.report(kind, text, url === undefined ? {} : { url }),
      });
      // Without the refresh token of an earlier sign-in, which may be one of another user.
      const tokens = tokensOf(server, granted.response, scopes ?? []);
      return { tokens: await keep(tokens, granted.client), from: "grant" };
    } catch (error) {
      // A server that has forgotten the client shows that on its page only, and never redirects: the next sign-in registers anew.
      const isAbandoned = error instanceof SignInError && error.failure.kind === "abandoned";
      if (isAbandoned && registration !== undefined && challenge?.status !== 403) await store.set(key, stamp);
      // Without a user, the reason is that the refresh token is no longer accepted.
      if (ended !== undefined && error instanceof SignInError && error.failure.kind === "interaction") throw ended;
      throw error;
    }
  }

  /** Credentials without a stamp, or with another one, are not used: they would get to a server that they are not for. */
  #bound(
    stored: StoredCredentials | undefined,
    { issuer, resource }: ProtectedResource,
  ): StoredCredentials | undefined {
    if (stored === undefined) return undefined;
    if (stored.issuer === issuer && stored.resource === resource) return stored;
    this.report("stored", `credentials in the token store are refused: they are of ${stored.issuer ?? "no issuer"}`);
    return undefined;
  }

  async #serverMetadata({ issuer, isWithoutMetadata }: ProtectedResource): Promise<AuthorizationServer> {
    const isIssuer = (found: string): boolean => found === issuer || (isWithoutMetadata && found === `${issuer}/`);
    const discovery = await findServerMetadata(issuer, this.#request("server-metadata"), isIssuer);
    if (discovery.kind === "metadata") return discovery.metadata;
    const { places } = discovery;
    const other = places.find(({ otherIssuer }) => otherIssuer !== undefined);
    const isAbsent = places.every(({ status = 0 }) => status >= 400 && status < 500);
    if (isWithoutMetadata && isAbsent) {
      this.report("server-metadata", `none: the default endpoints at ${issuer}`);
      return defaultEndpoints(issuer);
    }
    throw new SignInError({
      kind: other === undefined ? "server-metadata" : "issuer-mismatch",
      step: "server-metadata",
      received: placesText(places),
      expected: `metadata of ${issuer}`,
      remedy:
        other !== undefined
          ? "`authorization_servers` of the MCP server and `issuer` of the authorization server have to be the same text"
          : places.every(({ status }) => status === undefined)
            ? "check that the authorization server runs, and that this machine can reach it"
            : "the authorization server has to serve its metadata (RFC 8414 or OpenID Connect Discovery)",
    });
  }

  /** The key to bind tokens to: the one in the store, or a new one where that is wanted and supported. */
  async #keyFor({
    issuer,
    dpop_signing_alg_values_supported: algorithms = [],
  }: AuthorizationServer): Promise<TokenKey | undefined> {
    if (this.#key !== undefined || this.#settings.dpop !== true) return this.#key;
    if (algorithms.includes(proofAlgorithm)) this.#key = await tokenKey(undefined);
    else
      this.report("server-metadata", `${issuer} does not bind tokens with ${proofAlgorithm}: they are bearer tokens`);
    return this.#key;
  }

  /** Refreshes a token. Returns the error if the refresh token or the client is no longer accepted. */
  async #refresh(
    server: AuthorizationServer,
    { client, authentication }: ClientAtServer,
    { resource }: ProtectedResource,
    refreshToken: string,
    scopes: readonly string[],
  ): Promise<TokenEndpointResponse | SignInError> {
    try {
      return await withNonce(async () => {
        const response = await refreshTokenGrantRequest(server, client, authentication, refreshToken, {
          ...libraryOptions(this.#request("refresh"), this.#key),
          additionalParameters: refreshParameters(server, resource, scopes),
        });
        return processRefreshTokenResponse(server, client, response);
      });
    } catch (error) {
      if (error instanceof SignInError) throw error;
      const { code, text } = await endpointError(error);
      const isEnd = endsRefresh(server, code) || code === "invalid_client" || code === "unauthorized_client";
      const failure = new SignInError({
        kind: isEnd ? "refresh" : "token",
        step: "refresh",
        ...(code === undefined ? {} : { code }),
        received: `${text} from ${server.token_endpoint}`,
        expected: "a new access token",
        remedy: isEnd
          ? "the refresh token has expired, was revoked or was used twice, which ends all tokens of that sign-in; sign in again"
          : "try again later: the tokens are kept",
      });
      if (!isEnd) throw failure;
      this.report("refresh", failure.message);
      return failure;
    }
  }

  /**
   * The scopes to request: those of the challenge as they are, otherwise all that the server lists. A step-up adds to those that were
   * requested before, so that the new token serves the other requests too.
   * https://modelcontextprotocol.io/specification/latest/basic/authorization#scope-selection-strategy
   */
  #scopesFor(
    { scopes: supported = [] }: ProtectedResource,
    inStore: Tokens | undefined,
    challenge: Challenge | undefined,
  ): readonly string[] | undefined {
    const { scopes: wanted = [] } = this.#settings;
    const challenged = challenge?.scopes ?? [];
    const before = challenge?.status === 403 ? [...this.#requested, ...(inStore?.scopes ?? [])] : this.#requested;
    const union = [...new Set([...before, ...wanted, ...challenged])];
    if (challenge?.status === 403) this.report("step-up", `requests ${union.join(" ")}`);
    if (union.length > 0) return union;
    return supported.length > 0 ? supported : undefined;
  }

  /** The one function for all requests of a sign-in. */
  #request(kind: SignInStep["kind"]): BoundedFetch {
    return async (url, init = {}) => {
      const { origin, pathname } = this.#requireSecure(kind, url);
      const exchange = { url: `${origin}${pathname}`, method: init.method ?? "GET" };
      try {
        const response = await boundedFetch(url, init, this.#settings.fetch);
        this.report(kind, `${exchange.method} ${exchange.url}: ${response.status}`, {
          ...exchange,
          status: response.status,
        });
        return response;
      } catch (error) {
        this.report(kind, `${exchange.method} ${exchange.url}: ${causeText(error)}`, exchange);
        throw error;
      }
    };
  }

  #requireSecure(step: SignInStep["kind"], url: string): URL {
    try {
      const parsed = requireSecureUrl("the URL", url);
      if (mayLeadTo(this.#server, parsed)) return parsed;
      throw new TypeError(`${parsed.href} is ${whereText(parsed)}, and the MCP server is not`);
    } catch (error) {
      throw insecure(step, error);
    }
  }
}

function whereText({ hostname }: URL): string {
  const kind = hostKind(hostname);
  return kind === "loopback" ? "on this machine" : `at a ${kind} address`;
}

function insecure(step: SignInStep["kind"], cause: unknown): SignInError {
  return new SignInError({
    kind: "insecure-url",
    step,
    received: thrownText(cause),
    expected: "a URL that begins with https:",
    remedy: "it was not requested; the metadata that names it has to be corrected",
  });
}

function clientOf({ registration }: ClientAtServer): Pick<StoredCredentials, "client"> {
  return registration === undefined ? {} : { client: registration };
}

function isExpired({ expiresAt }: Tokens, ahead: number): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt - ahead;
}

function isUsable(tokens: Tokens, challenge: Challenge | undefined): boolean {
  return !isExpired(tokens, 0) && hasScopes(tokens, challenge);
}

function stepUpScopes(challenge: Challenge | undefined): readonly string[] | undefined {
  return challenge?.status === 403 ? (challenge.scopes ?? []) : undefined;
}

/** Whether the tokens have every scope that a challenge asks for. */
export function hasScopes({ scopes }: Tokens, challenge: Challenge | undefined): boolean {
  return stepUpScopes(challenge)?.every((scope) => scopes.includes(scope)) ?? true;
}

/** The endpoints of a server of 2025-03-26 that has no metadata. PKCE was required of it. */
function defaultEndpoints(issuer: string): AuthorizationServer {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

/** A response may leave out the scopes if they are those of the request. */
function tokensOf(server: AuthorizationServer, response: TokenEndpointResponse, requested: readonly string[]): Tokens {
  const { expires_in: expiresIn, refresh_token: refreshToken, scope } = response;
  return {
    accessToken: response.access_token,
    tokenType: response.token_type === "dpop" ? "DPoP" : "Bearer",
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresIn === undefined ? {} : { expiresAt: Date.now() + expiresIn * 1000 }),
    scopes: scope === undefined ? requested : grantedScopes(server, scope),
  };
}
