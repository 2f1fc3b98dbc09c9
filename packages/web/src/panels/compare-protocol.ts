import type { Comparison } from "@parlance/wire";

type ComparedItem = NonNullable<Comparison["items"][number]["left"]>;

/** One place at which two values differ, as JSON, possibly truncated; undefined for a missing value. */
export interface PageDifference {
  readonly pointer: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A message of one of two recordings. */
export interface PageComparedItem extends Pick<ComparedItem, "n" | "from" | "status" | "rules"> {
  /** The method, target and arguments; for noise, the text. */
  readonly what: string;
}

/** A message that only one recording has, or that differs. */
export interface PageItemChange {
  readonly before: PageComparedItem | undefined;
  readonly after: PageComparedItem | undefined;
  readonly differences: readonly PageDifference[];
  /** Whether the status or the broken rules differ. */
  readonly outcome: boolean;
}

/** The differences between the open recording and another one. Long lists are truncated. */
export interface PageComparison extends Pick<Comparison, "equal" | "same"> {
  /** The names of the other recording and of the open one. */
  readonly before: string;
  readonly after: string;
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
