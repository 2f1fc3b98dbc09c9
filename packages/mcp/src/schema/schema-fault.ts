/** One thing that is wrong with a value: where (a JSON pointer, RFC 6901) and what. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

/** What checking a value gives: the value as the schema gives it out, or everything that is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly SchemaFault[] };

/** Stands for the faults that are left out: an answer shall not be many times longer than what it answers. */
export function moreFaults(most: number): SchemaFault {
  return { path: "", message: `expected no faults, got more than ${most}` };
}
