import type { MembersOf } from "../../base/check-members.js";
import type { CacheableResult } from "../../protocol/types/result.js";

/**
 * How long a client may cache a result, and for whom. Sent only in the stateless era.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export interface CacheHints {
  /** Milliseconds. Default: 0, not at all. */
  readonly ttlMs?: number;
  /** `"public"`: it is the same for everybody. Never a means of access control. Default: `"private"`. */
  readonly cacheScope?: NonNullable<CacheableResult["cacheScope"]>;
}

/** The members of `CacheHints`, for the check of definitions. */
export const cacheHintMembers: MembersOf<CacheHints> = { ttlMs: ["ttl", "maxAge"], cacheScope: ["scope"] };

/**
 * The hints alone, for a result.
 * @throws RangeError for hints that the wire has no word for
 */
export function cacheHints({ ttlMs, cacheScope }: CacheHints): CacheHints {
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new RangeError(`ttlMs must be a whole number of milliseconds, got ${ttlMs}`);
  }
  if (cacheScope !== undefined && cacheScope !== "public" && cacheScope !== "private") {
    throw new RangeError(`cacheScope must be "public" or "private", got ${String(cacheScope)}`);
  }
  return { ...(ttlMs === undefined ? {} : { ttlMs }), ...(cacheScope === undefined ? {} : { cacheScope }) };
}
