import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { literalOf, nodeAt } from "../json/json-node.js";
import type { Frame, Sender } from "../recording/frame.js";
import {
  type ComparableValue,
  comparableValue,
  differencesOf,
  type Ignores,
  ignoring,
  significant,
  sorted,
  type ValueChange,
  volatilePointers,
} from "./differences.js";

/** Whether members of a request and of its result belong to the contract: another clientInfo does not make a call different. */
export function isOpening(method: string | undefined): boolean {
  return method === methods.initialize || method === methods.discover;
}

/**
 * A message of a frame, or the whole frame. It has no reference to the message, so that the conversation can be
 * garbage-collected.
 */
interface Place {
  readonly frame: Frame;
  /** Undefined for a frame that is not a message. */
  readonly pointer: string | undefined;
}

/** A message as it is known when it is read; its response comes later. */
type Described = Pick<ComparedItem, "kind" | "rules"> & Partial<Pick<ComparedItem, "method" | "target">>;

/**
 * One item of a comparison: a request with its response, a notification, or noise. It keeps texts instead of values, because a long
 * recording has many items, and most are equal.
 */
export class ComparedItem {
  /** The kind of the frame: noise is a frame that is not a message. */
  readonly kind: "request" | "notification" | "noise";
  /** The side that sent it. */
  readonly from: Sender;
  /** The method; undefined for noise. */
  readonly method: string | undefined;
  /** The tool, prompt or URI that it concerns. */
  readonly target: string | undefined;
  /** The number of its frame. */
  readonly n: number;
  /** Equal for items whose messages are equal apart from the ignored places. */
  readonly key: string;
  readonly #ignores: Ignores;
  readonly #message: Place;
  #rules: readonly string[];
  #status: string | undefined;
  #latency: number | undefined;
  #answer: Place | undefined;
  #answerKey: string | undefined;

  constructor({ frame, pointer }: Place, ignores: Ignores, { kind, method, target, rules }: Described) {
    const { from, n } = frame;
    this.kind = kind;
    this.from = from;
    this.method = method;
    this.target = target;
    this.n = n;
    this.#ignores = ignores;
    this.#message = { frame, pointer };
    const value = this.isOpener ? undefined : sorted(valueAt(this.#message), ignores);
    this.key = JSON.stringify([kind, from, method, target, value]);
    this.#rules = rules;
    this.#status = kind === "request" ? statusOf({ answer: undefined }) : undefined;
  }

  /** Equal for items of the same kind, method and target. */
  get kindKey(): string {
    return JSON.stringify([this.kind, this.from, this.method, this.target]);
  }

  /** The outcome of a request: `ok`, `isError`, `error -32602`, `input_required`, `no answer`, `ok after its cancellation`. */
  get status(): string | undefined {
    return this.#status;
  }

  /** The rules that the message or its response breaks. */
  get rules(): readonly string[] {
    return this.#rules;
  }

  /** Milliseconds from the request to its response. */
  get latency(): number | undefined {
    return this.#latency;
  }

  /** `key` of the response; undefined without one. */
  get answerKey(): string | undefined {
    return this.#answerKey;
  }

  /** Takes the response to a request, whether it comes after the cancellation, and the rules that it breaks. */
  end(answer: WireMessage, isCancelled: boolean, rules: readonly string[]): void {
    const { frame, pointer } = answer;
    const { entry } = this.#message.frame;
    this.#answer = { frame, pointer };
    this.#answerKey = JSON.stringify(sorted(valueAt(this.#answer), this.#ignores) ?? null);
    this.#status = `${statusOf({ answer })}${isCancelled ? " after its cancellation" : ""}`;
    this.#latency = (frame.entry.t1 ?? frame.entry.t) - entry.t;
    if (rules.length > 0) this.#rules = [...new Set([...this.#rules, ...rules])];
  }

  /** Whether it opens the conversation: its members belong to the contract. */
  get isOpener(): boolean {
    return isOpening(this.method);
  }

  /** The message without its response; for noise, the text. */
  get value(): ComparableValue {
    return significant(valueAt(this.#message), this.#ignores);
  }

  /** The significant part of the response; undefined without one. */
  get answer(): ComparableValue {
    return this.#answer && significant(valueAt(this.#answer), this.#ignores);
  }
}

/** A decimal integer that a double may change. */
const longInteger = /\d{16}/;

/** The message or the text at a place. */
function valueAt({ frame, pointer }: Place): ComparableValue {
  if (pointer === undefined) return literalOf({ start: 0, end: frame.bytes.length }, frame.bytes);
  const { json, entry } = frame;
  if (json.isPlain && !longInteger.test(entry.raw ?? "")) return json.value;
  const node = json.root && nodeAt(json.root, pointer);
  return node && comparableValue(node, frame.bytes);
}

/**
 * The places at which two messages differ, apart from ids, tokens, times and opaque values.
 *
 * @example
 * const newest = conversation.rows.flatMap(({ messages }) => messages).at(-1) ?? request;
 * const places = differencesOfMessages(request, newest).map(({ pointer }) => pointer); // ["/params/arguments/limit"]
 */
export function differencesOfMessages(before: WireMessage, after: WireMessage): readonly ValueChange[] {
  const ignores = ignoring(volatilePointers);
  return differencesOf(significant(valueAt(before), ignores), significant(valueAt(after), ignores));
}

/**
 * The tool, prompt or URI that params name.
 *
 * @example
 * targetOf({ name: "search", arguments: {} }); // "search"
 */
export function targetOf({ name, uri, ref }: JsonObject): string | undefined {
  const holder = isObject(ref) ? ref : { name, uri };
  const named = [holder.name, holder.uri].find((each) => typeof each === "string");
  return named as string | undefined; // The filter leaves only strings.
}

/**
 * The outcome of a request.
 *
 * @example
 * conversation.sessions.flatMap(({ operations }) => operations).map(statusOf);
 */
export function statusOf({ answer }: Pick<RecordedOperation, "answer">): string {
  if (answer === undefined) return "no answer";
  const { result } = answer;
  if (answer.kind === "err") {
    const error = answer.member("error");
    return `error ${isObject(error) ? String(error.code) : ""}`.trim();
  }
  if (result?.isError === true) return "isError";
  return result?.resultType === "input_required" ? "input_required" : "ok";
}
