import type { Entry } from "../recording/entry.js";
import { bytesOf, type Frame, type Sender } from "../recording/frame.js";
import type { Verdict } from "../rules/rule.js";
import type { HttpExchange, WireMessage } from "./message.js";
import type { WireSession } from "./session.js";

/**
 * The content of a row. `noise` is a frame that is not a message, `frag` a piece of a message, `event` an event of an event stream without data, from
 * which a client can resume, `oauth` the body of a sign-in exchange.
 */
export type RowKind = (typeof rowKinds)[number];

/** Every kind of row. */
export const rowKinds = [
  "req",
  "res",
  "err",
  "ntf",
  "batch",
  "noise",
  "frag",
  "event",
  "oauth",
  "stderr",
  "http",
  "life",
  "gap",
  "note",
  "rule",
] as const;

/** One observation, with its messages, session and verdicts. */
export interface Row {
  /** The content of the row. */
  readonly kind: RowKind;
  /** The entry of the recording. */
  readonly entry: Entry;
  /** The number of the observation; undefined for a gap, an annotation and a rule of the recorder. */
  readonly n: number | undefined;
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** The sender, for a row that has one. */
  readonly from: Sender | undefined;
  /** The frame; undefined for a row of another kind. */
  readonly frame: Frame | undefined;
  /** Empty for a frame that is not a message; all messages of a batch. */
  readonly messages: readonly WireMessage[];
  /** The HTTP exchange that carries it; undefined for another transport. */
  readonly exchange: HttpExchange | undefined;
  /** The session that it belongs to; undefined for a row without a session. */
  readonly session: WireSession | undefined;
  /** The list may grow: the head of an HTTP request is judged when its response arrives. */
  readonly verdicts: readonly Verdict[];
  /** Why the row was not judged, if it was not. */
  readonly unjudged: string | undefined;
}

/**
 * The number of the frame with the response to a request, or with the request of a response.
 *
 * @example
 * const response = pairOf(request); // The number of a frame.
 */
export function pairOf(message: WireMessage): number | undefined {
  const operation = message.concerns;
  if (operation === undefined) return undefined;
  if (message === operation.request) return operation.answer?.frame.n;
  return message.kind === "ntf" ? undefined : operation.request.frame.n;
}

/**
 * Milliseconds from the first byte of a request to the last byte of its response; undefined for any other message than the response.
 *
 * @example
 * const slow = conversation.rows.flatMap(({ messages }) => messages).filter((each) => (latencyOf(each) ?? 0) > 1_000);
 */
export function latencyOf(message: WireMessage): number | undefined {
  const { operation, frame } = message;
  if (operation === undefined || operation.answer !== message) return undefined;
  return (frame.entry.t1 ?? frame.entry.t) - operation.request.frame.entry.t;
}

/**
 * The size of a frame or of stderr output, in bytes.
 *
 * @example
 * const bytes = conversation.rows.reduce((sum, row) => sum + (sizeOf(row) ?? 0), 0);
 */
export function sizeOf({ entry }: Row): number | undefined {
  if (entry.k === "f") return entry.len;
  return entry.k === "e" ? bytesOf(entry).length : undefined;
}
