import type { JsonObject } from "../../base/json.js";
import type { Id } from "../../jsonrpc/message.js";

/** Params of `notifications/cancelled`. */
export interface CancelledParams {
  /** The id of a request that the sender of this notification sent, and that it believes is still running. */
  readonly requestId: Exclude<Id, null>;
  /** The reason, for logs. */
  readonly reason?: string;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}
