import {
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  dynamicClientRegistrationRequest,
  None,
  processDynamicClientRegistrationResponse,
  ResponseBodyError,
} from "oauth4webapi";
import type { MembersOf } from "../../base/check-members.js";
import { isObject } from "../../base/json.js";
import type { BoundedFetch } from "../bounded-fetch.js";
import { isThisMachine } from "../server/protected.js";
import {
  type ClientAtServer,
  type EndpointError,
  endpointError,
  type Grant,
  type GrantRequest,
  type GrantSettings,
  libraryOptions,
} from "./grant.js";
import { scopesToRegister } from "./quirks.js";
import { SignInError } from "./sign-in-error.js";
import type { StoredCredentials } from "./token-store.js";

/** How a client identifies itself. */
export interface ClientIdentity {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly issuer?: string;
  readonly clientName?: string;
  readonly clientMetadataUrl?: string;
}

/** The members of `ClientIdentity`, and their names elsewhere. */
export const identityMembers: MembersOf<ClientIdentity> = {
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret"],
  issuer: ["string", "iss", "authorizationServer"],
  clientName: ["string", "client_name", "name"],
  clientMetadataUrl: ["string", "clientUri", "cimd"],
};

/** The settings of a grant by which a user signs in. */
export function withUser(identity: ClientIdentity, grant: Grant): GrantSettings {
  const { clientId, clientName, clientMetadataUrl, issuer } = identity;
  return {
    issuer,
    name: clientId ?? clientMetadataUrl ?? clientName ?? "",
    grant,
    isInteractive: true,
    clientAt: (server, stored) => knownClient(identity, server, stored),
  };
}

type Registration = NonNullable<StoredCredentials["client"]>;

/**
 * The client at a server without a new registration: pre-registered, by its metadata document where the server supports that, or as it
 * registered before.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#client-registration-approaches
 */
export function knownClient(
  { clientId, clientSecret, clientMetadataUrl }: ClientIdentity,
  server: AuthorizationServer,
  stored: Registration | undefined,
): (ClientAtServer & { readonly how: string }) | undefined {
  if (clientId !== undefined) return { ...clientWith(server, clientId, clientSecret), how: "pre-registered" };
  if (clientMetadataUrl !== undefined && server.client_id_metadata_document_supported === true)
    return { ...clientWith(server, clientMetadataUrl), how: "its metadata document, which the server supports" };
  const now = Date.now() / 1000;
  if (stored === undefined || (stored.secretExpiresAt ?? now + 1) <= now) return undefined;
  return { ...registeredClient(server, stored), how: "registered before" };
}

function registeredClient(server: AuthorizationServer, registration: Registration): ClientAtServer {
  return { ...clientWith(server, registration.id, registration.secret, registration.authMethod), registration };
}

/** A client by its id, with its secret if it has one. */
export function clientWith(server: AuthorizationServer, id: string, secret?: string, method?: string): ClientAtServer {
  return { client: { client_id: id }, authentication: authenticationOf(server, secret, method) };
}

/** A client with a secret uses the method that it registered, or the first that the server supports. */
function authenticationOf(
  server: AuthorizationServer,
  secret: string | undefined,
  method: string | undefined,
): ClientAuth {
  if (secret === undefined || method === "none") return None();
  // RFC 8414: a server that lists none supports HTTP Basic.
  const { token_endpoint_auth_methods_supported: supported = ["client_secret_basic"] } = server;
  const chosen = method ?? (supported.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post");
  return chosen === "client_secret_post" ? ClientSecretPost(secret) : basicAuthentication(secret);
}

/**
 * HTTP Basic with id and secret form-encoded (RFC 6749 §2.3.1). The library also encodes characters such as the hyphen, which is allowed,
 * and which servers that do not decode take for another id.
 */
function basicAuthentication(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const [user, password] = [id, secret].map((part) => new URLSearchParams([["", part]]).toString().slice(1));
    headers.set("authorization", `Basic ${btoa(`${user}:${password}`)}`);
  };
}

/** The grant type of device codes. */
export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * The client for a redirect URL, or for device codes without one: known, or registered for it. A registration for redirects may not use
 * device codes.
 * @throws SignInError if the server refuses to register it
 */
export async function identify(
  identity: ClientIdentity,
  redirectUrl: string | undefined,
  request: GrantRequest,
): Promise<ClientAtServer> {
  const { server, stored, report } = request;
  const uris = stored?.redirectUris;
  const isRegisteredFor = redirectUrl === undefined ? uris?.length === 0 : (uris?.includes(redirectUrl) ?? true);
  const known = knownClient(identity, server, isRegisteredFor ? stored : undefined);
  if (known === undefined) return register(identity, redirectUrl, request);
  report("registration", `${known.client.client_id}: ${known.how}`);
  return known;
}

/**
 * Registers the client for a redirect URL, or for device codes without one (RFC 7591).
 * @throws SignInError if the server refuses
 */
async function register(
  { clientName }: ClientIdentity,
  redirectUrl: string | undefined,
  { server, request, report, scopes }: GrantRequest,
): Promise<ClientAtServer> {
  if (server.registration_endpoint === undefined) {
    throw new SignInError({
      kind: "no-client-id",
      step: "registration",
      received: `metadata of ${server.issuer} without a registration endpoint`,
      expected: "a way to get a client id",
      remedy:
        "register a client there and give its `clientId`, or give a `clientMetadataUrl` if the server supports that",
    });
  }
  const { token_endpoint_auth_methods_supported: methods = ["none"] } = server;
  const redirectUris = redirectUrl === undefined ? [] : [redirectUrl];
  const metadata = {
    client_name: clientName ?? "MCP client",
    redirect_uris: redirectUris,
    application_type: redirectUrl === undefined || isNative(new URL(redirectUrl)) ? "native" : "web",
    grant_types: [redirectUrl === undefined ? deviceGrant : "authorization_code", "refresh_token"],
    response_types: redirectUrl === undefined ? [] : ["code"],
    token_endpoint_auth_method: ["none", "client_secret_basic", "client_secret_post"].find((each) =>
      methods.includes(each),
    ),
  };
  try {
    const registered = await registerScopes(metadata, scopesToRegister(server, scopes), server, request);
    const { client_id: id, client_secret: secret, client_secret_expires_at: expiresAt } = registered;
    const method = registered.token_endpoint_auth_method;
    report("registration", `registered as ${id}`);
    return registeredClient(server, {
      id,
      redirectUris,
      ...(typeof secret === "string" ? { secret } : {}),
      ...(typeof expiresAt === "number" && expiresAt > 0 ? { secretExpiresAt: expiresAt } : {}),
      ...(typeof method === "string" ? { authMethod: method } : {}),
    });
  } catch (error) {
    throw error instanceof SignInError ? error : registrationFailed(server, await endpointError(error));
  }
}

function isNative({ hostname, protocol }: URL): boolean {
  return (protocol !== "https:" && protocol !== "http:") || isThisMachine(new URL(`http://${hostname}`));
}

/** The errors of servers for scopes in a registration. RFC 7591 has none for them. */
const refusesScopes: ReadonlySet<string> = new Set(["invalid_client_metadata", "invalid_scope", "insufficient_scope"]);

/**
 * Registers for the scopes of the request, because some servers grant only scopes that a client has registered. Others refuse scopes of
 * resource servers in a registration, and grant them all the same.
 */
async function registerScopes(
  metadata: Partial<Client>,
  scopes: readonly string[] | undefined,
  server: AuthorizationServer,
  request: GrantRequest["request"],
): Promise<Client> {
  const send = async (sent: Partial<Client>): Promise<Client> => {
    const options = libraryOptions(completed(request("registration")));
    return processDynamicClientRegistrationResponse(await dynamicClientRegistrationRequest(server, sent, options));
  };
  if (scopes === undefined) return send(metadata);
  try {
    return await send({ ...metadata, scope: scopes.join(" ") });
  } catch (error) {
    if (error instanceof ResponseBodyError && refusesScopes.has(error.error)) return send(metadata);
    throw error;
  }
}

function registrationFailed(
  { issuer, registration_endpoint: url }: AuthorizationServer,
  { code, text }: EndpointError,
): SignInError {
  return new SignInError({
    kind: "registration",
    step: "registration",
    ...(code === undefined ? {} : { code }),
    received: `${text} from ${url}`,
    expected: "a registered client",
    remedy: `register a client at ${issuer} and give its \`clientId\``,
  });
}

/** Many servers respond with 200, and leave out when the secret expires, which for them is never. The library requires both. */
function completed(request: BoundedFetch): BoundedFetch {
  return async (url, init) => {
    const response = await request(url, init);
    if (response.status !== 200 && response.status !== 201) return response;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined); // The library reports what is not JSON.
    if (!isObject(body)) return response;
    const expires = body.client_secret === undefined ? {} : { client_secret_expires_at: 0 };
    return Response.json({ ...expires, ...body }, { status: 201 });
  };
}
