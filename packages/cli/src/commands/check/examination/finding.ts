/** What came of a probe. */
export type Finding =
  | { readonly is: "passed" }
  | {
      readonly is: "failed";
      /** What was seen instead, in one sentence. */
      readonly says: string;
      /** Why that does not break the sentence of the probe, so that it is a note. */
      readonly doubt?: string;
    }
  /** There was nothing to ask, or no way to. */
  | { readonly is: "skipped"; readonly why: string };

/** It is as it should be. */
export const passed: Finding = { is: "passed" };

/** @param says what was seen instead; safe to print */
export function failed(says: string): Finding {
  return { is: "failed", says };
}

/** The same finding as a note. @param doubt why it does not break the sentence of the probe */
export function asNote(finding: Finding, doubt: string): Finding {
  return finding.is === "failed" ? { ...finding, doubt } : finding;
}

/** @param why there is nothing to ask, or no way to */
export function skipped(why: string): Finding {
  return { is: "skipped", why };
}
