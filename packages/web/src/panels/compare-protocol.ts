/** One place at which two values differ, as JSON, possibly truncated; undefined for a missing value. */
export interface PageDifference {
  readonly pointer: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A message of one of two recordings; see `ComparedItem` of `@parlance/wire`. */
export interface PageComparedItem {
  /** The number of its frame. */
  readonly n: number;
  readonly from: "client" | "server";
  /** The method, target and arguments; for noise, the text. */
  readonly what: string;
  readonly status: string | undefined;
  readonly rules: readonly string[];
}

/** A message that only one recording has, or that differs. */
export interface PageItemChange {
  readonly before: PageComparedItem | undefined;
  readonly after: PageComparedItem | undefined;
  readonly differences: readonly PageDifference[];
  /** Whether the status or the broken rules differ. */
  readonly outcome: boolean;
}

/** The differences between the open recording and another one; see `Comparison` of `@parlance/wire`. Long lists are truncated. */
export interface PageComparison {
  /** The names of the other recording and of the open one. */
  readonly before: string;
  readonly after: string;
  readonly equal: boolean;
  /** The number of messages that are equal in both. */
  readonly same: number;
  readonly contract: readonly PageDifference[];
  readonly definitions: readonly {
    readonly list: string;
    readonly unchanged: number;
    readonly changes: readonly {
      readonly name: string;
      readonly is: "added" | "removed" | "changed";
      readonly differences: readonly PageDifference[];
    }[];
  }[];
  readonly items: readonly PageItemChange[];
  /** The number of all items. */
  readonly itemCount: number;
  readonly latencies: readonly {
    readonly what: string;
    /** The number of the request in the open recording. */
    readonly n: number;
    /** The latency in milliseconds. */
    readonly before: number;
    readonly after: number;
  }[];
}

/** The methods that compare recordings. */
export interface CompareMethods {
  /** Compares another recording with the open one. Without a name, it is the one on the command line; null if that has none. */
  compare(params: { readonly recording?: string }): PageComparison | null;
}
