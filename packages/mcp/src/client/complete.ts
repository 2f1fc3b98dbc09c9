import type { OpenedCall } from "../lifecycle/opened.js";
import type { CompleteResult, CompletionReference } from "../protocol/completion.js";
import { isObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

/** What can be set about a completion. */
export interface CompleteOptions extends VerbOptions {
  /** The arguments that are settled already. Revisions that cannot say so leave them out. */
  readonly settled?: Readonly<Record<string, string>>;
}

/** What an argument may be completed to, best first. */
export type Completion = CompleteResult["completion"];

/** Asks what an argument may be. @throws LocalError `protocol` for an answer that holds no values */
export async function complete(
  call: OpenedCall,
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
  throw invalidAnswer(methods.complete, "completion.values is not an array of strings");
}
