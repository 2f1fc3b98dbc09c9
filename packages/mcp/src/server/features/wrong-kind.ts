import { kindOf } from "../../base/json.js";
import type { ParamsFault } from "../../jsonrpc/errors.js";

/** The fault of a member of params that is of the wrong kind. */
export function wrongKind(path: string, expected: string, value: unknown): ParamsFault {
  return { path, message: `must be ${expected}, got ${kindOf(value)}` };
}
