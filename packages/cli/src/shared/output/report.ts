import { type CheckReport, junitOf, sarifOf } from "@parlance/wire";
import { packageVersion } from "../package-version.js";
import { pendingValue, verdictValue } from "../recordings/recorded-json.js";
import { jsonLine, prettyJson } from "./json-lines.js";
import { reportLines } from "./report-text.js";
import type { Output } from "./terminal.js";

/** The formats of a report. */
export const reportFormats = ["text", "json", "junit", "sarif"] as const;

/** A format of a report. */
export type ReportFormat = (typeof reportFormats)[number];

/** A report and its output. */
export interface ReportPrint {
  readonly report: CheckReport;
  /** The URI of the recording, for links to its lines. */
  readonly uri: string;
  readonly out: Output;
  /** Redacts the output. Default: no redaction. */
  readonly cover?: (line: string) => string;
}

/** Prints a report. */
export function printReport(format: ReportFormat, print: ReportPrint): void {
  const { out, cover = (line) => line } = print;
  out.print(...printers[format](print).map(cover));
}

const printers: Readonly<Record<ReportFormat, (print: ReportPrint) => readonly string[]>> = {
  text: ({ report, out }) => reportLines(report, out),
  json: ({ report }) => [jsonLine(reportValue(report))],
  junit: ({ report }) => [junitOf(report).trimEnd()],
  sarif: ({ report, uri }) => [sarifText(report, uri)],
};

/** A report as SARIF. @param uri the URI of the recording */
export function sarifText(report: CheckReport, uri: string): string {
  return prettyJson(sarifOf(report, { uri, tool: { name: "parlance", version: packageVersion } }));
}

/** A report as JSON. */
export function reportValue(report: CheckReport): object {
  const { source, passed, failedFor, tally, verdicts, pending, crashes, gaps, damages, expectations } = report;
  return {
    source,
    passed,
    failedFor,
    ...tally,
    verdicts: verdicts.map(({ verdict, about, line }) => ({ line, about, ...verdictValue(verdict) })),
    pending: pending.map((each) => ({ line: each.line, ...pendingValue(each.pending) })),
    crashes: crashes.map(({ crash: { n, session, how, during }, line }) => {
      return { line, n, session, how, during: during.map(({ request }) => request.frame.n) };
    }),
    gaps: gaps.map(({ gap: { t, from, to, lost, why }, line }) => ({ line, at: t, from, to, lost, why })),
    damages,
    expectations: expectations.map(({ expectation: { text }, holds, found }) => ({ text, holds, found })),
  };
}
