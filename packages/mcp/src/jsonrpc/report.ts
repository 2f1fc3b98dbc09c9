import type { Refusal } from "../base/frame.js";
import { visible } from "../base/visible.js";
import type { Problem } from "./check.js";
import { thrownText } from "./errors.js";
import type { Id, RpcResponse } from "./message.js";

/** Something a connection lived through that no caller is told of: for logs and for a person who looks for the cause. */
export type Report =
  /** A frame or an element of a batch that is not a message. */
  | { readonly kind: "invalid"; readonly problem: Problem; readonly frame: string }
  /** Bytes that did not become a frame. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** A response that no call waits for: late, duplicate, to an unknown id, or without one. */
  | { readonly kind: "unmatched"; readonly response: RpcResponse }
  /** A cancellation of a request that is not in flight. */
  | { readonly kind: "unknown-cancel"; readonly id: Id | undefined }
  /** A request to a side that answers none. */
  | { readonly kind: "unanswerable"; readonly method: string; readonly id: Id }
  /** A notification that was dropped because too much is running and waiting. */
  | { readonly kind: "dropped"; readonly method: string }
  /** An item of an answer that this side must not use, and leaves out. */
  | { readonly kind: "left-out"; readonly method: string; readonly name: string; readonly reason: string }
  /** A handler, a mapper or a listener failed; the peer was told *Internal error* at most. */
  | { readonly kind: "fault"; readonly method: string; readonly error: unknown };

export type Reporter = (report: Report) => void;

/** A report in one sentence, bounded in length, for messages and logs. */
export function describeReport(report: Report): string {
  switch (report.kind) {
    case "invalid":
      return `received ${excerpt(report.frame)}: ${describeProblem(report.problem)}`;
    case "refused":
      return `received ${excerpt(report.refusal.head)}: ${report.refusal.message}`;
    case "unmatched":
      return describeUnmatched(report.response);
    case "unknown-cancel":
      return `received a cancellation of ${report.id === undefined ? "no request" : `request ${shownId(report.id)}, which is not in flight`}`;
    case "unanswerable":
      return `received the request ${excerpt(report.method)} (id ${shownId(report.id)}), but this side answers none`;
    case "dropped":
      return `dropped the notification ${excerpt(report.method)}: too many requests are running`;
    case "left-out":
      return `left ${excerpt(report.name)} out of the answer to ${report.method}: ${visible(report.reason.slice(0, reasonLength))}`;
    case "fault":
      return `${excerpt(report.method)} failed: ${(report.error instanceof Error && report.error.stack) || thrownText(report.error)}`;
  }
}

function describeProblem({ reason, detail }: Problem): string {
  return detail === undefined ? reason : `${reason} (${visible(detail)})`;
}

function describeUnmatched(response: RpcResponse): string {
  const id = response.id === undefined || response.id === null ? "without an id" : `to id ${shownId(response.id)}`;
  if ("error" in response) return `received an error ${id}: ${response.error.code} ${excerpt(response.error.message)}`;
  return `received a result ${id}, which no call waits for`;
}

/** A peer's id: a string in quotes, a number as it was written. */
function shownId(id: Id): string {
  return typeof id === "string" ? excerpt(id) : String(id).slice(0, excerptLength);
}

const excerptLength = 120;
const reasonLength = 1_000;

/** A peer's text in quotes, cut, with hidden characters made visible. */
export function excerpt(text: string): string {
  return visible(JSON.stringify(text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text));
}
