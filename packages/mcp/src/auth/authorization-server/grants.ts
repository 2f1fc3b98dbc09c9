import { errors, jwtVerify, SignJWT } from "jose";
import { calculatePKCECodeChallenge } from "oauth4webapi";
import { isObject } from "../../base/json.js";
import type { Verification } from "../resource-server.js";
import { verificationOf } from "../server/jwt-auth.js";
import { digest, randomSecret, type SigningKey } from "./keys.js";
import { OAuthError } from "./oauth-error.js";
import type { AuthorizationStore } from "./state-store.js";

/** Seconds that a code can be redeemed. */
const codeTtl = 60;

/** Seconds after its last refresh that a grant ends. */
export const grantTtl: number = 30 * 24 * 3600;

/** The permissions that a user has granted to a client. */
export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Why the grant has ended before its time. */
  readonly ended?: string;
}

/** The PKCE challenge and the redirect URI that a code is bound to. */
export interface CodeTerms {
  readonly challenge: string;
  readonly redirectUri: string;
}

/** A response of the token endpoint. */
export type TokenResponse = Readonly<Record<string, unknown>>;

/** Codes, refresh tokens and access tokens of one resource. */
export class Grants {
  readonly resource: () => string;
  readonly #store: AuthorizationStore;
  readonly #key: Promise<SigningKey>;
  readonly #lifetime: number;

  /**
   * @param resource a function, because a server that listens on any free port learns its URL late
   * @param lifetime of access tokens, in seconds
   */
  constructor(resource: () => string, store: AuthorizationStore, key: Promise<SigningKey>, lifetime: number) {
    this.resource = resource;
    this.#store = store;
    this.#key = key;
    this.#lifetime = lifetime;
  }

  /** The authorization server is at the origin of the resource. */
  get issuer(): string {
    return new URL(this.resource()).origin;
  }

  /** An authorization code for a new grant. */
  async code(grant: Grant, terms: CodeTerms): Promise<string> {
    await this.#store.set(`grant:${grant.id}`, JSON.stringify(grant), grantTtl);
    const code = randomSecret();
    await this.#store.set(`code:${await digest(code)}`, JSON.stringify({ grantId: grant.id, ...terms }), codeTtl);
    return code;
  }

  /** @throws OAuthError `invalid_grant` */
  async redeemCode(
    clientId: string,
    code: string,
    redirectUri: string | null,
    verifier: string,
  ): Promise<TokenResponse> {
    const { grant, kept } = await this.#redeem("code", code, clientId);
    if (kept.redirectUri !== redirectUri)
      throw new OAuthError("invalid_grant", "redirect_uri is not that of the authorization request");
    if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier) || kept.challenge !== (await calculatePKCECodeChallenge(verifier)))
      throw new OAuthError("invalid_grant", "code_verifier does not match the code_challenge");
    return this.#tokens(grant, grant.scopes);
  }

  /**
   * @param scopes fewer scopes than those of the grant; undefined for all
   * @throws OAuthError `invalid_grant`, `invalid_scope`
   */
  async refresh(clientId: string, token: string, scopes: readonly string[] | undefined): Promise<TokenResponse> {
    const { grant } = await this.#redeem("refresh", token, clientId);
    const chosen = scopes ?? grant.scopes;
    if (chosen.some((scope) => !grant.scopes.includes(scope))) {
      // The client did nothing that would end its grant.
      await this.#store.set(`refresh:${await digest(token)}`, JSON.stringify({ grantId: grant.id }), grantTtl);
      throw new OAuthError("invalid_scope", "a refresh cannot add scopes: authorize again");
    }
    await this.#store.set(`grant:${grant.id}`, JSON.stringify(grant), grantTtl);
    return this.#tokens(grant, chosen);
  }

  /** Signs an access token (RFC 9068). One without a sign-in has no grant. */
  async accessToken(
    { subject, clientId, scopes, grantId }: Omit<Grant, "id" | "ended"> & { readonly grantId?: string },
    lifetime: number = this.#lifetime,
  ): Promise<string> {
    const { algorithm, sign, jwk } = await this.#key;
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({
      client_id: clientId,
      scope: scopes.join(" "),
      ...(grantId === undefined ? {} : { grant_id: grantId }),
    })
      .setProtectedHeader({ alg: algorithm, typ: "at+jwt", ...(jwk?.kid === undefined ? {} : { kid: jwk.kid }) })
      .setIssuer(this.issuer)
      .setAudience(this.resource())
      .setSubject(subject)
      .setJti(crypto.randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + lifetime)
      .sign(sign);
  }

  /** The response with an access token only, for a client without a user. */
  async clientCredentials(clientId: string, scopes: readonly string[]): Promise<TokenResponse> {
    return this.#response(await this.accessToken({ subject: clientId, clientId, scopes }), scopes);
  }

  /** Verifies an access token of this server. It is valid while its grant is. */
  async verify(token: string): Promise<Verification> {
    const { issuer } = this;
    const { algorithm, verify } = await this.#key;
    try {
      const options = { issuer, audience: this.resource(), algorithms: [algorithm], typ: "at+jwt" };
      const { payload } = await jwtVerify(token, verify, { ...options, requiredClaims: ["exp", "sub", "client_id"] });
      const { client_id: clientId, grant_id: grantId } = payload;
      if (typeof clientId !== "string") return { kind: "invalid", reason: "its client_id is not a string" };
      if (typeof grantId === "string") {
        const grant = await this.grant(grantId);
        const ended = grant === undefined ? "its grant has expired" : grant.ended;
        if (ended !== undefined) return { kind: "invalid", reason: ended };
      }
      return verificationOf(issuer, clientId, payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return { kind: "invalid", reason: `${error.code}: ${error.message}` };
      throw error;
    }
  }

  /**
   * Ends the grant of an access or refresh token, and returns its id. Does nothing for an unknown or expired token.
   * @throws OAuthError for a token of another client, or one without a grant
   */
  async revoke(clientId: string, token: string): Promise<string | undefined> {
    const grantId = (await this.#refreshable(token)) ?? (await this.#grantIdOf(token));
    const grant = grantId === undefined ? undefined : await this.grant(grantId);
    if (grant === undefined || grant.ended !== undefined) return undefined;
    if (grant.clientId !== clientId) throw new OAuthError("invalid_grant", "the token belongs to another client");
    const ended = "its client has revoked it: sign in again";
    await this.#store.set(`grant:${grant.id}`, JSON.stringify({ ...grant, ended }), grantTtl);
    return grant.id;
  }

  /** The id of the grant of a refresh token, used or not. */
  async #refreshable(token: string): Promise<string | undefined> {
    const key = await digest(token);
    const text = await this.#store.get(`refresh:${key}`);
    const kept: unknown = text === undefined ? undefined : JSON.parse(text);
    if (isObject(kept) && typeof kept.grantId === "string") return kept.grantId;
    return this.#store.get(`used-refresh:${key}`);
  }

  async #grantIdOf(accessToken: string): Promise<string | undefined> {
    const verified = await this.verify(accessToken);
    if (verified.kind !== "identity") return undefined;
    const grantId = verified.identity.claims?.grant_id;
    if (typeof grantId === "string") return grantId;
    throw new OAuthError("unsupported_token_type", "a token without a sign-in is valid until it expires");
  }

  async grant(id: string): Promise<Grant | undefined> {
    const text = await this.#store.get(`grant:${id}`);
    return text === undefined ? undefined : (JSON.parse(text) as Grant); // Only `Grants` writes there.
  }

  /**
   * Takes a code or a refresh token. One that was taken before was copied: its client or a thief comes second, so the grant ends.
   * https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2
   */
  async #redeem(
    kind: "code" | "refresh",
    secret: string,
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly kept: Readonly<Record<string, unknown>> }> {
    const what = kind === "code" ? "the code" : "the refresh token";
    const key = await digest(secret);
    const text = await this.#store.take(`${kind}:${key}`);
    if (text === undefined) {
      const grantId = await this.#store.get(`used-${kind}:${key}`);
      const grant = grantId === undefined ? undefined : await this.grant(grantId);
      if (grant === undefined) throw new OAuthError("invalid_grant", `${what} is not known or has expired`);
      const ended = `${what} was used twice, so its grant has ended: sign in again`;
      await this.#store.set(`grant:${grant.id}`, JSON.stringify({ ...grant, ended }), grantTtl);
      throw new OAuthError("invalid_grant", ended);
    }
    const kept: unknown = JSON.parse(text);
    const grantId = isObject(kept) ? kept.grantId : undefined;
    const grant = typeof grantId === "string" ? await this.grant(grantId) : undefined;
    if (!isObject(kept) || grant === undefined)
      throw new OAuthError("invalid_grant", `the grant of ${what} has expired`);
    await this.#store.set(`used-${kind}:${key}`, grant.id, grantTtl);
    if (grant.ended !== undefined) throw new OAuthError("invalid_grant", grant.ended);
    if (grant.clientId !== clientId) throw new OAuthError("invalid_grant", `${what} belongs to another client`);
    return { grant, kept };
  }

  async #tokens({ id, subject, clientId }: Grant, scopes: readonly string[]): Promise<TokenResponse> {
    const refreshToken = randomSecret();
    await this.#store.set(`refresh:${await digest(refreshToken)}`, JSON.stringify({ grantId: id }), grantTtl);
    const accessToken = await this.accessToken({ subject, clientId, scopes, grantId: id });
    return { ...this.#response(accessToken, scopes), refresh_token: refreshToken };
  }

  #response(accessToken: string, scopes: readonly string[]): TokenResponse {
    return {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: this.#lifetime,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
  }
}
