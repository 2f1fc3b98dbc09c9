import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  customFetch,
  type DPoPHandle,
  ResponseBodyError,
  type TokenEndpointResponse,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import type { MembersOf } from "../../base/check-members.js";
import { isObject } from "../../base/json.js";
import type { Fetch } from "../../http/client/http-target.js";
import { causeText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import type { BoundedFetch } from "../bounded-fetch.js";
import { type TokenKey, withNonce } from "./bound-tokens.js";
import { SignInError, type SignInStep } from "./sign-in-error.js";
import type { StoredCredentials, TokenStore } from "./token-store.js";

/** A client at an authorization server. */
export interface ClientAtServer {
  readonly client: Client;
  readonly authentication: ClientAuth;
  /** Its dynamic registration, if it has one, which is kept in the store. */
  readonly registration?: StoredCredentials["client"];
}

/** The endpoints, client and settings with which a grant requests tokens. */
export interface GrantRequest {
  readonly server: AuthorizationServer;
  /** The resource identifier of the MCP server (RFC 8707). */
  readonly resource: string;
  /** Undefined to leave the choice to the authorization server. */
  readonly scopes: readonly string[] | undefined;
  /** Whether there is a token, which lacks some of these scopes. */
  readonly isStepUp: boolean;
  /** The dynamic registration in the store. */
  readonly stored: StoredCredentials["client"] | undefined;
  /** The key to bind the tokens to; undefined for bearer tokens. */
  readonly key: TokenKey | undefined;
  /** Sends a request of a step, and reports it. URLs that are not secure are refused. */
  request(step: SignInStep["kind"]): BoundedFetch;
  /**
   * The URL, if it is one that may be requested or opened: HTTPS, or on this machine if the MCP server is too.
   * @throws SignInError
   */
  secureUrl(step: SignInStep["kind"], url: string): URL;
  /** Reports a decision. */
  report(kind: SignInStep["kind"], text: string, url?: string): void;
}

/** The tokens that an authorization server issued. */
export interface Granted {
  readonly response: TokenEndpointResponse;
  readonly client: ClientAtServer;
}

/**
 * Obtains tokens from an authorization server, in one of the ways of OAuth. Discovery, storage, refresh and step-up are not its
 * business.
 *
 * @throws SignInError
 */
export type Grant = (request: GrantRequest) => Promise<Granted>;

/** Options of every way to get tokens. */
export interface TokenOptions {
  /** Scopes to request besides those that the server requires. Default: all that the server lists. */
  readonly scopes?: readonly string[];
  /**
   * Whether to bind tokens to a key of this client (DPoP, RFC 9449) if the authorization server supports that, so that a stolen
   * token is useless. Default: false.
   */
  readonly dpop?: boolean;
  /** Where tokens and registrations are kept. Default: in memory, for this value of `auth`. */
  readonly store?: TokenStore;
  /** Sends the requests to the authorization server and for metadata. Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
  /**
   * Called for every exchange and every decision of a sign-in, without secrets. What it throws goes to the console. Default:
   * none.
   */
  readonly onStep?: (step: SignInStep) => void;
}

/** The members of `TokenOptions`, and their names elsewhere. */
export const tokenOptions: MembersOf<TokenOptions> = {
  dpop: ["boolean", "boundTokens"],
  scopes: ["strings", "scope"],
  store: ["object", "storage", "tokenStore"],
  fetch: ["function"],
  onStep: ["function", "report"],
};

/** The settings by which a client gets its tokens. */
export interface GrantSettings {
  /** The only authorization server that may get the credentials of this client. Undefined for any that the MCP server names. */
  readonly issuer: string | undefined;
  /** Distinguishes clients that share a store. */
  readonly name: string;
  readonly grant: Grant;
  /** Whether the grant may need a user: then it waits until the server refuses a request. */
  readonly isInteractive: boolean;
  /** The client for a refresh; undefined if it is not known at this server. */
  clientAt(server: AuthorizationServer, stored: StoredCredentials["client"] | undefined): ClientAtServer | undefined;
}

/** The options of the library for one request. */
export interface LibraryOptions {
  [customFetch]: BoundedFetch;
  [allowInsecureRequests]: true;
  DPoP?: DPoPHandle;
}

/** The request refuses URLs that are not secure itself: HTTP is allowed on this machine. */
export function libraryOptions(request: BoundedFetch, key?: TokenKey): LibraryOptions {
  const proof = key === undefined ? {} : { DPoP: key.proofs };
  return { [customFetch]: withReadableErrors(request), [allowInsecureRequests]: true, ...proof };
}

/**
 * Sends requests whose errors the library reads, and which may be shown.
 *
 * GitHub and others send errors with the status 200, also `authorization_pending` and that of a refresh. The library reads errors by their
 * status. And a description may repeat what was sent, such as the code that is not known: it gets into messages and logs.
 * https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 */
export function withReadableErrors(request: BoundedFetch): BoundedFetch {
  return async (url, init = {}) => {
    const response = await request(url, init);
    const { status, headers } = response;
    if (status !== 200 && (status < 400 || status >= 500)) return response;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined); // The library reports what is not JSON.
    if (!isObject(body) || typeof body.error !== "string" || body.access_token !== undefined) return response;
    const text = secretsOf(init).reduce((each, secret) => each.replaceAll(secret, "…"), JSON.stringify(body));
    return new Response(text, { status: status === 200 ? 400 : status, headers });
  };
}

/** The parameters of requests that are no secret. */
const shown: ReadonlySet<string> = new Set([
  ...["grant_type", "client_id", "redirect_uri", "resource", "audience", "scope", "token_type_hint"],
  ...["subject_token_type", "requested_token_type", "client_assertion_type"],
]);

/** The secrets of a request, as they stand in a JSON text. */
function secretsOf({ headers, body }: NonNullable<Parameters<BoundedFetch>[1]>): readonly string[] {
  const parameters = body instanceof URLSearchParams ? [...body] : [];
  const [, credentials = ""] = new Headers(headers).get("authorization")?.split(" ") ?? [];
  const secrets = parameters.filter(([name]) => !shown.has(name)).map(([, value]) => value);
  return [...secrets, credentials].filter((each) => each !== "").map((each) => JSON.stringify(each).slice(1, -1));
}

/** The error of a token or registration endpoint. */
export interface EndpointError {
  /** The error code of RFC 6749, e.g. `invalid_grant`; undefined if the response has none. */
  readonly code?: string;
  readonly text: string;
}

/**
 * Describes what the library threw. The error itself is not passed on: its cause may contain tokens.
 */
export async function endpointError(error: unknown): Promise<EndpointError> {
  if (error instanceof ResponseBodyError) return described(error.status, error.error, error.error_description);
  if (error instanceof WWWAuthenticateChallengeError) {
    const body: unknown = await error.response.json().catch(() => undefined); // Its text is of no use.
    const { error: code, error_description: description } = isObject(body) ? body : {};
    return described(error.status, code, description);
  }
  // Of a response that it cannot read, the library says what it expects, and nothing of what came.
  if (error instanceof Error && error.cause instanceof Response) {
    const { status, headers } = error.cause;
    const [type = ""] = (headers.get("content-type") ?? "").split(";");
    return { text: `status ${status} with ${type === "" ? "no Content-Type" : excerpt(type)}` };
  }
  return { text: causeText(error) };
}

/**
 * The response to a token request.
 * @throws SignInError if there is no token in it
 */
export async function requestToken(
  { token_endpoint: url }: AuthorizationServer,
  remedy: string,
  send: () => Promise<TokenEndpointResponse>,
): Promise<TokenEndpointResponse> {
  try {
    return await withNonce(send);
  } catch (error) {
    throw error instanceof SignInError ? error : noToken(await endpointError(error), url, remedy);
  }
}

export function noToken({ code, text }: EndpointError, url: string | undefined, remedy: string): SignInError {
  const received = `${text} from ${url}`;
  const named = code === undefined ? {} : { code };
  return new SignInError({ kind: "token", step: "token", ...named, received, expected: "an access token", remedy });
}

function described(status: number, code: unknown, description: unknown): EndpointError {
  if (typeof code !== "string") return { text: `status ${status}` };
  const detail = typeof description === "string" && description !== "" ? ` (${excerpt(description)})` : "";
  return { code, text: `status ${status} with ${code}${detail}` };
}
