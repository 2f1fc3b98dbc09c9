import { junitOf, type Report, sarifOf } from "@parlance/wire";
import { packageVersion } from "../package-version.js";
import { escapeHidden, jsonLine } from "./json-lines.js";
import { reportValue } from "./report-json.js";
import { reportLines } from "./report-text.js";
import type { Output } from "./terminal.js";

/** How a report can be printed. */
export const reportFormats = ["text", "json", "junit", "sarif"] as const;

/** One of them. */
export type ReportFormat = (typeof reportFormats)[number];

/** What is printed, and where. */
export interface ReportPrint {
  readonly report: Report;
  /** The address of what was judged, for those who open it at a line. */
  readonly uri: string;
  readonly out: Output;
  /** Covers what is secret in what is printed. Default: nothing is. */
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
  sarif({ report, uri }) {
    const tool = { name: "parlance", version: packageVersion() };
    return [escapeHidden(JSON.stringify(sarifOf(report, { uri, tool }), undefined, 2))];
  },
};
