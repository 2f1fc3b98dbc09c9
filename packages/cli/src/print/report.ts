import { junitOf, type Report, sarifOf } from "@parlance/mcp/wire";
import { packageVersion } from "../package-version.js";
import type { Output } from "../terminal.js";
import { escapeHidden, jsonLine } from "./json-lines.js";
import { reportValue } from "./report-json.js";
import { reportLines } from "./report-text.js";

/** How a report can be printed. */
export const reportFormats = ["text", "json", "junit", "sarif"] as const;

/** One of them. */
export type ReportFormat = (typeof reportFormats)[number];

/** Prints a report. `uri` is the address of what was judged. */
export function printReport(report: Report, format: ReportFormat, uri: string, out: Output): void {
  out.print(...printers[format](report, out, uri));
}

const printers: Readonly<Record<ReportFormat, (report: Report, out: Output, uri: string) => readonly string[]>> = {
  text: (report, out) => reportLines(report, out),
  json: (report) => [jsonLine(reportValue(report))],
  junit: (report) => [junitOf(report).trimEnd()],
  sarif: (report, _out, uri) => {
    const tool = { name: "parlance", version: packageVersion() };
    return [escapeHidden(JSON.stringify(sarifOf(report, { uri, tool }), undefined, 2))];
  },
};
