import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { HttpAuthorization } from "../../http/client/http-target.js";
import { type Authorize, authorizationCode, type OpenReceiver } from "./authorization-code.js";
import { authorizedFetch } from "./authorized-fetch.js";
import { type TokenOptions, tokenOptions } from "./grant.js";
import { type ClientIdentity, identityMembers, withUser } from "./registration.js";

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
  ...identityMembers,
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
  requireIssuerOfSecret("oauth", options);
  return authorizedFetch(options, withUser(options, authorizationCode(options, receiverOf(options))));
}

/** @throws TypeError for a secret that any server could get sent to an authorization server of its choice */
export function requireIssuerOfSecret(name: string, { clientId, clientSecret, issuer }: ClientIdentity): void {
  if (clientSecret === undefined || (clientId !== undefined && issuer !== undefined)) return;
  throw new TypeError(
    `${name}: clientSecret needs clientId and issuer: without the issuer, any server that you connect to could name who gets the secret`,
  );
}

function receiverOf({ signIn, redirectUrl, authorize }: OAuthOptions): OpenReceiver | undefined {
  if (signIn !== undefined || redirectUrl === undefined || authorize === undefined) return signIn;
  return async () => ({ redirectUrl, authorize });
}
