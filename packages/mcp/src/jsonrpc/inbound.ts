import type { Refusal } from "../base/frame.js";
import type { Caller } from "./caller.js";
import { Problem } from "./check.js";
import { decode, headId } from "./codec.js";
import { codes } from "./errors.js";
import { ExactNumber, type Id, type Message, type Params, type RpcNotification, type RpcRequest } from "./message.js";
import type { Responder } from "./responder.js";
import { membersOf } from "./scan.js";
import type { Terms } from "./terms.js";

/** A notification that asks to stop a request, e.g. `{ method: "$/cancelRequest", idMember: "id" }` in LSP. */
export interface Cancellation {
  readonly method: string;
  /** The member of its params that holds the request's id. */
  readonly idMember: string;
}

/** Takes a notification of the peer. */
export type NotificationListener = (method: string, params: Params | undefined) => void;

/** Where a connection sends what comes in. */
export interface Routing {
  /** Takes what the peer tells. Default: `handle` runs it and nobody is answered, as in plain JSON-RPC. */
  readonly onNotification?: NotificationListener;
  /** How either side asks the other to stop. Default: it cannot; a cancelled call just stops waiting. */
  readonly cancellation?: Cancellation;
  /** The tag of the call of this side that a notification belongs to (`CallOptions.tag`), or undefined. */
  readonly relatedTo?: (method: string, params: Params | undefined) => string | number | undefined;
  /** False for a side that only calls: it reports frames that are no messages, and writes no answer to them. Default: true. */
  readonly answersUnreadable?: boolean;
}

/** What the inbound side needs from its connection. */
export interface InboundHost {
  readonly terms: Terms;
  readonly options: Routing;
  readonly caller: Caller;
  readonly responder: Responder;
  isClosed(): boolean;
  /** Ends the connection: the peer broke a bound too often. */
  giveUp(why: string): void;
}

/** Every frame of a connection comes in here, and goes to the caller, the responder or a listener. */
export class Inbound {
  readonly #host: InboundHost;
  #oversizedAt: number[] = [];

  constructor(host: InboundHost) {
    this.#host = host;
  }

  /** A whole frame. */
  frame(text: string): void {
    if (this.#host.isClosed()) return;
    const decoded = decode(text, this.#host.terms.profile, this.#host.terms.limits);
    if (Array.isArray(decoded)) this.#batchFrame(decoded, text);
    else this.#message(decoded as Message | Problem, text);
  }

  #message(message: Message | Problem, frame: string): void {
    if (message instanceof Problem) this.#problem(message, frame);
    else if (!("method" in message)) this.#host.caller.receive(message);
    else if ("id" in message) this.#host.responder.request(message);
    else this.#notification(message, frame);
  }

  #batchFrame(elements: readonly (Message | Problem)[], frame: string): void {
    const owed: (RpcRequest | Problem)[] = [];
    for (const element of elements) {
      if (element instanceof Problem) {
        if (!this.#host.caller.receiveProblem(element)) {
          this.#host.caller.complain({ kind: "invalid", problem: element, frame });
          owed.push(element);
        }
      } else if ("method" in element && "id" in element) {
        owed.push(element);
      } else {
        this.#message(element, frame);
      }
    }
    if (owed.length > 0) this.#host.responder.batch(owed);
  }

  #problem(problem: Problem, frame: string): void {
    if (this.#host.caller.receiveProblem(problem)) return;
    this.#host.caller.complain({ kind: "invalid", problem, frame });
    const readable = problem.subject === "request";
    if (readable || this.#host.options.answersUnreadable !== false) this.#host.responder.problem(problem);
  }

  #notification(message: RpcNotification, frame: string): void {
    const { cancellation, relatedTo, onNotification } = this.#host.options;
    if (message.method === cancellation?.method) {
      this.#cancelRequested(cancellation, message.params, frame);
      return;
    }
    const tag = relatedTo?.(message.method, message.params);
    if (tag !== undefined && this.#host.caller.receiveRelated(tag, message.method, message.params)) return;
    if (onNotification === undefined) this.#host.responder.notification(message);
    else this.#tell(onNotification, message);
  }

  #tell(listener: NotificationListener, { method, params }: RpcNotification): void {
    try {
      listener(method, params);
    } catch (error) {
      this.#host.terms.report({ kind: "fault", method, error });
    }
  }

  /** A cancel of something unknown is not an error: it may have crossed the answer on its way. */
  #cancelRequested({ idMember }: Cancellation, params: Params | undefined, frame: string): void {
    const { [idMember]: given, reason } = (params ?? {}) as Readonly<Record<string, unknown>>;
    const inexact = typeof given === "number" && !Number.isSafeInteger(given);
    const literal = inexact ? membersOf(membersOf(frame).get("params") ?? "").get(idMember) : undefined;
    const id = literal === undefined ? (given as Id | undefined) : new ExactNumber(literal);
    const known =
      isId(id) && this.#host.responder.cancel(id, typeof reason === "string" ? reason : "cancelled by the peer");
    if (!known) this.#host.terms.report({ kind: "unknown-cancel", id: isId(id) ? id : undefined });
  }

  /** Bytes that did not become a frame. */
  refuse(refusal: Refusal): void {
    if (this.#host.isClosed()) return;
    this.#host.caller.complain({ kind: "refused", refusal });
    if (refusal.reason === "truncated") return; // The end follows and says it all.
    const { profile, limits } = this.#host.terms;
    const oversized = refusal.reason === "too-long";
    const id = oversized ? headId(refusal.head, profile, limits) : undefined;
    const isCall = membersOf(refusal.head).has("method");
    const code = oversized ? codes.invalidRequest : codes.parseError;
    const problem = new Problem(code, refusal.message, "", id, isCall ? "request" : "unknown");
    const answers =
      !this.#host.caller.receiveProblem(problem) && (isCall || this.#host.options.answersUnreadable !== false);
    if (answers) this.#host.responder.problem(problem);
    if (oversized && this.#isTooMuch()) this.#host.giveUp(refusal.message);
  }

  #isTooMuch(): boolean {
    const now = this.#host.terms.clock.now();
    this.#oversizedAt = [...this.#oversizedAt.filter((at) => at > now - 60_000), now];
    return this.#oversizedAt.length >= this.#host.terms.limits.oversizedPerMinute;
  }
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number" || value === null || value instanceof ExactNumber;
}
