/** One place at which two values differ, as JSON that may be cut; undefined where it is absent. */
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
  /** Method, target and arguments; of noise, the text. */
  readonly what: string;
  readonly status: string | undefined;
  readonly rules: readonly string[];
}

/** A message that only one recording has, or that differs. */
export interface PageItemChange {
  readonly before: PageComparedItem | undefined;
  readonly after: PageComparedItem | undefined;
  readonly differences: readonly PageDifference[];
  /** The status or the broken rules differ. */
  readonly outcome: boolean;
}

/** How the open recording differs from another one; see `Comparison` of `@parlance/wire`. Long lists have only their beginnings. */
export interface PageComparison {
  /** The name of the other one, and that of the open one. */
  readonly before: string;
  readonly after: string;
  readonly equal: boolean;
  /** Messages that are equal in both. */
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
  /** All of them. */
  readonly itemCount: number;
  readonly latencies: readonly {
    readonly what: string;
    /** The number of the request in the open recording. */
    readonly n: number;
    /** Milliseconds. */
    readonly before: number;
    readonly after: number;
  }[];
}

/** The methods that compare recordings. */
export interface CompareMethods {
  /** Compares another recording with the open one. Without a name: that of the command line; null if it named none. */
  compare(params: { readonly recording?: string }): PageComparison | null;
}
