import {
  AuthorizationResponseError,
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  type TokenEndpointResponse,
  validateAuthResponse,
} from "oauth4webapi";
import { thrownText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import {
  type ClientAtServer,
  type EndpointError,
  endpointError,
  type Grant,
  type GrantRequest,
  libraryOptions,
} from "./grant.js";
import { type ClientIdentity, knownClient, register } from "./registration.js";
import { SignInError } from "./sign-in-error.js";

/** Shows the authorization request to the user, and returns the URL of the redirect that follows. */
export type Authorize = (url: URL) => Promise<string | URL>;

/**
 * The authorization code grant: a user signs in at the authorization server.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#authorization-code-protection
 */
export function authorizationCode(
  identity: ClientIdentity,
  redirectUrl: string | undefined,
  authorize: Authorize | undefined,
): Grant {
  return async (request) => {
    if (authorize === undefined || redirectUrl === undefined) throw notInteractive(request);
    requirePkce(request);
    const client = await identify(identity, redirectUrl, request);
    const verifier = generateRandomCodeVerifier();
    const state = generateRandomState();
    const url = await authorizationUrl(request, client, redirectUrl, verifier, state);
    const { origin, pathname } = url;
    const scopes = request.scopes === undefined ? "without scopes" : `for the scopes ${request.scopes.join(" ")}`;
    request.report("authorization", `the user authorizes ${client.client.client_id} ${scopes}`, `${origin}${pathname}`);
    const redirect = await redirectOf(authorize, url);
    const parameters = validated(redirect, request, client, state);
    request.report("redirect", "an authorization code", `${redirect.origin}${redirect.pathname}`);
    return { response: await exchange(request, client, parameters, redirectUrl, verifier), client };
  };
}

async function redirectOf(authorize: Authorize, url: URL): Promise<URL> {
  return new URL(await authorize(url));
}

async function identify(identity: ClientIdentity, redirectUrl: string, request: GrantRequest): Promise<ClientAtServer> {
  const { server, stored, report } = request;
  const known = knownClient(identity, server, stored);
  const isForRedirect = known?.registration?.redirectUris?.includes(redirectUrl) ?? true;
  if (known === undefined || !isForRedirect) return register(identity, redirectUrl, request);
  report("registration", `${known.client.client_id}: ${known.how}`);
  return known;
}

function notInteractive({ server }: GrantRequest): SignInError {
  return new SignInError({
    kind: "interaction",
    step: "authorization",
    received: "no `authorize` function and redirect URL",
    expected: `a user who signs in at ${server.issuer}`,
    remedy:
      "give `authorize` and `redirectUrl`, or sign in first with a client that has them and shares the token store",
  });
}

/** @throws SignInError without PKCE: an intercepted code could be used by others */
function requirePkce({ server }: GrantRequest): void {
  const { code_challenge_methods_supported: methods } = server;
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
  { server, resource, scopes }: GrantRequest,
  { client }: ClientAtServer,
  redirectUrl: string,
  verifier: string,
  state: string,
): Promise<URL> {
  const { authorization_endpoint: endpoint = "" } = server;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  // The system browser opens it: nothing but the web may be reached that way.
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new SignInError({
      kind: "server-metadata",
      step: "server-metadata",
      received: `the authorization endpoint ${excerpt(endpoint)}`,
      expected: "a URL that begins with https:",
      remedy: `the metadata of ${server.issuer} has to be corrected`,
    });
  }
  const parameters = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUrl,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource,
    ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    // OpenID Connect grants offline access only with consent.
    ...(scopes?.includes("offline_access") === true ? { prompt: "consent" } : {}),
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
      received: `${excerpt(cause.error)}${description}`,
      expected: "an authorization code",
      remedy: "sign in again and allow the access, or ask the operator of the authorization server",
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

function otherIssuer(received: string, expected: string): SignInError {
  return new SignInError({
    kind: "issuer-mismatch",
    step: "redirect",
    received,
    expected: `\`iss\` ${expected}`,
    remedy: "the response may come from another authorization server, so it was discarded; sign in again",
  });
}

async function exchange(
  { server, resource, request }: GrantRequest,
  { client, authentication }: ClientAtServer,
  parameters: URLSearchParams,
  redirectUrl: string,
  verifier: string,
): Promise<TokenEndpointResponse> {
  try {
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      redirectUrl,
      verifier,
      {
        ...libraryOptions(request("token")),
        additionalParameters: { resource },
      },
    );
    return await processAuthorizationCodeResponse(server, client, response);
  } catch (error) {
    throw error instanceof SignInError ? error : noToken(server, await endpointError(error));
  }
}

function noToken({ token_endpoint: url }: AuthorizationServer, { text }: EndpointError): SignInError {
  return new SignInError({
    kind: "token",
    step: "token",
    received: `${text} from ${url}`,
    expected: "an access token",
    remedy: "sign in again; if that does not help, check the client at the authorization server",
  });
}
