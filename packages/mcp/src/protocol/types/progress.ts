import type { JsonObject } from "../../base/json.js";
import { ExactNumber } from "../../jsonrpc/message.js";

/** Chosen by the caller, and unique among its running requests. */
export type ProgressToken = string | number;

/** Narrows to a progress token. Rejects integers beyond the safe range, which cannot be echoed exactly. */
export function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === "string" || Number.isSafeInteger(value) || value instanceof ExactNumber;
}

/** Params of `notifications/progress`. */
export interface ProgressParams {
  /** The token in the `_meta` of the request. */
  readonly progressToken: ProgressToken;
  /** Increases with every notification, even if the total is unknown. */
  readonly progress: number;
  /** The value of `progress` at the end, if known. */
  readonly total?: number;
  /** A description of the progress, for people. */
  readonly message?: string;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}
