import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Fetch, HttpAuthorization } from "../../http/client/http-target.js";
import { type Authorize, authorizationCode, type OpenReceiver } from "./authorization-code.js";
import { authorizedFetch } from "./authorized-fetch.js";
import { type ClientIdentity, knownClient } from "./registration.js";
import type { SignInStep } from "./sign-in-error.js";
import { memoryTokenStore, type TokenStore } from "./token-store.js";

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

/** Options of `oauth`. */
export interface OAuthOptions extends TokenOptions {
  /** The id of a client that is registered with the authorization server. Default: a metadata document or a registration. */
  readonly clientId?: string;
  /** The secret of that client. It needs an `issuer`. Default: none, for a public client. */
  readonly clientSecret?: string;
  /**
   * The authorization server of the client, exactly as its metadata has it. A server that names another one is refused. Default:
   * any.
   */
  readonly issuer?: string;
  /** The name that users see. Default: "MCP client". */
  readonly clientName?: string;
  /** The URL of the client ID metadata document, which is the client id where the server supports that. Default: none. */
  readonly clientMetadataUrl?: string;
  /** How the user signs in: `browserSignIn()` of `@parlance/mcp/auth-node`. Default: `redirectUrl` and `authorize`. */
  readonly signIn?: OpenReceiver;
  /** Where the authorization server sends the user afterwards. Default: none, so that no user can sign in. */
  readonly redirectUrl?: string;
  /**
   * Shows the authorization request to the user, and returns the URL of the redirect that follows. Default: no user can sign in.
   */
  readonly authorize?: Authorize;
}

const members: MembersOf<OAuthOptions> = {
  ...tokenOptions,
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret"],
  issuer: ["string", "iss", "authorizationServer"],
  clientName: ["string", "client_name", "name"],
  clientMetadataUrl: ["string", "clientUri", "cimd"],
  redirectUrl: ["string", "redirectUri", "redirect_uri", "callbackUrl"],
  signIn: ["function", "browser", "login"],
  authorize: ["function", "open", "redirectToAuthorization"],
};

/**
 * Signs a user in to a protected server, when it asks for that. For the option `auth` of `connect`.
 *
 * @example
 * const auth = oauth({ clientName: "Notes", signIn: browserSignIn(), store: fileTokenStore() });
 * const client = await connect("https://mcp.example.com/mcp", { auth });
 *
 * @throws TypeError for options that contradict each other
 */
export function oauth(options: OAuthOptions): HttpAuthorization {
  checkMembers("oauth", options, members);
  const { clientId, issuer, clientName, clientMetadataUrl } = options;
  requireIssuerOfSecret("oauth", options);
  const identity: ClientIdentity = options;
  const { store = memoryTokenStore() } = options;
  return authorizedFetch(
    { ...options, store },
    {
      issuer,
      name: clientId ?? clientMetadataUrl ?? clientName ?? "",
      grant: authorizationCode(identity, receiverOf(options)),
      isInteractive: true,
      clientAt: (server, stored) => knownClient(identity, server, stored),
    },
  );
}

/** @throws TypeError for a secret that any server could get sent to an authorization server of its choice */
export function requireIssuerOfSecret(
  name: string,
  { clientId, clientSecret, issuer }: Pick<OAuthOptions, "clientId" | "clientSecret" | "issuer">,
): void {
  if (clientSecret === undefined || (clientId !== undefined && issuer !== undefined)) return;
  throw new TypeError(
    `${name}: clientSecret needs clientId and issuer: without the issuer, any server that you connect to could name who gets the secret`,
  );
}

function receiverOf({ signIn, redirectUrl, authorize }: OAuthOptions): OpenReceiver | undefined {
  if (signIn !== undefined || redirectUrl === undefined || authorize === undefined) return signIn;
  return async () => ({ redirectUrl, authorize });
}
