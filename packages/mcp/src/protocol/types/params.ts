import type { JsonObject } from "../../base/json.js";

/** Members that the params of every request may have. Each revision adds its own `_meta` keys. */
export interface RequestParams {
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Members that the params of every notification may have. */
export interface NotificationParams {
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Params of a list request. */
export interface PaginatedParams extends RequestParams {
  /** The `nextCursor` of the previous page; absent for the first page. */
  readonly cursor?: string;
}

/**
 * Params of a request that may be repeated with input responses, after an `InputRequiredResult`.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/mrtr
 */
export interface InputResponseParams extends RequestParams {
  /** Responses under the keys of `inputRequests`. They come from a peer: check each against its request. */
  readonly inputResponses?: JsonObject;
  /** Exactly as the server sent it. */
  readonly requestState?: string;
}
