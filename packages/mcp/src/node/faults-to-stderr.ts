import { describeReport, type Report } from "../jsonrpc/report.js";

/** Where the faults of a server go that nobody else wants to hear of. */
export function faultsToStderr(report: Report): void {
  if (report.kind === "fault") process.stderr.write(`${describeReport(report)}\n`);
}
