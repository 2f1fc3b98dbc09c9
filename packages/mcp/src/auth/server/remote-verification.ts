import { digest } from "../authorization-server/keys.js";
import { RequestPlaces } from "../request-places.js";
import type { Verification } from "../resource-server.js";

/** The most tokens that are remembered. The oldest are forgotten first. */
const maxRemembered = 10_000;

/** A verification and the time until which it holds. */
interface Remembered {
  readonly verification: Promise<Verification>;
  /** Milliseconds since 1970; undefined while the verification runs. */
  until: number | undefined;
}

/**
 * Verifies tokens with requests to an authorization server: few at a time, one for requests with the same token that come together, and
 * valid tokens not again for a while. Tokens are kept as hashes. A request without a place gets 503 before its body is read.
 */
export class RemoteVerification {
  readonly #verify: (token: string) => Promise<Verification>;
  readonly #ttl: number;
  readonly #remembered = new Map<string, Remembered>();
  readonly #places = new RequestPlaces();

  /** @param ttl milliseconds that a valid token is not verified again, at most until it expires */
  constructor(ttl: number, verify: (token: string) => Promise<Verification>) {
    this.#ttl = ttl;
    this.#verify = verify;
  }

  /**
   * Rejects as the function that verifies does.
   * @param address the network address of the caller
   */
  async verify(token: string, address: string | undefined): Promise<Verification> {
    const key = await digest(token);
    const known = this.#remembered.get(key);
    if (known !== undefined && (known.until === undefined || Date.now() < known.until)) return known.verification;
    this.#remembered.delete(key);
    const verification = this.#places.use(address, () => this.#verify(token));
    if (verification === undefined)
      return {
        kind: "unavailable",
        reason: "as many tokens as may be are being verified, in all or of one address",
        isLimit: true,
      };
    const begun: Remembered = { verification, until: undefined };
    this.#remembered.set(key, begun);
    let until = 0;
    try {
      const verified = await verification;
      if (verified.kind === "identity") {
        until = Math.min(Date.now() + this.#ttl, verified.identity.expiresAt ?? Number.POSITIVE_INFINITY);
      }
      return verified;
    } finally {
      begun.until = until;
      // A token that is not valid now may become so, and takes no room.
      if (until <= Date.now()) this.#remembered.delete(key);
      const [oldest] = this.#remembered.keys();
      if (oldest !== undefined && this.#remembered.size > maxRemembered) this.#remembered.delete(oldest);
    }
  }
}
