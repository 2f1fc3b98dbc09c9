import { digest } from "../authorization-server/keys.js";
import { RequestPlaces } from "../request-places.js";
import type { Verification } from "../resource-server.js";
import type { VerifyToken } from "./protected.js";

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
 *
 * @param ttl milliseconds that a valid token is not verified again, at most until it expires
 * @param verify verifies a token. The returned function, which also takes the network address of the caller, rejects as it does
 */
export function remoteVerification(ttl: number, verify: (token: string) => Promise<Verification>): VerifyToken {
  const remembered = new Map<string, Remembered>();
  const places = new RequestPlaces();
  return async (token, address) => {
    const key = await digest(token);
    const known = remembered.get(key);
    if (known !== undefined && (known.until === undefined || Date.now() < known.until)) return known.verification;
    remembered.delete(key);
    const verification = places.use(address, () => verify(token));
    if (verification === undefined)
      return {
        kind: "unavailable",
        reason: "as many tokens as may be are being verified, in all or of one address",
        isLimit: true,
      };
    const begun: Remembered = { verification, until: undefined };
    remembered.set(key, begun);
    let until = 0;
    try {
      const verified = await verification;
      if (verified.kind === "identity") {
        until = Math.min(Date.now() + ttl, verified.identity.expiresAt ?? Number.POSITIVE_INFINITY);
      }
      return verified;
    } finally {
      begun.until = until;
      // A token that is not valid now may become so, and takes no room.
      if (until <= Date.now()) remembered.delete(key);
      const [oldest] = remembered.keys();
      if (oldest !== undefined && remembered.size > maxRemembered) remembered.delete(oldest);
    }
  };
}
