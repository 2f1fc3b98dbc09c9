import type { Refusal } from "../base/frame.js";
import type { MembersOf } from "../base/members.js";
import { type MethodAliases, realNames } from "./aliases.js";
import type { Caller } from "./caller.js";
import { Problem } from "./check.js";
import { boundProblem, type Decoded, isInexact } from "./codec.js";
import { codes } from "./errors.js";
import { answered, guarded } from "./hooks.js";
import { SpreadMessage } from "./meant-answers.js";
import {
  type ErrorObject,
  ExactNumber,
  type Id,
  type Message,
  type Params,
  type RpcNotification,
  type RpcRequest,
} from "./message.js";
import type { Responder } from "./responder.js";
import { type MemberTexts, membersOf, membersOfElements } from "./scan.js";
import { decodeOn, type Terms } from "./terms.js";

/** The notification that asks to stop a request, and the answer that the request then gets. */
export interface Cancellation {
  readonly method: string;
  /** The member of its params that holds the request's id. */
  readonly idMember: string;
  /**
   * The error that answers a cancelled request. JSON-RPC 2.0 owes every request an answer, and callers of other libraries
   * wait for it. `null`: the request is not answered, as MCP has it. Default: −32800 *Request cancelled*.
   */
  readonly error?: ErrorObject | null;
}

/**
 * Cancellation as in the Language Server Protocol: `$/cancelRequest`, answered with −32800.
 * https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#cancelRequest
 *
 * @example
 * openConnection(channel, { handle: service.call, cancellation: lspCancellation });
 */
export const lspCancellation: Cancellation = { method: "$/cancelRequest", idMember: "id" };

/** The error that answers a cancelled request; undefined for silence. */
export function cancelledError({ error }: Cancellation): ErrorObject | undefined {
  return error === null ? undefined : (error ?? requestCancelled);
}

const requestCancelled: ErrorObject = { code: codes.requestCancelled, message: "Request cancelled" };

/** Takes a notification of the peer. What it throws, or rejects with, is reported. */
export type NotificationListener = (method: string, params: Params | undefined) => unknown;

/** Where a connection sends what comes in. */
export interface Routing {
  /** Loose names that are taken for the methods that they stand for. Default: none. */
  readonly aliases?: MethodAliases | undefined;
  /** Takes what the peer tells. Default: `handle` runs it and nobody is answered, as in plain JSON-RPC. */
  readonly onNotification?: NotificationListener;
  /** Methods of calls that stay open until somebody ends them: `limits.listening` bounds them, and `limits.running` does not. Default: none. */
  readonly lasting?: ReadonlySet<string>;
  /** How either side asks the other to stop. Default: it cannot; a cancelled call just stops waiting. */
  readonly cancellation?: Cancellation;
  /** The tag of the call of this side that a notification belongs to (`CallOptions.tag`), or undefined. */
  readonly relatedTo?: (method: string, params: Params | undefined) => string | number | undefined;
  /** False for a side that only calls: it reports frames that are no messages, and writes no answer to them. Default: true. */
  readonly answersUnreadable?: boolean;
}

/** The members of `Routing`, for the check of options. */
export const routingMembers: MembersOf<Routing> = {
  aliases: [],
  onNotification: ["onnotification", "notification"],
  lasting: [],
  cancellation: ["cancel"],
  relatedTo: [],
  answersUnreadable: [],
};

/** What the inbound side needs from its connection. */
export interface InboundHost {
  readonly terms: Terms;
  readonly options: Routing;
  readonly caller: Caller;
  readonly responder: Responder;
  isClosed(): boolean;
  /** A message was read for nothing. `length`: the characters of its frame. */
  refused(length: number): void;
  /** Ends the connection: the peer broke a bound too often. */
  giveUp(why: string): void;
}

/** Every frame of a connection comes in here, and goes to the caller, the responder or a listener. */
export class Inbound {
  readonly #host: InboundHost;
  #oversizedAt: number[] = [];
  /** Made on first use. */
  #spread: SpreadMessage | undefined;

  constructor(host: InboundHost) {
    this.#host = host;
  }

  /** A whole frame. */
  frame(text: string, known?: Decoded, cause?: unknown): void {
    if (this.#host.isClosed()) return;
    const decoded = known ?? decodeOn(this.#host.terms, text);
    if (decoded instanceof Problem && this.#isMeant(decoded, text)) return;
    if (Array.isArray(decoded)) this.#batchFrame(decoded, text);
    else this.#message(decoded as Message | Problem, text, undefined, cause);
  }

  /** True for what is no message, but an answer that breaks a rule: its call has its outcome. */
  #isMeant(problem: Problem, text: string): boolean {
    const { caller, terms } = this.#host;
    const fails = problem.id !== undefined && problem.subject !== "request"; // By itself, with a better reason.
    if (terms.tolerance === undefined || (terms.tolerance === "explain" && fails)) return false;
    this.#spread ??= new SpreadMessage(terms.limits.frameBytes);
    const whole = this.#spread.push(text);
    return caller.receiveMeant(whole ?? text);
  }

  /** `index`: its place in a batch. `cause`: see `ChannelReceiver.frame`. */
  #message(message: Message | Problem, frame: string, index?: number, cause?: unknown): void {
    if (message instanceof Problem) {
      if (this.#isOwed(message, frame)) this.#host.responder.problem(message);
      this.#host.refused(frame.length);
    } else if (!("method" in message)) this.#host.caller.receive(message, cause);
    else if ("id" in message) this.#request(this.#real(message), frame.length);
    else this.#notification(this.#real(message), frame, index);
  }

  #request(message: RpcRequest, length: number): void {
    const { profile, report } = this.#host.terms;
    if (profile.answersRequests) {
      if (!this.#host.responder.request(message, length)) this.#host.refused(length);
    } else report({ kind: "unanswerable", method: message.method, id: message.id });
  }

  #real<M extends RpcRequest | RpcNotification>(message: M): M {
    const { aliases } = this.#host.options;
    return aliases === undefined ? message : realNames(message, aliases);
  }

  #batchFrame(elements: readonly (Message | Problem)[], frame: string): void {
    const reply = this.#host.responder.batch();
    for (const [index, element] of elements.entries()) {
      if (this.#host.isClosed()) break; // By what an earlier element set off.
      if (element instanceof Problem) {
        if (this.#isOwed(element, frame)) reply.take(element);
      } else if ("method" in element && "id" in element) {
        reply.take(this.#real(element));
      } else {
        this.#message(element, frame, index);
      }
    }
    reply.end();
  }

  /** True for something that is no message, if this side owes it an answer; a call that waits for it fails of it. */
  #isOwed(problem: Problem, frame: string): boolean {
    if (this.#host.caller.receiveProblem(problem)) return false;
    this.#host.caller.complain({ kind: "invalid", problem, frame });
    return this.#answers(problem);
  }

  #answers({ subject }: Problem): boolean {
    if (!this.#host.terms.profile.answersRequests) return false;
    return subject === "request" || this.#host.options.answersUnreadable !== false;
  }

  #notification(message: RpcNotification, frame: string, index: number | undefined): void {
    const { cancellation, onNotification } = this.#host.options;
    if (message.method === cancellation?.method) {
      const members = (): MemberTexts | undefined =>
        index === undefined ? membersOf(frame) : membersOfElements(frame)[index];
      this.#cancelRequested(cancellation, message.params, members);
      return;
    }
    const tag = this.#tagOf(message);
    if (tag !== undefined && this.#host.caller.receiveRelated(tag, message.method, message.params)) return;
    if (onNotification === undefined) this.#host.responder.notification(message, frame.length);
    else guarded("onNotification", () => onNotification(message.method, message.params), this.#host.terms.report);
  }

  #tagOf({ method, params }: RpcNotification): string | number | undefined {
    const { relatedTo } = this.#host.options;
    return relatedTo && answered("relatedTo", () => relatedTo(method, params), this.#host.terms.report);
  }

  /** A cancel of something unknown is not an error: it may have crossed the answer on its way. */
  #cancelRequested(
    { idMember }: Cancellation,
    params: Params | undefined,
    members: () => MemberTexts | undefined,
  ): void {
    const { [idMember]: given, reason } = (params ?? {}) as Readonly<Record<string, unknown>>;
    const literal = isInexact(given) ? membersOf(members()?.get("params") ?? "").get(idMember) : undefined;
    const id = literal === undefined ? (given as Id | undefined) : new ExactNumber(literal);
    const known =
      isId(id) && this.#host.responder.cancel(id, typeof reason === "string" ? reason : "cancelled by the peer");
    if (!known) this.#host.terms.report({ kind: "unknown-cancel", id: isId(id) ? id : undefined });
  }

  /** Bytes that did not become a frame. */
  refuse(refusal: Refusal): void {
    if (this.#host.isClosed()) return;
    if (refusal.reason === "not-utf8" && refusal.raw !== undefined && this.#host.terms.tolerance === "accept") {
      this.#host.terms.report({ kind: "refused", refusal });
      this.frame(new TextDecoder("windows-1252").decode(refusal.raw));
      return;
    }
    this.#host.caller.complain({ kind: "refused", refusal });
    if (refusal.reason === "truncated") return; // The end follows and says it all.
    const { profile, limits } = this.#host.terms;
    const oversized = refusal.reason === "too-long";
    const boundCode = boundCodes.get(refusal.reason);
    const problem =
      boundCode === undefined
        ? new Problem(codes.parseError, refusal.message, "", undefined, hasMethod(refusal.head) ? "request" : "unknown")
        : boundProblem(refusal.message, refusal.head, profile, limits, boundCode);
    if (this.#host.terms.tolerance !== undefined && refusal.reason === "not-utf8") {
      const answer = boundProblem(refusal.message, refusal.head, profile, limits);
      if (this.#host.caller.receiveProblem(answer)) return;
    }
    if (!this.#host.caller.receiveProblem(problem) && this.#answers(problem)) this.#host.responder.problem(problem);
    if (oversized && this.#isTooMuch()) this.#host.giveUp(refusal.message);
  }

  #isTooMuch(): boolean {
    const { clock, limits } = this.#host.terms;
    if (limits.oversizedPerMinute === Number.POSITIVE_INFINITY) return false; // Nothing is kept of what is not counted.
    const now = clock.now();
    this.#oversizedAt = [...this.#oversizedAt.filter((at) => at > now - 60_000), now];
    return this.#oversizedAt.length >= limits.oversizedPerMinute;
  }
}

/** Codes of what was refused for its length: it is JSON for all that is known, and its id may stand at its beginning. */
const boundCodes: ReadonlyMap<Refusal["reason"], number> = new Map([
  ["too-long", codes.invalidRequest],
  ["no-room", codes.tooManyRequests],
]);

function hasMethod(head: string): boolean {
  return membersOf(head).has("method");
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number" || value === null || value instanceof ExactNumber;
}
