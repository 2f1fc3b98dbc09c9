import { importJWK, importPKCS8 } from "jose";
import {
  type AuthorizationServer,
  type ClientAuth,
  clientCredentialsGrantRequest,
  genericTokenEndpointRequest,
  modifyAssertion,
  PrivateKeyJwt,
  processClientCredentialsResponse,
  processGenericTokenEndpointResponse,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { checkMembers, type MembersOf, requireFunction } from "../../base/check-members.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { HttpAuthorization } from "../../http/client/http-target.js";
import { thrownText } from "../../jsonrpc/errors.js";
import { findServerMetadata, placesText } from "../discovery.js";
import { authorizedFetch } from "./authorized-fetch.js";
import {
  type ClientAtServer,
  type GrantRequest,
  libraryOptions,
  requestToken,
  type TokenOptions,
  tokenOptions,
} from "./grant.js";
import { resourceParameters } from "./quirks.js";
import { clientWith } from "./registration.js";
import { SignInError } from "./sign-in-error.js";

/** A private key: PKCS #8 in PEM, a JSON Web Key, or a key of Web Crypto. */
export type ClientKey = string | JsonWebKey | CryptoKey;

/** Options of `clientCredentials`. */
export interface ClientCredentialsOptions extends TokenOptions {
  /** The id of the client at the authorization server. */
  readonly clientId: string;
  /** The secret of the client. It needs an `issuer`. Default: none, for a client with a `privateKey`. */
  readonly clientSecret?: string;
  /** The key that signs the assertions of the client (`private_key_jwt`). Default: none, for a client with a secret. */
  readonly privateKey?: ClientKey;
  /** The algorithm of a key in PEM. Default: ES256. */
  readonly algorithm?: string;
  /** The id of the key, by which the authorization server finds the public one. Default: that of a JSON Web Key. */
  readonly keyId?: string;
  /** The only authorization server that gets tokens requested. Default: the one that the MCP server names. */
  readonly issuer?: string;
}

const clientCredentialsMembers: MembersOf<ClientCredentialsOptions> = {
  ...tokenOptions,
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret", "secret"],
  privateKey: ["any", "key", "private_key", "jwk"],
  algorithm: ["string", "alg", "signingAlgorithm"],
  keyId: ["string", "kid"],
  issuer: ["string", "iss", "authorizationServer"],
};

/**
 * Gets tokens for a program that acts for itself, without a user: the client credentials grant. For the option `auth` of `connect`.
 * https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 *
 * @example
 * const auth = clientCredentials({ clientId: "nightly-report", privateKey: await readFile("key.pem", "utf8") });
 * const client = await connect("https://mcp.example.com/mcp", { auth });
 *
 * @throws TypeError for options that contradict each other
 */
export function clientCredentials(options: ClientCredentialsOptions): HttpAuthorization {
  checkMembers("clientCredentials", options, clientCredentialsMembers);
  const { clientId, clientSecret, privateKey, issuer } = options;
  if ((clientSecret === undefined) === (privateKey === undefined))
    throw new TypeError("clientCredentials: give either clientSecret or privateKey");
  if (clientSecret !== undefined) requireIssuer("clientCredentials", "clientSecret", issuer);
  const authentication = privateKey === undefined ? undefined : signed(privateKey, options);
  return machineAuth(options, issuer, clientId, {
    clientAt: (server) =>
      authentication === undefined
        ? clientWith(server, clientId, clientSecret)
        : { client: { client_id: clientId }, authentication },
    async respond({ server, resource, scopes, request, key }, { client, authentication: auth }) {
      const parameters = { ...resourceParameters(server, resource), ...scopeOf(scopes) };
      const options = libraryOptions(request("token"), key);
      const response = await clientCredentialsGrantRequest(server, client, auth, parameters, options);
      return processClientCredentialsResponse(server, client, response);
    },
  });
}

/** Options of `workloadIdentity`. */
export interface WorkloadIdentityOptions extends TokenOptions {
  /**
   * The token that the platform gives to this workload, for the authorization server as its audience; called for every token request.
   * A file of Kubernetes, for instance.
   */
  readonly assertion: (audience: string) => MaybePromise<string>;
  /** The only authorization server that gets the assertion. */
  readonly issuer: string;
  /** The id of the client there. Default: none, if the assertion identifies it. */
  readonly clientId?: string;
}

const workloadMembers: MembersOf<WorkloadIdentityOptions> = {
  ...tokenOptions,
  assertion: ["function", "token", "jwt", "getToken"],
  issuer: ["string", "iss", "authorizationServer"],
  clientId: ["string", "client_id"],
};

/**
 * Gets tokens for a workload with an identity of its platform: the JWT bearer grant (RFC 7523), without any secret of its own.
 *
 * @example
 * const assertion = () => readFile("/var/run/secrets/tokens/mcp", "utf8");
 * const auth = workloadIdentity({ assertion, issuer: "https://auth.example.com" });
 *
 * @throws TypeError for a missing option
 */
export function workloadIdentity(options: WorkloadIdentityOptions): HttpAuthorization {
  checkMembers("workloadIdentity", options, workloadMembers);
  const { assertion, issuer, clientId } = options;
  requireFunction("workloadIdentity: assertion", assertion, '() => readFile("token", "utf8")');
  requireIssuer("workloadIdentity", "assertion", issuer);
  return machineAuth(options, issuer, clientId ?? "", {
    clientAt: (server) => (clientId === undefined ? unnamed : clientWith(server, clientId)),
    respond: async (request, client) => {
      const given = await ownToken("assertion", () => assertion(request.server.issuer));
      return bearerAssertion(request, client, given);
    },
  });
}

/** Options of `enterpriseManaged`. */
export interface EnterpriseManagedOptions extends TokenOptions {
  /** The identity provider of the organization, and the client there. */
  readonly identityProvider: {
    /** Its issuer. */
    readonly issuer: string;
    /** The id of the client at the identity provider. */
    readonly clientId: string;
    /** The secret of that client. Default: none, for a public client. */
    readonly clientSecret?: string;
  };
  /** The ID token of the user who is signed in at the identity provider; called for every token request. */
  readonly idToken: () => MaybePromise<string>;
  /** The id of the client at the authorization server of the MCP server. */
  readonly clientId: string;
  /** The secret of that client. Default: none, for a public client. */
  readonly clientSecret?: string;
  /** The only authorization server that gets the credentials of the client. */
  readonly issuer: string;
}

const enterpriseMembers: MembersOf<EnterpriseManagedOptions> = {
  ...tokenOptions,
  identityProvider: ["object", "idp", "provider"],
  idToken: ["function", "id_token", "subjectToken"],
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret", "secret"],
  issuer: ["string", "iss", "authorizationServer"],
};

/**
 * Gets tokens for a user of an organization whose identity provider decides about the access: it exchanges the ID token for an assertion
 * (ID-JAG), which the authorization server of the MCP server takes. The user does not see a page.
 * https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 *
 * @example
 * const identityProvider = { issuer: "https://acme.okta.example", clientId: "agent" };
 * const idToken = () => readFile("id-token.jwt", "utf8");
 * const auth = enterpriseManaged({ identityProvider, idToken, clientId: "notes-agent", issuer: "https://auth.example.com" });
 *
 * @throws TypeError for a missing option
 */
export function enterpriseManaged(options: EnterpriseManagedOptions): HttpAuthorization {
  checkMembers("enterpriseManaged", options, enterpriseMembers);
  const { identityProvider, idToken, clientId, clientSecret, issuer } = options;
  requireFunction("enterpriseManaged: idToken", idToken, "() => session.idToken");
  requireIssuer("enterpriseManaged", "idToken", issuer);
  return machineAuth(options, issuer, clientId, {
    clientAt: (server) => clientWith(server, clientId, clientSecret),
    async respond(request, client) {
      const subject = await ownToken("idToken", idToken);
      return bearerAssertion(request, client, await crossDomainAssertion(identityProvider, subject, request));
    },
  });
}

/** A client that its assertion identifies. oauth4webapi requires an id, which is not sent. */
const unnamed: ClientAtServer = { client: { client_id: "unnamed" }, authentication: () => undefined };

/** How tokens are requested without a user. */
interface MachineGrant {
  readonly clientAt: (server: AuthorizationServer) => ClientAtServer;
  readonly respond: (request: GrantRequest, client: ClientAtServer) => Promise<TokenEndpointResponse>;
}

function machineAuth(
  options: TokenOptions,
  issuer: string | undefined,
  name: string,
  { clientAt, respond }: MachineGrant,
): HttpAuthorization {
  return authorizedFetch(options, {
    issuer,
    name,
    isInteractive: false,
    clientAt,
    async grant(request) {
      const { server } = request;
      const client = clientAt(server);
      const remedy = `check what the client ${name === "" ? "" : `${name} `}may access at ${server.issuer}`;
      return { response: await requestToken(server, remedy, () => respond(request, client)), client };
    },
  });
}

/** The token that a function of the application returns. @throws SignInError with what it throws, or returns instead */
async function ownToken(name: string, get: () => MaybePromise<unknown>): Promise<string> {
  const token = await own(`an error of \`${name}\``, `\`${name}\` is a function of this application`, get);
  if (typeof token === "string" && token.trim() !== "") return token.trim();
  const received = `${token === "" || typeof token === "string" ? "no text" : typeof token} from \`${name}\``;
  const remedy = `\`${name}\` is a function of this application, and nothing was sent`;
  throw new SignInError({ kind: "token", step: "token", received, expected: "a token", remedy });
}

/** Runs a function of the application. @throws SignInError that does not blame the server */
async function own<T>(what: string, remedy: string, get: () => MaybePromise<T>): Promise<T> {
  try {
    return await get();
  } catch (cause) {
    const received = `${what}: ${thrownText(cause)}`;
    throw new SignInError({ kind: "token", step: "token", received, expected: "a token", remedy }, { cause });
  }
}

/** https://www.rfc-editor.org/rfc/rfc7523#section-2.1 */
async function bearerAssertion(
  { server, resource, scopes, request, key }: GrantRequest,
  { client, authentication }: ClientAtServer,
  assertion: string,
): Promise<TokenEndpointResponse> {
  const type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const parameters = { assertion, ...resourceParameters(server, resource), ...scopeOf(scopes) };
  const options = libraryOptions(request("token"), key);
  const response = await genericTokenEndpointRequest(server, client, authentication, type, parameters, options);
  return processGenericTokenEndpointResponse(server, client, response);
}

const idJag = "urn:ietf:params:oauth:token-type:id-jag";

/** Exchanges an ID token at the identity provider (RFC 8693) for an assertion to another authorization server. */
async function crossDomainAssertion(
  { issuer, clientId, clientSecret }: EnterpriseManagedOptions["identityProvider"],
  subject: string,
  { server: { issuer: audience }, resource, scopes, request }: GrantRequest,
): Promise<string> {
  const discovery = await findServerMetadata(issuer, request("server-metadata"));
  if (discovery.kind === "none") {
    const received = placesText(discovery.places);
    const expected = `metadata of the identity provider ${issuer}`;
    const remedy = "check `identityProvider.issuer`: it has to be the issuer of the metadata, letter by letter";
    throw new SignInError({ kind: "server-metadata", step: "server-metadata", received, expected, remedy });
  }
  const { metadata: provider } = discovery;
  const { client, authentication } = clientWith(provider, clientId, clientSecret);
  const parameters = {
    subject_token: subject,
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    requested_token_type: idJag,
    audience,
    resource,
    ...scopeOf(scopes),
  };
  const type = "urn:ietf:params:oauth:grant-type:token-exchange";
  const remedy = `sign in again at ${issuer}, or ask its administrator for access to ${resource}`;
  const { access_token: assertion } = await requestToken(provider, remedy, async () => {
    const options = libraryOptions(request("token"));
    const response = await genericTokenEndpointRequest(provider, client, authentication, type, parameters, options);
    // It is not an access token, so its token type has no meaning.
    const recognizedTokenTypes = { n_a: () => undefined };
    const exchanged = await processGenericTokenEndpointResponse(provider, client, response, { recognizedTokenTypes });
    if (exchanged.issued_token_type === idJag) return exchanged;
    throw new TypeError(`a token of the type ${String(exchanged.issued_token_type)} instead of an ID-JAG`);
  });
  return assertion;
}

function scopeOf(scopes: readonly string[] | undefined): { readonly scope?: string } {
  return scopes === undefined ? {} : { scope: scopes.join(" ") };
}

/** Authentication with a signed assertion, for this authorization server only. */
function signed(key: ClientKey, { algorithm = "ES256", keyId }: ClientCredentialsOptions): ClientAuth {
  const kid = keyId ?? (typeof key === "object" && "kid" in key && typeof key.kid === "string" ? key.kid : undefined);
  let imported: Promise<CryptoKey> | undefined;
  return async (server, client, body, headers) => {
    const remedy = `give a private key for ${algorithm}, or its \`algorithm\`; nothing was sent`;
    const usable = await own(
      "a `privateKey` that cannot be used",
      remedy,
      () => (imported ??= importKey(key, algorithm)),
    );
    const signer = { key: usable, ...(kid === undefined ? {} : { kid }) };
    const authenticate = PrivateKeyJwt(signer, {
      [modifyAssertion]: (_, claims) => {
        claims.aud = server.issuer;
      },
    });
    await authenticate(server, client, body, headers);
  };
}

async function importKey(key: ClientKey, algorithm: string): Promise<CryptoKey> {
  if (typeof key === "string") return importPKCS8(key, algorithm);
  if (!("kty" in key)) return key as CryptoKey; // Every key that is not a JSON Web Key is one of Web Crypto.
  const imported = await importJWK(key, algorithm);
  if (imported instanceof Uint8Array)
    throw new TypeError("clientCredentials: privateKey is a secret, not a private key");
  return imported;
}

/** @throws TypeError without an issuer */
function requireIssuer(name: string, option: string, issuer: string | undefined): void {
  if (typeof issuer === "string" && URL.canParse(issuer)) return;
  throw new TypeError(
    `${name}: ${option} needs issuer: without it, any server that you connect to could name who gets the credentials`,
  );
}
