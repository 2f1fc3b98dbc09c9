import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from "jose";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { isObject } from "../../base/json.js";
import { causeText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { boundedFetch, type OwnFetch } from "../bounded-fetch.js";
import { discover } from "../discovery.js";
import type { ResourceServer, Verification } from "../resource-server.js";
import {
  acceptedToken,
  isThisMachine,
  protect,
  protectedMembers,
  type RemoteOptions,
  requireSecureUrl,
} from "./protected.js";

/** Options of `jwtAuth`. */
export interface JwtAuthOptions extends RemoteOptions {
  /** The authorization server, exactly as it writes itself into its tokens: the `iss` claim. */
  readonly issuer: string;
  /**
   * The `aud` claim of tokens for this server. Usually its URL as clients write it, e.g. `https://mcp.example.com/mcp`. With several,
   * a token needs one of them.
   */
  readonly audience: string | readonly string[];
  /** The URL of this server as clients write it. Default: the audience, which must be a URL then. */
  readonly resource?: string;
  /** Where the public keys of the issuer are. Default: read from the metadata of the issuer. */
  readonly jwksUri?: string;
  /** The algorithms that signatures may have. Only asymmetric ones. Default: every RSA, ECDSA and Ed25519 algorithm of JOSE. */
  readonly algorithms?: readonly string[];
  /** Seconds by which the clocks of the issuer and of this server may differ. Default: 30. */
  readonly clockTolerance?: number;
}

const members: MembersOf<JwtAuthOptions> = {
  issuer: ["string", "iss", "issuerUrl", "issuerBaseURL", "authority"],
  audience: ["any", "aud", "clientId"],
  resource: ["string", "resourceUrl", "url", "baseUrl"],
  jwksUri: ["string", "jwks", "jwks_uri", "jwksUrl"],
  algorithms: ["strings", "algorithm", "alg"],
  clockTolerance: ["number", "clockSkew", "leeway"],
  fetch: ["function"],
  ...protectedMembers,
};

const asymmetric = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Types of tokens that are access tokens. ID tokens have none or `JWT` too; their audience is a client. */
const tokenTypes: ReadonlySet<unknown> = new Set([undefined, "jwt", "at+jwt", "application/at+jwt"]);

/** Milliseconds that keys are used, and milliseconds until they are fetched again for an unknown key or after a failure. */
const keysTtl = 600_000;
const keysCooldown = 30_000;

/**
 * Protects a server with JWT access tokens. Signature, issuer, audience, expiry and scopes are checked on every request, with the keys
 * of the issuer, which are fetched when they are needed and when they rotate.
 *
 * @example
 * const auth = jwtAuth({ issuer: "https://login.example.com", audience: "https://mcp.example.com/mcp", scopes: ["notes"] });
 * await serveHttp(server, { port: 3000, auth });
 *
 * @throws TypeError for options that could not protect anything: an issuer without HTTPS, except on this machine, no audience, a symmetric algorithm
 */
export function jwtAuth(options: JwtAuthOptions): ResourceServer {
  checkMembers("jwtAuth", options, members);
  const { issuer, audience, algorithms = asymmetric, clockTolerance = 30, jwksUri } = options;
  const audiences = [audience].flat();
  if (audiences.length === 0 || audiences.some((each) => typeof each !== "string" || each === "")) {
    throw new TypeError("jwtAuth: audience is missing: without it, tokens for any other server would be accepted here");
  }
  if (options.resource === undefined && !URL.canParse(String(audiences[0]))) {
    const remedy = "give the URL of this server as resource";
    throw new TypeError(`jwtAuth: the audience ${JSON.stringify(audiences[0])} is not a URL: ${remedy}`);
  }
  const symmetric = algorithms.find((each) => !asymmetric.includes(each));
  if (symmetric !== undefined) {
    throw new TypeError(`jwtAuth: ${symmetric} is not allowed: give some of ${asymmetric.join(", ")}`);
  }
  requireSecureUrl("jwtAuth: the issuer", issuer);
  if (jwksUri !== undefined) requireSecureUrl("jwtAuth: jwksUri", jwksUri);
  const keys = new IssuerKeys(options);
  const [resource = options.resource ?? ""] = options.resource === undefined ? audiences : [options.resource];
  return protect("jwtAuth", resource, [issuer], options, (token) =>
    keys.use(async (jwks) => {
      try {
        const { payload, protectedHeader } = await jwtVerify(token, jwks, {
          issuer,
          audience: audiences,
          algorithms: [...algorithms],
          clockTolerance,
          requiredClaims: ["exp"],
        });
        const { typ } = protectedHeader;
        if (tokenTypes.has(typ?.toLowerCase())) return verificationOf(issuer, clientIdOf(payload), payload);
        return { kind: "invalid", reason: `its type is ${typ}, which is no access token` };
      } catch (error) {
        const reason = wrongClaim(error, issuer, audiences);
        if (reason === undefined) throw error;
        return { kind: "invalid", reason };
      }
    }),
  );
}

/** Describes a wrong `iss` or `aud` claim: the value of the token and the expected one. Undefined for any other error. */
function wrongClaim(error: unknown, issuer: string, audiences: readonly string[]): string | undefined {
  if (!(error instanceof errors.JWTClaimValidationFailed)) return undefined;
  const { claim, payload, code, message } = error;
  const wanted = claim === "iss" ? issuer : claim === "aud" ? audiences.join(" or ") : undefined;
  if (wanted === undefined) return undefined;
  const found = payload[claim] === undefined ? "" : `: it is ${excerpt([payload[claim]].flat().join(" "))}`;
  return `${code}: ${message}${found}, expected ${wanted}`;
}

function clientIdOf({ client_id, azp, appid, cid }: JWTPayload): string | undefined {
  return [client_id, azp, appid, cid].find((each) => typeof each === "string");
}

/** The verification of a valid token by its claims. Without a subject, the client acts for itself. */
export function verificationOf(issuer: string, clientId: string | undefined, claims: JWTPayload): Verification {
  const { sub = clientId, exp } = claims;
  if (sub === undefined) return { kind: "invalid", reason: "it names neither a subject nor a client" };
  return acceptedToken({
    issuer,
    subject: sub,
    ...(clientId === undefined ? {} : { clientId }),
    scopes: scopesOf(claims),
    claims,
    ...(exp === undefined ? {} : { expiresAt: exp * 1000 }),
  });
}

/** Issuers write scopes as `scope` (RFC 9068) or as `scp` (Entra, Okta), as one string or as an array. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): readonly string[] {
  return [scope, scp].flat().flatMap((each) => (typeof each === "string" ? each.split(" ").filter(Boolean) : []));
}

/** The keys of one issuer. Found and fetched at the first token; after a failure, not again for a while. */
class IssuerKeys {
  readonly #options: JwtAuthOptions;
  #jwksUri: string | undefined;
  #jwks: Promise<RemoteJWKSet> | undefined;
  #wereFetched = false;
  #failure: { readonly at: number; readonly reason: string } | undefined;

  constructor(options: JwtAuthOptions) {
    this.#options = options;
    this.#jwksUri = options.jwksUri;
  }

  /**
   * Verifies with the keys. A failure to get them is not the fault of the token: `unavailable` while they were there before; an error
   * if they never were, because then the configuration is probably wrong.
   */
  async use(verify: (keys: RemoteJWKSet) => Promise<Verification>): Promise<Verification> {
    try {
      this.#jwks ??= this.#open();
      return await verify(await this.#jwks);
    } catch (error) {
      if (error instanceof KeysUnavailable) {
        if (this.#wereFetched) return { kind: "unavailable", reason: error.message };
        throw error;
      }
      if (error instanceof errors.JOSEError) return { kind: "invalid", reason: `${error.code}: ${error.message}` };
      throw error;
    }
  }

  async #open(): Promise<RemoteJWKSet> {
    const { issuer, fetch: send } = this.#options;
    try {
      this.#jwksUri ??= await this.#fetching(async () => jwksUriOf(await discover(issuer, send)));
      return createRemoteJWKSet(new URL(this.#jwksUri), {
        cacheMaxAge: keysTtl,
        cooldownDuration: keysCooldown,
        [customFetch]: (url, init) => this.#fetching(() => keysAt(url, init, send)),
      });
    } catch (error) {
      this.#jwks = undefined;
      throw error;
    }
  }

  /** @throws KeysUnavailable, also without trying, for a while after a failure: tokens of strangers must not cause requests */
  async #fetching<Result>(run: () => Promise<Result>): Promise<Result> {
    const failure = this.#failure;
    if (failure !== undefined && Date.now() - failure.at < keysCooldown) throw new KeysUnavailable(failure.reason);
    try {
      const result = await run();
      this.#failure = undefined;
      if (result instanceof Response) this.#wereFetched = true;
      return result;
    } catch (error) {
      const reason = `the keys of ${this.#options.issuer} could not be fetched: ${causeText(error)}`;
      this.#failure = { at: Date.now(), reason };
      throw new KeysUnavailable(reason, { cause: error });
    }
  }
}

/** The public keys cannot be had. */
class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

async function keysAt(url: string, init: RequestInit, send: OwnFetch | undefined): Promise<Response> {
  const response = await boundedFetch(url, init, send);
  if (response.status !== 200) throw new Error(`${url} responds with ${response.status}`);
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  if (!isObject(body) || !Array.isArray(body.keys)) throw new Error(`${url} is not a JSON Web Key Set`);
  return new Response(text, { status: 200, headers: response.headers });
}

function jwksUriOf({ issuer, jwks_uri }: { readonly issuer: string; readonly jwks_uri?: string }): string {
  if (jwks_uri === undefined) throw new Error(`the metadata of ${issuer} has no jwks_uri: give jwtAuth a jwksUri`);
  const url = requireSecureUrl(`the jwks_uri of ${issuer}`, jwks_uri);
  if (isThisMachine(url) && !isThisMachine(new URL(issuer)))
    throw new Error(`the jwks_uri of ${issuer} is on this machine: ${jwks_uri}`);
  return jwks_uri;
}
