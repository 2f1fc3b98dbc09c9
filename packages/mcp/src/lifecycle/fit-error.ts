import { RpcError } from "../jsonrpc/errors.js";
import { specCodes } from "../protocol/errors.js";
import type { Revision } from "../revisions/revision.js";

/** Codes that only the specification may give a meaning. */
function isReserved(code: number): boolean {
  return (code >= -32_099 && code <= -32_020) || code === specCodes.resourceNotFound;
}

/**
 * An error as a revision has it. The codes that belong to the specification go out only where it has them: a resource
 * that is not found has another one, and the rest is a bug of whoever throws it.
 * https://modelcontextprotocol.io/specification/latest/basic#error-codes
 */
export function fitError(error: unknown, { codes, version }: Revision): unknown {
  if (!(error instanceof RpcError) || !isReserved(error.code)) return error;
  const { code, message, data } = error;
  if (Object.values(codes).includes(code)) return error;
  if (code === specCodes.resourceNotFound) return new RpcError(codes.resourceNotFound, message, data, { cause: error });
  return new Error(`revision ${version} has no error ${code}`, { cause: error });
}
