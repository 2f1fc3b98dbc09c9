import type { Implementation } from "./implementation.js";

/** The `_meta` of a result. Extensions may add keys. */
export interface ResultMeta {
  /** The name and version of the server. */
  readonly "io.modelcontextprotocol/serverInfo"?: Implementation;
  readonly [key: string]: unknown;
}

/**
 * Members that every result may have.
 * https://modelcontextprotocol.io/specification/latest/schema#result
 */
export interface Result {
  /**
   * `"complete"`, `"input_required"`, or a value of an extension. Absent means complete; encoding for a stateless
   * revision adds it.
   */
  readonly resultType?: string;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: ResultMeta;
}

/**
 * A result that may be cached. On the wire of stateless revisions, both members are present.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** How long the result is fresh, in milliseconds. */
  readonly ttlMs?: number;
  /** `"public"`: the same result for every caller. `"private"`: only for the same authorization. */
  readonly cacheScope?: "public" | "private";
}

/** One page of a list. */
export interface PaginatedResult extends CacheableResult {
  /** Opaque; absent on the last page. */
  readonly nextCursor?: string;
}
