import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWTPayload, jwtVerify } from "jose";
import { isObject } from "../../base/json.js";
import { digest } from "../authorization-server/keys.js";
import type { DpopSupport, TokenRequest, Verification } from "../resource-server.js";

/** Why a request is not served although its token is valid. */
type Refusal = Extract<Verification, { readonly kind: "invalid" }>;

/** Only asymmetric algorithms: the client sends the key along with the signature. */
export const proofAlgorithms: readonly string[] = [
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
];

/** Seconds that a proof may be used, and seconds by which the clocks of a client and of this server may differ. */
const proofTtl = 60;
const clockTolerance = 30;

/** Milliseconds after which a nonce is replaced; it is accepted for as long again. */
const nonceTtl = 150_000;

/**
 * The most proofs that are remembered. Beyond it the oldest are forgotten first: refusing instead would let one client with a valid
 * token shut out all others. 100,000 proofs are 800 requests per second with DPoP.
 */
const maxRemembered = 100_000;

/** Longer identifiers are refused, since they are kept. */
const maxJtiLength = 256;

/**
 * Verifies that the client of a token has the private key which the token is bound to (RFC 9449). A copied token is then worth nothing,
 * and a copied proof can be used once at most, for one method, within its time.
 */
export class DpopProofs {
  readonly #resource: string;
  readonly #support: DpopSupport;
  /** Proofs that were used, by key and identifier, with the time at which they have expired; in the order of their use. */
  readonly #used = new Map<string, number>();
  #nonce = { value: "", previous: "", since: Number.NEGATIVE_INFINITY };

  constructor(resource: string, support: DpopSupport) {
    const { origin, pathname } = new URL(resource);
    this.#resource = origin + pathname;
    this.#support = support;
  }

  /**
   * The reason to refuse a request with a valid token; undefined if it may be served.
   *
   * @param confirmation the claim `cnf` of the token, which names its key (RFC 7800)
   */
  async refusal(token: string, confirmation: unknown, request: TokenRequest): Promise<Refusal | undefined> {
    const isProved = request.scheme === "DPoP";
    if (confirmation === undefined) {
      if (isProved) return invalid("it comes with a DPoP proof, but is not bound to a key (cnf)");
      return this.#support.isRequired ? invalid("it is not bound to a key, which this server requires") : undefined;
    }
    const jkt = isObject(confirmation) && Object.keys(confirmation).length === 1 ? confirmation.jkt : undefined;
    if (typeof jkt !== "string") return invalid("it is bound to a key (cnf) in a way that this server does not verify");
    if (!isProved) return invalid("it is bound to a key (cnf), but comes without a DPoP proof");
    try {
      return await this.#check(request.header("dpop") ?? "", token, jkt, request.method);
    } catch (error) {
      // Every fault of a proof is the client's: an error of the key import is not an error of this server.
      const code = error instanceof errors.JOSEError ? error.code : "not a proof";
      return badProof(`${code}: ${error instanceof Error ? error.message : ""}`);
    }
  }

  /** https://www.rfc-editor.org/rfc/rfc9449#section-4.3 */
  async #check(proof: string, token: string, jkt: string, method: string): Promise<Refusal | undefined> {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: [...proofAlgorithms],
      requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
      maxTokenAge: proofTtl,
      clockTolerance,
    });
    const { jti, htm, htu, ath, iat = 0 } = payload;
    if (typeof jti !== "string" || jti.length > maxJtiLength) return badProof("its jti is no short string");
    if (htm !== method) return badProof(`its htm is ${JSON.stringify(htm)}`);
    if (withoutQuery(htu) !== this.#resource)
      return badProof(`its htu is ${JSON.stringify(htu)}, not ${this.#resource}`);
    if (ath !== (await digest(token))) return badProof("its ath is the hash of another token");
    const { jwk } = protectedHeader;
    if (jwk === undefined || (await calculateJwkThumbprint(jwk)) !== jkt) {
      return badProof("its key is not the one that the token is bound to");
    }
    const withoutNonce = this.#nonceRefusal(payload);
    if (withoutNonce !== undefined) return withoutNonce;
    // Last, and without waiting after it: of two requests with one proof, exactly one is served.
    return this.#use(JSON.stringify([jkt, jti]), (iat + proofTtl + clockTolerance) * 1000)
      ? undefined
      : badProof("it was used before (jti)");
  }

  #nonceRefusal({ nonce }: JWTPayload): Refusal | undefined {
    if (!this.#support.requiresNonce) return undefined;
    const now = Date.now();
    if (now - this.#nonce.since >= nonceTtl) {
      const isRecent = now - this.#nonce.since < 2 * nonceTtl;
      this.#nonce = { value: crypto.randomUUID(), previous: isRecent ? this.#nonce.value : "", since: now };
    }
    const { value, previous } = this.#nonce;
    if (nonce === value || (nonce === previous && previous !== "")) return undefined;
    return { kind: "invalid", reason: "its proof has no nonce of this server", error: "use_dpop_nonce", nonce: value };
  }

  /** Whether a proof is used for the first time. */
  #use(proof: string, expiresAt: number): boolean {
    if (this.#used.has(proof)) return false;
    const now = Date.now();
    for (const [each, expiry] of this.#used) {
      if (expiry > now && this.#used.size < maxRemembered) break;
      this.#used.delete(each);
    }
    this.#used.set(proof, expiresAt);
    return true;
  }
}

function invalid(reason: string): Refusal {
  return { kind: "invalid", reason };
}

function badProof(reason: string): Refusal {
  return { kind: "invalid", reason: `its DPoP proof is refused: ${reason}`, error: "invalid_dpop_proof" };
}

/** Proofs name a URL without query and fragment. */
function withoutQuery(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
