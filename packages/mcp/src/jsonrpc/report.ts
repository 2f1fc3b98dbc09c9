import type { Refusal } from "../base/frame.js";
import type { Problem } from "./check.js";
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
  /** A notification that was dropped because too much is running and waiting. */
  | { readonly kind: "dropped"; readonly method: string }
  /** A handler, a mapper or a listener failed; the peer was told *Internal error* at most. */
  | { readonly kind: "fault"; readonly method: string; readonly error: unknown };

export type Reporter = (report: Report) => void;

/** A report in one sentence, bounded in length, for messages and logs. */
export function describeReport(report: Report): string {
  switch (report.kind) {
    case "invalid":
      return `received ${excerpt(report.frame)}: ${report.problem.reason}`;
    case "refused":
      return `received ${excerpt(report.refusal.head)}: ${report.refusal.message}`;
    case "unmatched":
      return describeUnmatched(report.response);
    case "unknown-cancel":
      return `received a cancellation of ${report.id === undefined ? "no request" : `request ${String(report.id)}, which is not in flight`}`;
    case "dropped":
      return `dropped the notification ${excerpt(report.method)}: too many requests are running`;
    case "fault":
      return `${excerpt(report.method)} failed: ${report.error instanceof Error ? (report.error.stack ?? report.error.message) : String(report.error)}`;
  }
}

function describeUnmatched(response: RpcResponse): string {
  const id =
    response.id === undefined || response.id === null ? "without an id" : `to id ${JSON.stringify(response.id)}`;
  if ("error" in response) return `received an error ${id}: ${response.error.code} ${excerpt(response.error.message)}`;
  return `received a result ${id}, which no call waits for`;
}

const excerptLength = 120;

/** A peer's text in quotes, cut, with control characters escaped so that it cannot move a terminal's cursor. */
export function excerpt(text: string): string {
  const cut = text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text;
  return JSON.stringify(cut).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, visible);
}

function visible(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
