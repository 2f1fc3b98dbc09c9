import type { MembersOf } from "../../base/check-members.js";
import type { JsonObject } from "../../base/json.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { CacheableResult } from "../../protocol/types/result.js";
import type { Changes } from "../../session/change-feed.js";
import type { ErrorCodes } from "../error-codes.js";
import type { Operation } from "../servable.js";

/** Runs one method. The result has the newest shape. */
export type MethodCall = (params: JsonObject, operation: Operation) => unknown;

/** A part of a server: what it advertises, and the methods that it answers. */
export interface Feature {
  /** Undefined while there is nothing to offer: then its methods are unknown as well. */
  readonly capabilities: ServerCapabilities | undefined;
  readonly methods: ReadonlyMap<string, MethodCall>;
}

/** Settings of the server that its features share. */
export interface FeatureSettings {
  readonly lists: { readonly pageSize: number; readonly cache: CacheHints };
  /** Receives the changes of lists. */
  readonly changes: Changes;
  /** The error codes for missing definitions. */
  readonly errorCodes: ErrorCodes;
}

/**
 * How long a client may cache a result, and whether several users may share it. Sent only in the stateless era.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export interface CacheHints {
  /** Milliseconds. Default: 0, not at all. */
  readonly ttlMs?: number;
  /** `"public"`: it is the same for everybody. Never a means of access control. Default: `"private"`. */
  readonly cacheScope?: NonNullable<CacheableResult["cacheScope"]>;
}

/** The members of `CacheHints`, for the check of definitions. */
export const cacheHintMembers: MembersOf<CacheHints> = {
  ttlMs: ["number", "ttl", "maxAge"],
  cacheScope: ["string", "scope"],
};

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
