import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  type TokenEndpointResponse,
  validateAuthResponse,
} from "oauth4webapi";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { thrownText } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { excerpt } from "../../jsonrpc/report.js";
import {
  type ClientAtServer,
  type Grant,
  type Granted,
  type GrantRequest,
  libraryOptions,
  requestToken,
} from "./grant.js";
import { offlineParameters, pkceMethods, resourceParameters } from "./quirks.js";
import { type ClientIdentity, identify } from "./registration.js";
import { SignInError } from "./sign-in-error.js";

/** Shows the authorization request to the user, and returns the URL of the redirect that follows. */
export type Authorize = (url: URL) => Promise<string | URL>;

/** Receives the redirect of one sign-in. */
export interface RedirectReceiver {
  /** Where the authorization server sends the user. */
  readonly redirectUrl: string;
  /** Shows the authorization request to the user, and returns the URL of the redirect that follows. */
  readonly authorize: Authorize;
  /** Releases what it holds, after the sign-in or its failure. */
  close?(): MaybePromise<void>;
}

/**
 * Opens a receiver for a sign-in. `registered` are the redirect URLs of an earlier registration, which serves again for one of
 * them.
 */
export type OpenReceiver = (registered: readonly string[]) => Promise<RedirectReceiver>;

/**
 * The authorization code grant: a user signs in at the authorization server.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#authorization-code-protection
 */
export function authorizationCode(identity: ClientIdentity, open: OpenReceiver | undefined): Grant {
  return async (request) => {
    if (open === undefined) throw notInteractive(request);
    requirePkce(request);
    const wider = withOfflineAccess(request);
    try {
      return await received(open, identity, wider);
    } catch (error) {
      if (request.stored === undefined || !isRefusedRegistration(error)) throw error;
      return received(open, identity, { ...wider, stored: undefined });
    }
  };
}

/** Whether another registration may help: the earlier one may be for fewer scopes, or be forgotten. */
function isRefusedRegistration(error: unknown): boolean {
  if (!(error instanceof SignInError)) return false;
  const { code, step } = error.failure;
  return (step === "redirect" && code === "invalid_scope") || code === "invalid_client";
}

async function received(open: OpenReceiver, identity: ClientIdentity, request: GrantRequest): Promise<Granted> {
  const receiver = await inHook("signIn", () => open(request.stored?.redirectUris ?? []));
  try {
    return await signIn(identity, receiver, request);
  } finally {
    await inHook("RedirectReceiver.close", () => receiver.close?.());
  }
}

async function signIn(identity: ClientIdentity, receiver: RedirectReceiver, request: GrantRequest): Promise<Granted> {
  const { redirectUrl } = receiver;
  const client = await identify(identity, redirectUrl, request);
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const url = await authorizationUrl(request, client, redirectUrl, verifier, state);
  const { origin, pathname } = url;
  const scopes = request.scopes === undefined ? "without scopes" : `for the scopes ${request.scopes.join(" ")}`;
  request.report("authorization", `the user authorizes ${client.client.client_id} ${scopes}`, `${origin}${pathname}`);
  const redirect = await redirectOf(receiver, url);
  const parameters = validated(redirect, request, client, state);
  request.report("redirect", "an authorization code", `${redirect.origin}${redirect.pathname}`);
  return { response: await exchange(request, client, parameters, redirectUrl, verifier), client };
}

/**
 * Also requests a refresh token if the authorization server issues it for a scope. MCP servers do not list that scope.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#refresh-tokens
 */
export function withOfflineAccess(request: GrantRequest): GrantRequest {
  const { scopes, server } = request;
  const isOffered = server.scopes_supported?.includes("offline_access") === true;
  if (scopes === undefined || !isOffered || scopes.includes("offline_access")) return request;
  return { ...request, scopes: [...scopes, "offline_access"] };
}

/** @throws SignInError with what `authorize` throws: that the user closed the page, for instance */
async function redirectOf(receiver: RedirectReceiver, url: URL): Promise<URL> {
  let redirect: string | URL;
  try {
    redirect = await receiver.authorize(url);
  } catch (cause) {
    if (cause instanceof SignInError) throw cause;
    const failure = {
      kind: "abandoned",
      step: "authorization",
      received: `no response: ${thrownText(cause)}`,
      expected: "the URL of the redirect",
      remedy: "sign in again",
    } as const;
    throw new SignInError(failure, { cause });
  }
  if (URL.canParse(redirect)) return new URL(redirect);
  throw notACode(new TypeError("`authorize` returned no URL")); // Without its text, which may contain a code.
}

function notInteractive({ server, resource, scopes = [], isStepUp }: GrantRequest): SignInError {
  const needed = isStepUp ? `, with the scopes ${scopes.join(" ")}` : "";
  return new SignInError({
    kind: "interaction",
    step: "authorization",
    received: "no `signIn`",
    expected: `a user who signs in at ${server.issuer}${needed}`,
    resource,
    ...(isStepUp && { scopes }),
    remedy:
      "give `signIn: browserSignIn()`, or `authorize` and `redirectUrl`, or sign in first with a client that has them and shares the token store",
  });
}

/** @throws SignInError without PKCE: an intercepted code could be used by others */
function requirePkce({ server }: GrantRequest): void {
  const methods = pkceMethods(server);
  if (methods?.includes("S256") === true) return;
  throw new SignInError({
    kind: "pkce",
    step: "server-metadata",
    received: methods === undefined ? "no `code_challenge_methods_supported`" : `PKCE with ${methods.join(", ")}`,
    expected: "`code_challenge_methods_supported` with S256",
    remedy: `the authorization server ${server.issuer} has to support PKCE and advertise it`,
  });
}

async function authorizationUrl(
  { server, resource, scopes, secureUrl, key }: GrantRequest,
  { client }: ClientAtServer,
  redirectUrl: string,
  verifier: string,
  state: string,
): Promise<URL> {
  if (server.authorization_endpoint === undefined)
    throw new SignInError({
      kind: "server-metadata",
      step: "server-metadata",
      received: `metadata of ${server.issuer} without an authorization endpoint`,
      expected: "a place where users sign in",
      remedy: "use a grant without a user, if the authorization server has one",
    });
  // The system browser opens it: nothing but the web may be reached that way.
  const url = secureUrl("authorization", server.authorization_endpoint);
  const parameters = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUrl,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...resourceParameters(server, resource),
    // The code is for the holder of the key too.
    ...(key === undefined ? {} : { dpop_jkt: key.thumbprint }),
    ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    ...offlineParameters(server, scopes),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/**
 * The parameters of the redirect, if it responds to this request and comes from this server. Until that is known, none of its text may
 * be shown.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#authorization-response-validation
 */
function validated(
  redirect: URL,
  { server }: GrantRequest,
  { client }: ClientAtServer,
  state: string,
): URLSearchParams {
  const issuer = redirect.searchParams.get("iss");
  if (issuer !== null && issuer !== server.issuer) throw otherIssuer(excerpt(issuer), server.issuer);
  if (issuer === null && server.authorization_response_iss_parameter_supported === true)
    throw otherIssuer("no `iss`", server.issuer);
  try {
    return validateAuthResponse(server, client, redirect, state);
  } catch (error) {
    throw notACode(error);
  }
}

function notACode(cause: unknown): SignInError {
  if (cause instanceof AuthorizationResponseError) {
    const description = cause.error_description === undefined ? "" : ` (${excerpt(cause.error_description)})`;
    return new SignInError({
      kind: "denied",
      step: "redirect",
      code: cause.error,
      received: `${excerpt(cause.error)}${description}`,
      expected: "an authorization code",
      remedy:
        denialRemedies.get(cause.error) ??
        "sign in again and allow the access, or ask the operator of the authorization server",
    });
  }
  return new SignInError({
    kind: "invalid-response",
    step: "redirect",
    received: thrownText(cause),
    expected: "the response to the authorization request that was sent",
    remedy: "sign in again, and do not reuse an old page",
  });
}

/** Remedies of authorization errors that no user can mend by allowing the access. */
const denialRemedies: ReadonlyMap<string, string> = new Map([
  [
    "invalid_target",
    "the authorization server issues no tokens for this server: its operator has to register the `resource` of the Protected Resource Metadata there, or to correct it",
  ],
  ["invalid_scope", "request scopes that the authorization server knows, or ask its operator to add them"],
  ["unauthorized_client", "the operator of the authorization server has to allow this grant to the client"],
  ["server_error", "the authorization server failed: try again later"],
  ["temporarily_unavailable", "try again later"],
]);

function otherIssuer(received: string, expected: string): SignInError {
  return new SignInError({
    kind: "issuer-mismatch",
    step: "redirect",
    received,
    expected: `\`iss\` ${expected}`,
    remedy: "the response may come from another authorization server, so it was discarded; sign in again",
  });
}

function exchange(
  { server, resource, request, key }: GrantRequest,
  { client, authentication }: ClientAtServer,
  parameters: URLSearchParams,
  redirectUrl: string,
  verifier: string,
): Promise<TokenEndpointResponse> {
  const options = {
    ...libraryOptions(request("token"), key),
    additionalParameters: resourceParameters(server, resource),
  };
  const send = (): Promise<Response> =>
    authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUrl, verifier, options);
  return requestToken(
    server,
    "sign in again; if that does not help, check the client at the authorization server",
    async () => processAuthorizationCodeResponse(server, client, await send()),
  );
}
