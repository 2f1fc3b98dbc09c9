import { isPromise } from "../base/later.js";
import { codes, RpcError } from "../jsonrpc/errors.js";
import type { Operation, OperationCall } from "../lifecycle/served.js";
import { catalogueCodes } from "../protocol/errors.js";
import { isObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { errorResult } from "./tool-result.js";

/** Whose codes a server sends: the specification's, or those that tutorials teach, where they can do least harm. */
export type ErrorCodes = "specification" | "catalogue";

/** The codes for what a server does not have, which the two vocabularies number differently. */
export interface MissingCodes {
  readonly tool: number;
  readonly prompt: number;
  readonly resource: number;
  readonly invalidUri: number;
}

const catalogued: MissingCodes = {
  tool: catalogueCodes.toolNotFound,
  prompt: catalogueCodes.promptNotFound,
  resource: catalogueCodes.resourceNotFound,
  invalidUri: catalogueCodes.invalidResourceUri,
};

/** The catalogue never goes out in the stateless era, which keeps its range for what is old. */
export function speaksCatalogue(errorCodes: ErrorCodes, { era }: Revision): boolean {
  return errorCodes === "catalogue" && era === "handshake";
}

/** The codes for what is missing, in a revision. */
export function missingCodes(errorCodes: ErrorCodes, revision: Revision): MissingCodes {
  if (speaksCatalogue(errorCodes, revision)) return catalogued;
  const { invalidParams, resourceNotFound } = revision.codes;
  return { tool: invalidParams, prompt: invalidParams, resource: resourceNotFound, invalidUri: invalidParams };
}

/** Ours, outside the reserved range as 42900 is: the specification leaves it to HTTP to say so. */
const unauthorized = 40_100;

/** What stands in the specification for the codes of the catalogue that handlers throw. */
function specifiedCode(code: number, { codes: known }: Revision): number | undefined {
  const byCode: Readonly<Record<number, number>> = {
    [catalogueCodes.toolNotFound]: known.invalidParams,
    [catalogueCodes.toolExecutionFailed]: known.internalError,
    [catalogueCodes.resourceNotFound]: known.resourceNotFound,
    [catalogueCodes.resourceUnavailable]: known.internalError,
    [catalogueCodes.invalidResourceUri]: known.invalidParams,
    [catalogueCodes.promptNotFound]: known.invalidParams,
    [catalogueCodes.unauthorized]: unauthorized,
    [catalogueCodes.rateLimitExceeded]: codes.tooManyRequests,
  };
  return byCode[code];
}

/** The codes of the catalogue that a tool says as a result. */
const failures: ReadonlySet<number> = new Set([catalogueCodes.toolExecutionFailed, catalogueCodes.rateLimitExceeded]);

/**
 * Operations whose handlers speak the catalogue. In the handshake era that goes out: a tool that fails is −32002. In the
 * stateless one what it stands for does: −32002 is a result with `isError` again.
 */
export function inCatalogue(run: OperationCall): OperationCall {
  return (method, params, operation) => {
    const isSpoken = speaksCatalogue("catalogue", operation.revision);
    const succeed = (result: unknown): unknown => (isSpoken ? failedTool(method, result) : result);
    const fail = (error: unknown): unknown => {
      if (isSpoken) throw error;
      return specified(error, method, operation);
    };
    let result: unknown;
    try {
      result = run(method, params, operation);
    } catch (error) {
      return fail(error);
    }
    return isPromise(result) ? result.then(succeed, fail) : succeed(result);
  };
}

/** @throws RpcError −32002 for the result of a tool that says it has failed */
function failedTool(method: string, result: unknown): unknown {
  if (method !== methods.callTool || !isObject(result) || result.isError !== true) return result;
  const blocks: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
  const text = blocks.find((block) => isObject(block) && block.type === "text") as { text: string } | undefined;
  throw new RpcError(catalogueCodes.toolExecutionFailed, text?.text ?? "Tool execution failed");
}

function specified(error: unknown, method: string, { revision }: Operation): unknown {
  const code = error instanceof RpcError ? specifiedCode(error.code, revision) : undefined;
  if (!(error instanceof RpcError) || code === undefined) throw error;
  if (method === methods.callTool && failures.has(error.code)) {
    return errorResult([{ type: "text", text: error.message }]);
  }
  throw new RpcError(code, error.message, error.data, { cause: error });
}
