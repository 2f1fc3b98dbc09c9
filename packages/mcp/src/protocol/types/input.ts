import type { ElicitParams, ElicitResult } from "./elicitation.js";
import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";
import type { ListRootsResult } from "./roots.js";
import type { CreateMessageParams, CreateMessageResult } from "./sampling.js";

/**
 * A request for input from the client, made while a call runs.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/mrtr
 */
export type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: ElicitParams }
  | { readonly method: "sampling/createMessage"; readonly params: CreateMessageParams }
  | { readonly method: "roots/list"; readonly params?: RequestParams };

/** The response to an input request. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** A result that requests input. The client repeats the call with the responses and with `requestState` unchanged. */
export interface InputRequiredResult extends Result {
  readonly resultType: "input_required";
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}
