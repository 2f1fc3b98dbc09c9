import { ExactNumber } from "../jsonrpc/message.js";
import type { JsonObject } from "./json.js";

/** Chosen by the caller of a request, and unique among its calls in flight. */
export type ProgressToken = string | number;

/** Narrows to a progress token. An integer that cannot be echoed, because nothing holds it exactly, is none. */
export function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === "string" || Number.isSafeInteger(value) || value instanceof ExactNumber;
}

/** Params of `notifications/progress`. */
export interface ProgressParams {
  readonly progressToken: ProgressToken;
  /** Grows with every notification, even where the total is not known. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  readonly _meta?: JsonObject;
}
