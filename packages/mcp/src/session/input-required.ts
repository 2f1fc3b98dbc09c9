import { isObject, type JsonObject } from "../base/json.js";
import { LocalError } from "../jsonrpc/errors.js";
import { methods } from "../protocol/methods.js";

/** The methods whose result may request input. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr */
export const mayAskForInput: ReadonlySet<string> = new Set([methods.callTool, methods.getPrompt, methods.readResource]);

/** Maximum rounds of one call, on either side: more than a user answers, and few enough to stop a loop early. */
export const maxRounds = 10;

/** One input request inside a result. */
export interface OpenInputRequest {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The input requests of a result. */
export interface RequiredInput {
  readonly questions: readonly OpenInputRequest[];
  /** Opaque: it is returned unchanged, and only with this call. */
  readonly requestState: string | undefined;
}

/** Maximum input requests of one result; a user answers them. */
const maxQuestions = 100;

/** Whether a result requests input. */
export function asksForInput({ resultType }: JsonObject): boolean {
  return resultType === "input_required";
}

/** @throws LocalError `protocol` for a result without input requests, or with invalid ones */
export function readRequiredInput(method: string, { inputRequests, requestState }: JsonObject): RequiredInput {
  if (inputRequests === undefined && requestState === undefined) {
    throw invalid(method, "it has neither inputRequests nor requestState");
  }
  if (requestState !== undefined && typeof requestState !== "string") {
    throw invalid(method, "requestState is not a string");
  }
  return { questions: readQuestions(method, inputRequests), requestState };
}

function readQuestions(method: string, requests: unknown = {}): readonly OpenInputRequest[] {
  if (!isObject(requests)) throw invalid(method, "inputRequests is not an object");
  const entries = Object.entries(requests);
  if (entries.length > maxQuestions) throw invalid(method, `it has more than ${maxQuestions} inputRequests`);
  return entries.map(([key, request]) => {
    if (!isObject(request) || typeof request.method !== "string") {
      throw invalid(method, "one of inputRequests names no method");
    }
    const { params = {} } = request;
    if (!isObject(params)) throw invalid(method, "the params of one of inputRequests are not an object");
    return { key, method: request.method, params };
  });
}

function invalid(method: string, what: string): LocalError {
  return new LocalError("protocol", `${method}: the server's request for input is invalid: ${what}`);
}
