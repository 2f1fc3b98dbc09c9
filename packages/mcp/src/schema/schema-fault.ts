/** One fault in a value: its place as a JSON pointer (RFC 6901), and a message. */
export interface SchemaFault {
  /** A JSON pointer to the place in the value; empty for the value itself. */
  readonly path: string;
  /** The fault, in one sentence. */
  readonly message: string;
}

/** The result of a check: the value after validation, or its faults. */
export type Checked<T> =
  | {
      readonly ok: true;
      /** The valid value, with defaults filled in. */
      readonly value: T;
    }
  | {
      readonly ok: false;
      /** The fault of the value. */
      readonly errors: readonly SchemaFault[];
    };

/** Replaces the faults over the limit, so that a response is not many times longer than its request. */
export function moreFaults(most: number): SchemaFault {
  return { path: "", message: `expected no faults, got more than ${most}` };
}
