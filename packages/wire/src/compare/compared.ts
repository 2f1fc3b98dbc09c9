import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import type { Conversation } from "../conversation/conversation.js";
import type { RecordedOperation } from "../conversation/message.js";
import { literalOf, nodeAt } from "../json/json-node.js";
import type { Frame, Sender } from "../recording/frame.js";
import { type ComparableValue, canonicalJson, comparableValue, type Ignores, significant } from "./differences.js";

/** Members of these requests and of their results belong to the contract: another clientInfo does not make a call different. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);

/** A message of a frame. Without the message itself, its conversation can be collected. */
interface Place {
  readonly frame: Frame;
  /** Undefined for a frame that is not a message. */
  readonly pointer: string | undefined;
}

type Properties = Pick<ComparedItem, "kind" | "rules"> &
  Partial<Pick<ComparedItem, "method" | "target" | "status" | "latency">>;

/**
 * One item of a comparison: a request with its response, a notification, or noise. It keeps texts instead of values, because a long
 * recording has many items, and most are equal.
 */
export class ComparedItem {
  readonly kind: "request" | "notification" | "noise";
  readonly from: Sender;
  readonly method: string | undefined;
  /** The tool, prompt or URI that it concerns. */
  readonly target: string | undefined;
  /** The number of its frame. */
  readonly n: number;
  /** The outcome of a request: `ok`, `isError`, `error -32602`, `input_required`, `no answer`. */
  readonly status: string | undefined;
  /** The rules that the message or its response breaks. */
  readonly rules: readonly string[];
  /** Milliseconds from the request to its answer. */
  readonly latency: number | undefined;
  /** Equal for items of the same kind, method and target. */
  readonly kindKey: string;
  /** Equal for items whose messages are equal, but for what is ignored. */
  readonly key: string;
  /** The same of their responses; undefined without a response. */
  readonly answerKey: string | undefined;
  readonly #ignores: Ignores;
  readonly #message: Place;
  readonly #answer: Place | undefined;

  constructor(message: Place, answer: Place | undefined, ignores: Ignores, properties: Properties) {
    const { kind, method, target, status, rules, latency } = properties;
    const { from, n } = message.frame;
    this.kind = kind;
    this.from = from;
    this.method = method;
    this.target = target;
    this.n = n;
    this.status = status;
    this.rules = rules;
    this.latency = latency;
    this.#ignores = ignores;
    this.#message = message;
    this.#answer = answer;
    this.kindKey = JSON.stringify([kind, from, method, target]);
    this.key = `${this.kindKey} ${this.isOpener ? "" : canonicalJson(this.value)}`;
    this.answerKey = answer && canonicalJson(this.answer);
  }

  /** Whether it opens the conversation: its members belong to the contract. */
  get isOpener(): boolean {
    return openers.has(this.method);
  }

  /** The message without its response; for noise, the text. */
  get value(): ComparableValue {
    return significant(valueAt(this.#message), this.#ignores);
  }

  get answer(): ComparableValue {
    return this.#answer && significant(valueAt(this.#answer), this.#ignores);
  }
}

/** A decimal integer that a double may change. */
const longInteger = /\d{16}/;

function valueAt({ frame, pointer }: Place): ComparableValue {
  if (pointer === undefined) return literalOf({ start: 0, end: frame.bytes.length }, frame.bytes);
  const { json, entry } = frame;
  if (json.isPlain && !longInteger.test(entry.raw ?? "")) return json.value;
  const node = json.root && nodeAt(json.root, pointer);
  return node && comparableValue(node, frame.bytes);
}

/** The items of a conversation, in order. */
export function* comparedItems({ rows, sessions }: Conversation, ignores: Ignores): Generator<ComparedItem> {
  const operations = new Map(
    sessions.flatMap((session) => session.operations).map((operation) => [operation.request, operation]),
  );
  const broken = new Map<number | undefined, readonly string[]>();
  for (const { n, verdicts } of rows) {
    const rules = verdicts.filter(({ level }) => level === "must").map(({ rule }) => rule.id);
    if (rules.length > 0) broken.set(n, rules);
  }
  const rulesOf = (frame: Frame, answer?: Frame): readonly string[] => {
    const [own = none, ofAnswer = none] = [broken.get(frame.n), answer && broken.get(answer.n)];
    return ofAnswer.length === 0 ? own : [...new Set([...own, ...ofAnswer])];
  };
  for (const { frame, messages } of rows) {
    if (frame === undefined) continue;
    const rules = rulesOf(frame);
    if (messages.length === 0)
      yield new ComparedItem({ frame, pointer: undefined }, undefined, ignores, { kind: "noise", rules });
    for (const message of messages) {
      const operation = operations.get(message);
      const { method } = message;
      if (operation !== undefined) yield requestItem(operation, rulesOf(frame, operation.answer?.frame), ignores);
      else if (message.kind === "ntf" || message.context.pairing?.is !== "answer") {
        const kind = message.kind === "ntf" ? "notification" : "noise";
        const properties = { kind, method, target: targetOf(message.params), rules } as const;
        yield new ComparedItem({ frame, pointer: message.pointer }, undefined, ignores, properties);
      }
    }
  }
}

const none: readonly string[] = [];

function requestItem(operation: RecordedOperation, rules: readonly string[], ignores: Ignores): ComparedItem {
  const { request, answer } = operation;
  const item = new ComparedItem(
    { frame: request.frame, pointer: request.pointer },
    answer && { frame: answer.frame, pointer: answer.pointer },
    ignores,
    {
      kind: "request",
      method: request.method,
      target: targetOf(request.params),
      status: statusOf(operation),
      rules,
      latency: answer && (answer.frame.entry.t1 ?? answer.frame.entry.t) - request.frame.entry.t,
    },
  );
  return item;
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
