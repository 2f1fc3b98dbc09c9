import { isObject } from "../base/json.js";
import { codes, RpcError } from "../jsonrpc/errors.js";
import { catalogueCodes } from "../protocol/errors.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import type { Operation } from "./servable.js";

/** Whose codes a server sends: the specification's, or those that tutorials teach, where they can do least harm. */
export type ErrorCodes = "specification" | "catalogue";

/** The codes for what a server does not have, which the two vocabularies number differently. */
export type MissingCodes = Readonly<Record<"tool" | "prompt" | "resource" | "invalidUri", number>>;

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

/** The codes of the specification for those of the catalogue that handlers throw. */
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

/** A call whose error may have another code. */
interface CodedCall {
  readonly method: string;
  readonly operation: Operation;
}

/** In the handshake era the catalogue has −32002 for a tool that says in its result that it has failed. */
export function failedTool({ method, operation }: CodedCall, result: unknown): RpcError | undefined {
  if (method !== methods.callTool || !speaksCatalogue("catalogue", operation.revision)) return undefined;
  if (!isObject(result) || result.isError !== true) return undefined;
  const blocks: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
  const text = blocks.find((block) => isObject(block) && block.type === "text") as { text: string } | undefined;
  return new RpcError(catalogueCodes.toolExecutionFailed, text?.text ?? "Tool execution failed");
}

/** Whether an error of the catalogue is a result of the tool to the specification, which the stateless era speaks. */
export function isFailedTool({ method, operation }: CodedCall, error: unknown): error is RpcError {
  if (!(error instanceof RpcError) || speaksCatalogue("catalogue", operation.revision)) return false;
  return method === methods.callTool && failures.has(error.code);
}

/** In the stateless era, an error of the catalogue with the code that the specification has for it. */
export function specified({ operation: { revision } }: CodedCall, error: unknown): unknown {
  if (!(error instanceof RpcError) || speaksCatalogue("catalogue", revision)) return error;
  const code = specifiedCode(error.code, revision);
  return code === undefined ? error : new RpcError(code, error.message, error.data, { cause: error });
}
