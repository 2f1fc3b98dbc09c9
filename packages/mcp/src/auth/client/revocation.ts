import { type AuthorizationServer, processRevocationResponse, revocationRequest } from "oauth4webapi";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Fetch } from "../../http/client/http-target.js";
import { causeText } from "../../jsonrpc/errors.js";
import { mayLeadTo } from "../addresses.js";
import { type BoundedFetch, boundedFetch } from "../bounded-fetch.js";
import { findServerMetadata, placesText } from "../discovery.js";
import { requireSecureUrl } from "../server/protected.js";
import { type ClientAtServer, endpointError, libraryOptions } from "./grant.js";
import { knownClient } from "./registration.js";
import type { StoredCredentials } from "./token-store.js";

/** Options of `revokeTokens`. */
export interface RevocationOptions {
  /** The id of a client that did not register dynamically, as it was given to `oauth`. Default: that of the registration. */
  readonly clientId?: string;
  /** The secret of that client. Default: none, for a public client. */
  readonly clientSecret?: string;
  /** Sends the requests to the authorization server. Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
}

const members: MembersOf<RevocationOptions> = {
  clientId: ["string", "client_id"],
  clientSecret: ["string", "client_secret"],
  fetch: ["function"],
};

/** The result of a revocation. */
export type Revocation =
  | { readonly kind: "revoked" }
  /** The authorization server cannot revoke tokens: they are valid until they expire. */
  | { readonly kind: "unsupported" }
  | {
      readonly kind: "failed";
      /** The failure, for the log: the text of the authorization server may be in it. */
      readonly reason: string;
    };

/**
 * Revokes the tokens of a sign-in at their authorization server (RFC 7009), for a user who signs out. The token store keeps them: delete
 * them there afterwards.
 * https://www.rfc-editor.org/rfc/rfc7009
 *
 * @example
 * const store = fileTokenStore();
 * for (const [key, credentials] of await store.entries()) {
 *   await revokeTokens(credentials);
 *   await store.delete(key);
 * }
 */
export async function revokeTokens(
  { issuer, resource, client: registration, tokens }: StoredCredentials,
  options: RevocationOptions = {},
): Promise<Revocation> {
  checkMembers("revokeTokens", options, members);
  const request: BoundedFetch = (url, init) => {
    const secure = requireSecureUrl("the URL", url);
    if (!mayLeadTo(new URL(resource), secure)) throw new TypeError(`${secure.origin} is not at a public address`);
    return boundedFetch(url, init, options.fetch);
  };
  try {
    const discovery = await findServerMetadata(issuer, request);
    if (discovery.kind === "none") {
      const isAbsent = discovery.places.every(({ status = 0 }) => status >= 400 && status < 500);
      return isAbsent ? { kind: "unsupported" } : { kind: "failed", reason: placesText(discovery.places) };
    }
    const { metadata } = discovery;
    if (metadata.revocation_endpoint === undefined) return { kind: "unsupported" };
    const client = knownClient(options, metadata, registration);
    if (client === undefined)
      return { kind: "failed", reason: "the client id is not known, or its secret has expired" };
    return await revokeAt(metadata, client, tokens ?? {}, request);
  } catch (error) {
    return { kind: "failed", reason: causeText(error) };
  }
}

/** Revokes a refresh token and an access token at the revocation endpoint of their server. */
export async function revokeAt(
  server: AuthorizationServer,
  client: ClientAtServer,
  {
    refreshToken,
    accessToken,
  }: Partial<Pick<NonNullable<StoredCredentials["tokens"]>, "refreshToken" | "accessToken">>,
  request: BoundedFetch,
): Promise<Revocation> {
  // With the refresh token, most servers revoke the access token; few revoke the refresh token with the access token.
  const refresh = await revoke(server, client, "refresh_token", refreshToken, request);
  const access = await revoke(server, client, "access_token", accessToken, request);
  if (refresh.kind !== "unsupported" && access.kind === "unsupported") return refresh;
  return refresh.kind === "failed" ? refresh : access;
}

async function revoke(
  server: AuthorizationServer,
  { client, authentication }: ClientAtServer,
  hint: string,
  token: string | undefined,
  request: BoundedFetch,
): Promise<Revocation> {
  if (token === undefined) return { kind: "unsupported" };
  let status: number | undefined;
  try {
    const additionalParameters = { token_type_hint: hint };
    const options = { ...libraryOptions(request), additionalParameters };
    const response = await revocationRequest(server, client, authentication, token, options);
    // The library accepts 200 only; 204 is in use too.
    if (response.ok) return { kind: "revoked" };
    status = response.status;
    await processRevocationResponse(response);
    return { kind: "revoked" };
  } catch (error) {
    const { code, text } = await endpointError(error);
    // For instance of access tokens that resource servers verify by themselves.
    if (code === "unsupported_token_type") return { kind: "unsupported" };
    const problem = code === undefined && status !== undefined ? `status ${status}` : text;
    return { kind: "failed", reason: `${problem} from ${server.revocation_endpoint}` };
  }
}
