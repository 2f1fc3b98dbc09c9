import type { Id } from "../../jsonrpc/message.js";
import type { JsonObject } from "../json.js";

/** Params of `notifications/cancelled`. */
export interface CancelledParams {
  /** The id of a request that the sender of this notification sent, and that it believes is still running. */
  readonly requestId: Exclude<Id, null>;
  readonly reason?: string;
  readonly _meta?: JsonObject;
}
