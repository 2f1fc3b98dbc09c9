import type { Id } from "../jsonrpc/message.js";
import type { JsonObject } from "./json.js";

/** Params of `notifications/cancelled`. */
export interface CancelledParams {
  /** A request of the same direction that is believed to be in flight. */
  readonly requestId: Exclude<Id, null>;
  readonly reason?: string;
  readonly _meta?: JsonObject;
}
