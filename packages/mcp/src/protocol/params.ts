import type { JsonObject } from "./json.js";

/** What the params of every request may carry. The lifecycle adds its own keys to `_meta`. */
export interface RequestParams {
  readonly _meta?: JsonObject;
}

/** Params of a request for a list. */
export interface PaginatedParams extends RequestParams {
  /** The `nextCursor` of the page before; absent for the first page. */
  readonly cursor?: string;
}

/**
 * Params of a request that may be asked again with answers, after an `InputRequiredResult`.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/mrtr
 */
export interface InputResponseParams extends RequestParams {
  /** Answers by the keys of `inputRequests`. They come from a peer: check each against its question. */
  readonly inputResponses?: JsonObject;
  /** As the server gave it. */
  readonly requestState?: string;
}
