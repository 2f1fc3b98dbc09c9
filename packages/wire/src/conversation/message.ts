import { isObject, type JsonObject, type Revision } from "@parlance/mcp/protocol";
import { childOf, type JsonNode, literalOf } from "../json/json-node.js";
import type { HttpEntry } from "../recording/entry.js";
import type { Frame, Sender } from "../recording/frame.js";

/** The kind of a message by its members; an invalid message has one too. */
export type MessageKind = "req" | "ntf" | "res" | "err" | "none";

/** A request with its response and notifications. */
export interface RecordedOperation {
  /** From 1, in the order of the requests. */
  readonly number: number;
  /** The request. */
  readonly request: WireMessage;
  /** The first response. */
  readonly answer: WireMessage | undefined;
  /** Progress and other notifications about it. */
  readonly notices: readonly WireMessage[];
  /** The notification that cancelled it. */
  readonly cancel: WireMessage | undefined;
  /** The previous round: its result asked for the input that this request brings. */
  readonly previous: RecordedOperation | undefined;
  /** The next round, which brings the input that the result asked for. */
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
  | { readonly is: "answer" }
  /** The request was answered already. */
  | {
      readonly is: "second answer";
      /** The operation that the request began. */
      readonly operation: RecordedOperation;
    }
  /** A request has the same id with another type: `"7"` for `7`. */
  | {
      readonly is: "other type";
      /** The operation of the request with the other type of id. */
      readonly operation: RecordedOperation;
    }
  | { readonly is: "unknown" };

/** The state of the handshake when a message was sent. In the stateless era it stays `new`. */
export type HandshakePhase = "new" | "initializing" | "answered" | "ready";

/** The step of a sign-in with OAuth that an exchange is. `other` is one of no rule, such as the request of a device code. */
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
  /** It is addressed to the MCP endpoint, as far as that is known. */
  readonly isAddressed: boolean;
  /** The step of a sign-in with OAuth that it is; undefined for an exchange of the protocol. */
  readonly signIn: SignInStep | undefined;
  /** The frames of its bodies, both ways, in order. */
  readonly frames: readonly Frame[];
  /** The messages of its bodies, both ways, in order. */
  readonly messages: readonly WireMessage[];
  /** The head of the response breaks a rule. */
  readonly isFaulty: boolean;
}

/** The conversation's own view of an exchange: it alone may change it. */
export interface OpenHttpExchange extends HttpExchange {
  response: HttpEntry | undefined;
  end: HttpEntry | undefined;
  signIn: SignInStep | undefined;
  isFaulty: boolean;
  readonly frames: Frame[];
  readonly messages: WireMessage[];
  /** Its rules were applied. */
  judged: boolean;
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
  /** Of a response. */
  readonly pairing: Pairing | undefined;
  /** Of a request: the one of the same side that had this id before. */
  readonly reuses: RecordedOperation | undefined;
  /** Of a request: the operation whose answer has asked for what it brings. */
  readonly previous: RecordedOperation | undefined;
}

/** One message of a frame, or what stands in the place of one. */
export class WireMessage {
  /** The frame that holds the message. */
  readonly frame: Frame;
  /** To this message in its frame: `""`, or `/0` in a batch. */
  readonly pointer: string;
  /** Request, notification or response. */
  readonly kind: MessageKind;
  /** The method; undefined for a response. */
  readonly method: string | undefined;
  /** As it was written: `7`, `"7"`. */
  readonly id: string | undefined;
  /** The same for ids that are the same, whatever their spelling. */
  readonly idKey: string | undefined;
  /** The tool, the prompt or the address that its params name. */
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

  /** The side that sent it. */
  get from(): Sender {
    return this.frame.from;
  }

  /** The revision that it is judged by; undefined if it names an unknown version. */
  get revision(): Revision | undefined {
    return this.context.revision;
  }

  /** The operation that it belongs to; of a request, once it is taken: the operation that it begins. */
  get operation(): RecordedOperation | undefined {
    return this.#begun ?? this.context.operation;
  }

  /** The same, and for a response that is no answer what it was meant for, as far as its id tells. */
  get concerns(): RecordedOperation | undefined {
    const { pairing } = this.context;
    return this.operation ?? (pairing !== undefined && "operation" in pairing ? pairing.operation : undefined);
  }

  /** Where its values stand in the frame. */
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

  /** A member of it, if it is an object and has one. */
  member(name: string): unknown {
    const { value } = this;
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }

  /** Its params; none where they are no object. */
  get params(): JsonObject {
    const params = this.member("params");
    return isObject(params) ? params : {};
  }

  /** Its result, if that is an object. */
  get result(): JsonObject | undefined {
    const result = this.member("result");
    return isObject(result) ? result : undefined;
  }

  /** It breaks a rule, or its frame does, or the response of HTTP that carries it: its receiver may have rejected it. */
  get isFaulty(): boolean {
    return this.#isFaulty || this.context.exchange?.isFaulty === true;
  }

  /** The conversation that judges it has found a violation in it. */
  blame(): void {
    this.#isFaulty = true;
  }

  /** The session that takes a request says what it begins. */
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

/** The key that pairs ids: `1` and `"1"` differ, `1` and `1.0` do not. A number that a double cannot hold is its literal. */
export function keyOfId(literal: string): string {
  if (literal.startsWith('"')) return `string ${JSON.parse(literal) as string}`; // The scan has found it to be one.
  const number = Number(literal);
  return Number.isSafeInteger(number) ? `number ${number}` : `literal ${literal}`;
}
