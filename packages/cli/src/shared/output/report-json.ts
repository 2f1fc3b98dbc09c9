import type { Report } from "@parlance/wire";
import { pendingValue, verdictValue } from "../recordings/recorded-json.js";

/** A report for a program. */
export function reportValue(report: Report): object {
  const { source, passed, failedFor, tally, verdicts, pending, crashes, gaps, damages, expectations } = report;
  return {
    source,
    passed,
    failedFor,
    ...tally,
    verdicts: verdicts.map(({ verdict, line }) => ({ line, ...verdictValue(verdict) })),
    pending: pending.map((each) => ({ line: each.line, ...pendingValue(each.pending) })),
    crashes: crashes.map(({ crash: { n, session, how, during }, line }) => {
      return { line, n, session, how, during: during.map(({ request }) => request.frame.n) };
    }),
    gaps: gaps.map(({ gap: { t, from, to, lost, why }, line }) => ({ line, at: t, from, to, lost, why })),
    damages,
    expectations: expectations.map(({ expectation: { text }, holds, found }) => ({ text, holds, found })),
  };
}
