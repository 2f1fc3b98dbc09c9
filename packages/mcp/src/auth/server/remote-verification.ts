import { base64url } from "jose";
import type { Verification } from "../resource-server.js";

/** The most tokens that are remembered. The oldest are forgotten first. */
const maxRemembered = 10_000;

/**
 * The most verifications at a time. Every request with an unknown token causes one, so without a limit strangers could make this server
 * flood the authorization server. Beyond it, requests get 503 before their body is read.
 */
const maxConcurrent = 64;

/** A verification and the time until which it holds. */
interface Remembered {
  readonly verification: Promise<Verification>;
  /** Milliseconds since 1970; undefined while the verification runs. */
  until: number | undefined;
}

/**
 * Verifies tokens with requests to an authorization server: few at a time, one for requests with the same token that come together, and
 * valid tokens not again for a while. Tokens are kept as hashes.
 */
export class RemoteVerification {
  readonly #verify: (token: string) => Promise<Verification>;
  readonly #ttl: number;
  readonly #remembered = new Map<string, Remembered>();
  #running = 0;

  /** @param ttl milliseconds that a valid token is not verified again, at most until it expires */
  constructor(ttl: number, verify: (token: string) => Promise<Verification>) {
    this.#ttl = ttl;
    this.#verify = verify;
  }

  /**
   * Rejects as the function that verifies does.
   * @param included the scopes of the identity, with those that they include
   */
  async verify(token: string, included: (scopes: readonly string[]) => readonly string[]): Promise<Verification> {
    const verified = await this.#cached(token);
    if (verified.kind !== "identity") return verified;
    const { identity } = verified;
    return { kind: "identity", identity: { ...identity, scopes: included(identity.scopes ?? []) } };
  }

  async #cached(token: string): Promise<Verification> {
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
    const key = base64url.encode(new Uint8Array(hash));
    const known = this.#remembered.get(key);
    if (known !== undefined && (known.until === undefined || Date.now() < known.until)) return known.verification;
    this.#remembered.delete(key);
    if (this.#running >= maxConcurrent) {
      return { kind: "unavailable", reason: `${maxConcurrent} tokens are being verified` };
    }
    const begun: Remembered = { verification: this.#verify(token), until: undefined };
    this.#remembered.set(key, begun);
    this.#running += 1;
    let until = 0;
    try {
      const verification = await begun.verification;
      if (verification.kind === "identity") {
        until = Math.min(Date.now() + this.#ttl, verification.identity.expiresAt ?? Number.POSITIVE_INFINITY);
      }
      return verification;
    } finally {
      this.#running -= 1;
      begun.until = until;
      // A token that is not valid now may become so, and takes no room.
      if (until <= Date.now()) this.#remembered.delete(key);
      const [oldest] = this.#remembered.keys();
      if (oldest !== undefined && this.#remembered.size > maxRemembered) this.#remembered.delete(oldest);
    }
  }
}
