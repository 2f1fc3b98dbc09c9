import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";

/** The prompt or resource template that an argument belongs to. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string; readonly title?: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** Params of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  readonly ref: CompletionReference;
  /** The argument's name, and the text typed so far. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that already have values. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  readonly completion: {
    /** At most 100, best first. */
    readonly values: readonly string[];
    readonly total?: number;
    readonly hasMore?: boolean;
  };
}
