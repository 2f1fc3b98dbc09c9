import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { Conversation } from "../conversation/conversation.js";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import type { Row } from "../conversation/row.js";
import { literalOf } from "../json/json-node.js";
import type { Frame, Sender } from "../recording/frame.js";
import { type ComparableValue, comparableValue } from "./differences.js";

/** One item of a comparison: a request with its response, a notification, or noise. */
export interface ComparedItem {
  readonly kind: "request" | "notification" | "noise";
  readonly from: Sender;
  readonly method: string | undefined;
  /** The tool, prompt or URI that it concerns. */
  readonly target: string | undefined;
  /** The number of its frame. */
  readonly n: number;
  /** The message without its response; for noise, the text. */
  readonly value: ComparableValue;
  /** The outcome of a request: `ok`, `isError`, `error -32602`, `input_required`, `no answer`. */
  readonly status: string | undefined;
  readonly answer: ComparableValue;
  /** The rules that the message or its response breaks. */
  readonly rules: readonly string[];
  /** Milliseconds from the request to its answer. */
  readonly latency: number | undefined;
}

/** The items of a conversation, in order. */
export function* comparedItems({ rows, sessions }: Conversation): Generator<ComparedItem> {
  const operations = new Map(
    sessions.flatMap((session) => session.operations).map((operation) => [operation.request, operation]),
  );
  const broken = new Map(rows.map((row) => [row.n, brokenRules(row)]));
  const rulesOf = (...frames: readonly (Frame | undefined)[]): readonly string[] => [
    ...new Set(frames.flatMap((frame) => broken.get(frame?.n) ?? [])),
  ];
  for (const { frame, messages } of rows) {
    if (frame === undefined) continue;
    if (messages.length === 0) yield noiseItem(frame, rulesOf(frame));
    for (const message of messages) {
      const operation = operations.get(message);
      if (operation !== undefined) yield requestItem(operation, rulesOf(frame, operation.answer?.frame));
      else if (message.kind === "ntf") yield messageItem("notification", message, rulesOf(frame));
      else if (message.context.pairing?.is !== "answer") yield messageItem("noise", message, rulesOf(frame));
      message.forget();
    }
    frame.forget();
  }
}

/** The tool, prompt or URI that params name. */
export function targetOf({ name, uri, ref }: JsonObject): string | undefined {
  const holder = isObject(ref) ? ref : { name, uri };
  const named = [holder.name, holder.uri].find((each) => typeof each === "string");
  return named as string | undefined; // Nothing but a string was found.
}

/** The outcome of a request. */
export function statusOf({ answer }: RecordedOperation): string {
  if (answer === undefined) return "no answer";
  const { result } = answer;
  if (answer.kind === "err") {
    const error = answer.member("error");
    return `error ${isObject(error) ? String(error.code) : ""}`.trim();
  }
  if (result?.isError === true) return "isError";
  return result?.resultType === "input_required" ? "input_required" : "ok";
}

function requestItem(operation: RecordedOperation, rules: readonly string[]): ComparedItem {
  const { request, answer } = operation;
  const item: ComparedItem = {
    ...messageItem("request", request, rules),
    status: statusOf(operation),
    answer: answer && comparableValue(answer.node, answer.frame.bytes),
    latency: answer && (answer.frame.entry.t1 ?? answer.frame.entry.t) - request.frame.entry.t,
  };
  answer?.forget();
  answer?.frame.forget();
  return item;
}

function messageItem(kind: ComparedItem["kind"], message: WireMessage, rules: readonly string[]): ComparedItem {
  const { from, method, frame, node, params } = message;
  const value = comparableValue(node, frame.bytes);
  const nothing = { status: undefined, answer: undefined, latency: undefined };
  return { kind, from, method, target: targetOf(params), n: frame.n, value, rules, ...nothing };
}

function noiseItem({ from, n, bytes }: Frame, rules: readonly string[]): ComparedItem {
  const value = literalOf({ start: 0, end: bytes.length }, bytes);
  const nothing = { method: undefined, target: undefined, status: undefined, answer: undefined, latency: undefined };
  return { kind: "noise", from, n, value, rules, ...nothing };
}

function brokenRules({ verdicts }: Row): readonly string[] {
  return verdicts.filter(({ level }) => level === "must").map(({ rule }) => rule.id);
}
