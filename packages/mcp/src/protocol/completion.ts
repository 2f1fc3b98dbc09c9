import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";

/** What an argument belongs to. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string; readonly title?: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** Params of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  readonly ref: CompletionReference;
  /** The argument, and what has been typed of it. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that are settled. */
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
