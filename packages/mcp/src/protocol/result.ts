import type { Implementation } from "./implementation.js";

/** The `_meta` of a result; open to keys of extensions. */
export interface ResultMeta {
  readonly "io.modelcontextprotocol/serverInfo"?: Implementation;
  readonly [key: string]: unknown;
}

/**
 * What every result may carry.
 * https://modelcontextprotocol.io/specification/latest/schema#result
 */
export interface Result {
  /**
   * `"complete"`, `"input_required"`, or a word of an extension. Absent means complete: whoever puts the result on the
   * wire of the stateless era adds it.
   */
  readonly resultType?: string;
  readonly _meta?: ResultMeta;
}

/**
 * How long, and for whom, a result may be kept. The wire of the stateless era always has both.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** Milliseconds for which the result is fresh. */
  readonly ttlMs?: number;
  /** `"public"`: the same for every caller. `"private"`: for the authorization that it was asked with. */
  readonly cacheScope?: "public" | "private";
}

/** A page of a list. */
export interface PaginatedResult extends CacheableResult {
  /** Opaque; absent on the last page. */
  readonly nextCursor?: string;
}
