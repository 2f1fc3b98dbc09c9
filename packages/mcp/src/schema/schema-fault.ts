/** One fault in a value: its place as a JSON pointer (RFC 6901), and a message. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

/** The result of a check: the value after validation, or its faults. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly SchemaFault[] };

/** Replaces the faults over the limit, so that a response is not many times longer than its request. */
export function moreFaults(most: number): SchemaFault {
  return { path: "", message: `expected no faults, got more than ${most}` };
}
