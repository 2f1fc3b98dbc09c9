/** What came of a probe. */
export type Finding =
  | { readonly is: "passed" }
  /** What was seen instead, in one sentence. */
  | { readonly is: "failed"; readonly says: string }
  /** There was nothing to ask, or no way to. */
  | { readonly is: "skipped"; readonly why: string };

/** It is as it should be. */
export const passed: Finding = { is: "passed" };

/** @param says what was seen instead; safe to print */
export function failed(says: string): Finding {
  return { is: "failed", says };
}

/** @param why there is nothing to ask, or no way to */
export function skipped(why: string): Finding {
  return { is: "skipped", why };
}
