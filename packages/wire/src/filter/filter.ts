/** How a field is compared. `:` takes globs and ranges, `=` takes a value as it is. */
export type Operator = ":" | "=" | "!=" | ">" | "<" | ">=" | "<=" | "has";

/** A value as it is written: `7` is not `"7"`. */
export interface Written {
  readonly text: string;
  readonly quoted: boolean;
}

/** A regular expression as it is written: `/crash/i`. */
export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** A filter as a tree. */
export type Filter =
  /** An empty text. */
  | { readonly is: "everything" }
  | { readonly is: "and" | "or"; readonly of: readonly Filter[] }
  | { readonly is: "not"; readonly of: Filter }
  /** The text occurs somewhere in what crossed, ignoring case. */
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "pattern"; readonly pattern: Pattern }
  /** `field` is a name, `header.name`, or a JSON pointer. */
  | { readonly is: "field"; readonly field: string; readonly op: Operator; readonly value: Written }
  | { readonly is: "field"; readonly field: string; readonly op: "~"; readonly value: Pattern }
  /** The frame with this number, and its request or response. */
  | { readonly is: "pair"; readonly n: number }
  /** All messages of the requests with this id. */
  | { readonly is: "call"; readonly id: Written }
  /** A named filter, which the parser has resolved. */
  | { readonly is: "saved"; readonly name: string; readonly filter: Filter };

/** Why a text is not a filter. */
export interface FilterFault {
  /** Where: an index into the text, or its length. */
  readonly at: number;
  /** What was found there and what was expected. Safe to print. */
  readonly says: string;
}

/** A filter, or why the text is not one. */
export type ParsedFilter =
  | { readonly ok: true; readonly filter: Filter }
  | { readonly ok: false; readonly fault: FilterFault };
