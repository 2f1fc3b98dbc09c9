import type { Id } from "../../jsonrpc/message.js";
import type { NotificationParams } from "./params.js";

/** Params of `notifications/cancelled`. */
export interface CancelledParams extends NotificationParams {
  /** The id of a request that the sender of this notification sent, and that it believes is still running. */
  readonly requestId: Exclude<Id, null>;
  /** The reason, for logs. */
  readonly reason?: string;
}
