import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";

/** The prompt or resource template that an argument belongs to. */
export type CompletionReference =
  | {
      readonly type: "ref/prompt";
      /** The name of the prompt. */
      readonly name: string;
      /** The name to display. */
      readonly title?: string;
    }
  | {
      readonly type: "ref/resource";
      /** The URI template of the resource. */
      readonly uri: string;
    };

/** Params of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  /** The prompt or resource template. */
  readonly ref: CompletionReference;
  /** The argument's name, and the text typed so far. */
  readonly argument: {
    /** The name of the argument. */
    readonly name: string;
    /** The text typed so far. */
    readonly value: string;
  };
  /** The arguments that already have values. */
  readonly context?: {
    /** The values, by the names of the arguments. */
    readonly arguments?: Readonly<Record<string, string>>;
  };
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  /** The suggestions. */
  readonly completion: {
    /** At most 100, best first. */
    readonly values: readonly string[];
    /** The number of all suggestions, if more exist than were sent. */
    readonly total?: number;
    /** Whether more suggestions exist than were sent. */
    readonly hasMore?: boolean;
  };
}
