import { isObject, type JsonObject, type Revision } from "@parlance/mcp/protocol";
import { childOf, type JsonNode, literalOf } from "../json/json-node.js";
import type { HttpEntry } from "../recording/entry.js";
import type { Frame, Sender } from "../recording/frame.js";

/** The kind of a message by its members; an invalid message has one too. */
export type MessageKind = "req" | "ntf" | "res" | "err" | "none";

/** A request with its response and notifications. */
export interface RecordedOperation {
  /** The number of the operation, from 1, in the order of the requests. */
  readonly number: number;
  /** The request. */
  readonly request: WireMessage;
  /** The first response. */
  readonly answer: WireMessage | undefined;
  /** Progress and other notifications about it. */
  readonly notices: readonly WireMessage[];
  /** The notification that cancelled it. */
  readonly cancel: WireMessage | undefined;
  /** The previous round: its result requested the input that this request contains. */
  readonly previous: RecordedOperation | undefined;
  /** The next round, which contains the input that the result requested. */
  readonly next: RecordedOperation | undefined;
}

/** The conversation's own view of an operation: it alone may change it. */
export interface OpenOperation extends RecordedOperation {
  answer: WireMessage | undefined;
  readonly notices: WireMessage[];
  cancel: WireMessage | undefined;
  next: RecordedOperation | undefined;
}

/** How a response pairs with the requests of the other side. */
export type Pairing =
  | {
      /** `second answer`: the request was answered already. `other type`: its id has the other type, `"7"` instead of `7`. */
      readonly is: "answer" | "second answer" | "other type";
      /** The operation that the request began. */
      readonly operation: RecordedOperation;
    }
  | { readonly is: "unknown" };

/** The state of the handshake when a message was sent. In the stateless era it stays `new`. */
export type HandshakePhase = "new" | "initializing" | "answered" | "ready";

/** The step of an OAuth sign-in that an exchange performs. No rule judges `other`, such as a request for a device code. */
export type SignInStep =
  | "resource-metadata"
  | "server-metadata"
  | "registration"
  | "authorization"
  | "redirect"
  | "token"
  | "other";

/** An HTTP request and its response, as far as they are recorded. */
export interface HttpExchange {
  /** The number of the exchange in the recording. */
  readonly number: number;
  /** The head of the request. */
  readonly request: HttpEntry;
  /** The head of the response; undefined while it has not arrived. */
  readonly response: HttpEntry | undefined;
  /** The end of the exchange; undefined while it goes on. */
  readonly end: HttpEntry | undefined;
  /** Whether it goes to the MCP endpoint, as far as that is known. */
  readonly isAddressed: boolean;
  /** The step of an OAuth sign-in that it performs; undefined for an MCP exchange. */
  readonly signIn: SignInStep | undefined;
  /** The frames of its bodies, both ways, in order. */
  readonly frames: readonly Frame[];
  /** The messages of its bodies, both ways, in order. */
  readonly messages: readonly WireMessage[];
  /** Whether the head of the response breaks a rule. */
  readonly isFaulty: boolean;
}

/** Facts about a message when it arrives. */
export interface MessageContext {
  /** The revision that it is judged by; undefined if it names an unknown version. */
  readonly revision: Revision | undefined;
  /** The phase of the handshake when the message crossed. */
  readonly phase: HandshakePhase;
  /** The HTTP exchange that carries it, as far as that is recorded. */
  readonly exchange: HttpExchange | undefined;
  /** The operation that it begins, answers, reports on or cancels. */
  readonly operation: RecordedOperation | undefined;
  /** For a response: how it pairs with a request. */
  readonly pairing: Pairing | undefined;
  /** For a request: the earlier request of the same side with this id. */
  readonly reuses: RecordedOperation | undefined;
  /** For a request: the operation whose result requested the input that it contains. */
  readonly previous: RecordedOperation | undefined;
}

/** One message of a frame, or a value in the place of a message. */
export class WireMessage {
  /** The frame that holds the message. */
  readonly frame: Frame;
  /** A JSON pointer to the message in its frame: `""`, or `/0` in a batch. */
  readonly pointer: string;
  /** Request, notification or response. */
  readonly kind: MessageKind;
  /** The method; undefined for a response. */
  readonly method: string | undefined;
  /** The id as it was written: `7`, `"7"`. */
  readonly id: string | undefined;
  /** Equal for equal ids, however they are written. */
  readonly idKey: string | undefined;
  /** The tool, prompt or URI that its params name. */
  readonly names: string | undefined;
  /** The session of the message. */
  readonly context: MessageContext;
  /** Its place in a batch. */
  readonly #index: number | undefined;
  #begun: RecordedOperation | undefined;
  #isFaulty = false;

  /** @param index its place, if the frame is a batch */
  constructor(frame: Frame, index: number | undefined, contextOf: (message: WireMessage) => MessageContext) {
    this.frame = frame;
    this.pointer = index === undefined ? "" : `/${index}`;
    this.#index = index;
    const { value } = this;
    this.kind = kindOfMessage(value);
    this.method = isObject(value) && typeof value.method === "string" ? value.method : undefined;
    this.id = idIn(value, this);
    this.idKey = this.id === undefined ? undefined : keyOfId(this.id);
    this.names = [this.params.name, this.params.uri].find((name) => typeof name === "string");
    this.context = contextOf(this);
  }

  /** Whether a JSON pointer in the frame is a place in this message. */
  holds(pointer: string): boolean {
    return pointer === this.pointer || pointer.startsWith(`${this.pointer}/`);
  }

  /** The side that sent it. */
  get from(): Sender {
    return this.frame.from;
  }

  /** The revision that it is judged by; undefined if it names an unknown version. */
  get revision(): Revision | undefined {
    return this.context.revision;
  }

  /** The operation that it belongs to. For a request: the operation that it begins, once the session has taken it. */
  get operation(): RecordedOperation | undefined {
    return this.#begun ?? this.context.operation;
  }

  /** Like `operation`; for an unpaired response, the operation that its id suggests. */
  get concerns(): RecordedOperation | undefined {
    const { pairing } = this.context;
    return this.operation ?? (pairing !== undefined && "operation" in pairing ? pairing.operation : undefined);
  }

  /** The syntax tree of the message, with the places of its values in the frame. */
  get node(): JsonNode {
    const { root } = this.frame.json;
    const node = root?.kind === "array" && this.#index !== undefined ? root.elements[this.#index] : root;
    if (node === undefined) throw new Error("what was a message once is one again");
    return node;
  }

  /** The value of `JSON.parse`. */
  get value(): unknown {
    const { value } = this.frame.json;
    return Array.isArray(value) && this.#index !== undefined ? value[this.#index] : value;
  }

  /** A member of the message; undefined if it is not an object or has no such member. */
  member(name: string): unknown {
    const { value } = this;
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }

  /** Its params; empty if they are not an object. */
  get params(): JsonObject {
    const params = this.member("params");
    return isObject(params) ? params : {};
  }

  /** Its result; undefined if it is not an object. */
  get result(): JsonObject | undefined {
    const result = this.member("result");
    return isObject(result) ? result : undefined;
  }

  /** Whether the message, its frame or the HTTP response that carries it breaks a rule: its receiver may have rejected it. */
  get isFaulty(): boolean {
    return this.#isFaulty || this.context.exchange?.isFaulty === true;
  }

  /** Called by the conversation when it finds a violation in the message. */
  blame(): void {
    this.#isFaulty = true;
  }

  /** Called by the session with the operation that the request begins. */
  begin(operation: RecordedOperation): void {
    this.#begun = operation;
  }
}

/** The literal of the id of a message. */
function idIn(value: unknown, message: WireMessage): string | undefined {
  if (!isObject(value) || !Object.hasOwn(value, "id")) return undefined;
  const { frame } = message;
  if (frame.json.isPlain) return JSON.stringify(value.id);
  const node = childOf(message.node, "id");
  return node && literalOf(node, frame.bytes);
}

function kindOfMessage(value: unknown): MessageKind {
  if (!isObject(value)) return "none";
  if (Object.hasOwn(value, "method")) return Object.hasOwn(value, "id") ? "req" : "ntf";
  if (Object.hasOwn(value, "result")) return "res";
  return Object.hasOwn(value, "error") ? "err" : "none";
}

/**
 * The key that pairs ids: `1` and `"1"` differ, `1` and `1.0` do not. The key of a number that a double cannot hold is its
 * literal.
 */
export function keyOfId(literal: string): string {
  if (literal.startsWith('"')) return `string ${JSON.parse(literal) as string}`; // The scan found a number.
  const number = Number(literal);
  return Number.isSafeInteger(number) ? `number ${number}` : `literal ${literal}`;
}

/** The maximum number of characters of a method or a name in a text. Their sender chooses their length, and a report repeats them. */
const longestName = 200;

/** The method of a request, and what it names: `tools/call add`. It is text of a peer: escape it. */
export function requestText({ method = "", names = "" }: Pick<WireMessage, "method" | "names">): string {
  const words = [method, names].filter((word) => word !== "");
  return words.map((word) => (word.length > longestName ? `${word.slice(0, longestName)}…` : word)).join(" ");
}
