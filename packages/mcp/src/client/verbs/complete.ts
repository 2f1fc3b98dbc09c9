import { isObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { CompleteResult, CompletionReference } from "../../protocol/types/completion.js";
import type { SessionCall } from "../session/client-session.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

/** Options of a completion request. */
export interface CompleteOptions extends ClientCallOptions {
  /** The arguments that are settled already. Revisions that cannot say so leave them out. */
  readonly settled?: Readonly<Record<string, string>>;
}

/** Completion values, best first. */
export type Completion = CompleteResult["completion"];

/** Asks what an argument may be. @throws LocalError `protocol` for an answer that holds no values */
export async function complete(
  call: SessionCall,
  ref: CompletionReference,
  argument: { readonly name: string; readonly value: string },
  { settled, ...options }: CompleteOptions,
): Promise<Completion> {
  const params = { ref, argument, ...(settled === undefined ? {} : { context: { arguments: settled } }) };
  const { completion } = await call(methods.complete, params, callOptions(options));
  const values = isObject(completion) ? completion.values : undefined;
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    return completion as unknown as Completion; // What a caller dereferences first is checked just above.
  }
  throw invalidResult(methods.complete, "completion.values is not an array of strings");
}
