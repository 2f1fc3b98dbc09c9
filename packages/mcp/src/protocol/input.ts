import type { ElicitParams, ElicitResult } from "./elicitation.js";
import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";
import type { ListRootsResult } from "./roots.js";
import type { CreateMessageParams, CreateMessageResult } from "./sampling.js";

/**
 * Something that a server asks its caller in the middle of a call.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/mrtr
 */
export type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: ElicitParams }
  | { readonly method: "sampling/createMessage"; readonly params: CreateMessageParams }
  | { readonly method: "roots/list"; readonly params?: RequestParams };

/** The answer to an input request. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** A result that asks: call again with the answers, and with the state exactly as it is here. */
export interface InputRequiredResult extends Result {
  readonly resultType: "input_required";
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}
