import { escapeControls } from "../base/escape-controls.js";
import type { FrameRefusal } from "../base/framing.js";
import { isObject } from "../base/json.js";
import type { Problem } from "./codec/decode.js";
import { HookError, LocalError, RpcError, thrownText } from "./errors.js";
import type { Id, RpcResponse } from "./message.js";

/** An event of a connection that no caller sees as a result or an error, for logs and diagnosis. */
export type Report =
  /** A frame or an element of a batch that is not a message. */
  | {
      readonly kind: "invalid";
      /** The fault and its place. */
      readonly problem: Problem;
      /** The text of the frame. */
      readonly frame: string;
    }
  /** Bytes that did not become a frame. */
  | {
      readonly kind: "refused";
      /** The reason, and the first bytes. */
      readonly refusal: FrameRefusal;
    }
  /** A response that no call waits for: late, duplicate, to an unknown id, or without one. */
  | {
      readonly kind: "unmatched";
      /** The response. */
      readonly response: RpcResponse;
    }
  /** A cancellation of a request that is not in flight. */
  | {
      readonly kind: "unknown-cancel";
      /** The id in the cancellation; undefined if it has none. */
      readonly id: Id | undefined;
    }
  /** A request to a side that answers none. */
  | {
      readonly kind: "unanswerable";
      /** The method of the request. */
      readonly method: string;
      /** The id of the request. */
      readonly id: Id;
    }
  /**
   * A notification was dropped: of the peer, because too much is running and waiting; or of this side (`unread`), because too much
   * waits for a peer that does not read. That is reported once for each method, until the peer has read on.
   */
  | {
      readonly kind: "dropped";
      /** The method of the notification. */
      readonly method: string;
      readonly unread?: true;
    }
  /** The peer, or the reader of one stream, does not read: its connection, or that stream, was ended with this error. */
  | {
      readonly kind: "given-up";
      /** The error that the connection or stream ended with. */
      readonly error: Error;
    }
  /** A deviation of the peer from the protocol that does no harm: its message was taken as it is meant. */
  | {
      readonly kind: "tolerated";
      /** The method of the message. */
      readonly method: string;
      /** The deviation, in one sentence. */
      readonly reason: string;
    }
  /** An item of an answer that this side must not use, and leaves out. */
  | {
      readonly kind: "left-out";
      /** The method of the request. */
      readonly method: string;
      /** The name of the item. */
      readonly name: string;
      /** The reason, in one sentence. */
      readonly reason: string;
    }
  /** A token was refused. The client learns no more than that. */
  | {
      readonly kind: "unauthorized";
      /** The reason, for the operator. It contains no token. */
      readonly reason: string;
    }
  /** A conversation is being opened, and the peer has not answered for so many milliseconds. It is waited for on. */
  | {
      readonly kind: "slow-start";
      /** Milliseconds since the opening began. */
      readonly milliseconds: number;
    }
  /** A function of the application failed, or work without a caller; the peer was told *Internal error* at most. */
  | Fault;

/** Something failed. */
export interface Fault {
  readonly kind: "fault";
  /** The method whose handler failed, or the name of the hook or option: `onCall`, `auth`, `EventStore.append`, … */
  readonly method: string;
  /** The tool, prompt, resource or argument that the request names; undefined where it names none. */
  readonly name?: string;
  /** The thrown value. */
  readonly error: unknown;
}

/** Called with events that no caller sees as a result or an error. It must not throw. */
export type Reporter = (report: Report) => void;

/** The report of something thrown: under the name of the hook that has thrown it, else of the method. */
export function faultOf(method: string, error: unknown, name?: string): Fault {
  const named = name === undefined ? {} : { name };
  if (error instanceof HookError) return { kind: "fault", method: error.hook, ...named, error: error.cause };
  return { kind: "fault", method, ...named, error };
}

/**
 * Where reports go without a `report` option: faults, peers that are given up because they do not read, and what is dropped for
 * them, to the console, which is stderr for a process; the others nowhere. An `RpcError` was thrown on purpose, and a peer that
 * notifies an unknown method must not be able to fill a log.
 */
export function faultsToConsole(report: Report): void {
  const isFault = report.kind === "fault" && !(report.error instanceof RpcError);
  if (!isFault && report.kind !== "given-up" && !(report.kind === "dropped" && report.unread)) return;
  // biome-ignore lint/suspicious/noConsole: a fault that nothing else takes must not be silent, and every platform has this.
  console.error(describeReport(report));
}

/**
 * A report as text, for messages and logs: one line, in which what a peer has sent is cut, and for a fault the stack of its error below.
 *
 * @example
 * openConnection(channel, { report: (report) => console.error(describeReport(report)) });
 */
export function describeReport(report: Report): string {
  switch (report.kind) {
    case "invalid":
      return `received ${excerpt(report.frame)}: ${describeProblem(report.problem)}${otherFraming(report.frame)}`;
    case "refused": {
      const { head, message, reason } = report.refusal;
      return `received ${excerpt(head)}: ${message}${reason === "bad-header" ? noFraming(head) : ""}`;
    }
    case "unmatched":
      return describeUnmatched(report.response);
    case "unknown-cancel":
      return `received a cancellation of ${report.id === undefined ? "no request" : `request ${shownId(report.id)}, which is not in flight`}`;
    case "unanswerable":
      return `received the request ${excerpt(report.method)} (id ${shownId(report.id)}), but this side answers none`;
    case "dropped":
      return `dropped the notification ${excerpt(report.method)}: ${report.unread ? "too much waits for a peer that does not read" : "too many requests are running"}`;
    case "given-up":
      return `ended the connection: ${report.error.message}`;
    case "tolerated":
      return `accepted ${excerpt(report.method)}: ${escapeControls(report.reason.slice(0, reasonLength))}`;
    case "left-out":
      return `left ${excerpt(report.name)} out of the answer to ${report.method}: ${escapeControls(report.reason.slice(0, reasonLength))}`;
    case "unauthorized":
      return `refused a token: ${escapeControls(report.reason.slice(0, reasonLength))}`;
    case "slow-start":
      return `the peer has not answered for ${report.milliseconds} ms: it may still be starting, and is waited for`;
    case "fault":
      return `${excerpt(report.method)}${report.name === undefined ? "" : ` of ${excerpt(report.name)}`} failed: ${stackOf(report.error)}`;
  }
}

/** A header before a message, or after the message before it. */
const header = /^content-length *:|\}content-length *: *\d+\s*$/i;

/** The remedy for a frame that shows another framing; empty for any other. */
export function otherFraming(frame: string): string {
  return header.test(frame) ? ": the peer sends a Content-Length: give this side the framing contentLength" : "";
}

/** The remedy for what stands where a header should; empty for what is no message either. */
function noFraming(head: string): string {
  return /^\s*[{[]/.test(head) ? ": the peer sends lines: give this side the framing lines" : otherFraming(head);
}

function stackOf(error: unknown): string {
  // The transport failed, and the message says how: no line of a program is at fault.
  if (error instanceof LocalError && error.reason === "closed" && error.cause !== undefined) return thrownText(error);
  // It was thrown on purpose, and its data says what is wrong.
  if (error instanceof RpcError) {
    const { data } = error;
    const text = `${thrownText(error)}${data === undefined ? "" : ` ${dataText(data)}`}`;
    return escapeControls(text.slice(0, reasonLength)); // It may come from a peer.
  }
  if (error instanceof Error) return error.stack || thrownText(error);
  return isObject(error) ? `${thrownText(error)}${errorMembers(error)}` : thrownText(error);
}

function dataText(data: unknown): string {
  try {
    return JSON.stringify(data) ?? "";
  } catch {
    return ""; // It is not JSON, so the peer got none of it either.
  }
}

/** The code and the message of an object that is thrown in place of an error. The other members may hold secrets. */
function errorMembers(thrown: Readonly<Record<string, unknown>>): string {
  try {
    const { code, message } = thrown;
    const shownCode = typeof code === "number" || typeof code === "string" ? ` code ${excerpt(String(code))}` : "";
    return typeof message === "string" ? `${shownCode} message ${excerpt(message)}` : shownCode;
  } catch {
    return ""; // A getter threw: the report of a failure must not fail itself.
  }
}

function describeProblem({ reason, detail }: Problem): string {
  return detail === undefined ? reason : `${reason} (${escapeControls(detail)})`;
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
  return escapeControls(JSON.stringify(text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text));
}
