import { type CallOptions, type Connection, type Exchange, openConnection, RpcError } from "@parlance/mcp/jsonrpc";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import type { Outcome } from "../../../packages/mcp/src/jsonrpc/calls/outgoing-call.js";
import { literalOf, parseLiterals } from "../literals.js";
import { type HandChannel, handChannel } from "./hand-channel.js";
import { handlerFailed, OwedAnswers } from "./owed-answers.js";
import { type OwnCall, OwnCalls, spell } from "./own-calls.js";

/** A handler that runs until the test lets it end. */
interface Handler {
  readonly nonce: number;
  readonly exchange: Exchange;
  end(how: "result" | "failure"): void;
}

/** A message of the connection under test. */
interface Sent {
  readonly id?: unknown;
  readonly method?: string;
  readonly params: { readonly id: number; readonly nonce: number };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: unknown };
}

const cancelMethod = "$/cancelRequest";
const timeout = 1_000;
const totalTimeout = 3_000;
const atRest = { outgoing: 0, incoming: 0, waiting: 0, running: 0 };

/** The nonce of a notification of the peer: it is no request, so nothing is owed for it. */
const noRequest = 0;

/** One connection, a peer that the test plays, and a record of what must happen: whatever else happens throws. */
export class Conversation {
  readonly clock: FakeClock = createFakeClock();
  readonly channel: HandChannel = handChannel((frame) => this.#sent(frame));
  readonly own: OwnCalls = new OwnCalls();
  readonly owed: OwedAnswers = new OwedAnswers();
  readonly handlers: Handler[] = [];
  readonly connection: Connection;
  /** Calls that handlers make, by the nonce of the request that makes them. */
  readonly #relayed = new Map<number, OwnCall>();
  /** All of them, also those that notifications have made. */
  readonly #ofHandlers: OwnCall[] = [];
  readonly #unmatched = { due: 0, reported: 0 };
  #drainsUntil = Number.POSITIVE_INFINITY;
  #nonce = noRequest;
  #broken: unknown;
  /** A handler has closed the connection. */
  #hasQuit = false;

  constructor() {
    this.connection = openConnection(this.channel, {
      handle: (method, params, exchange) => this.#handle(method, (params as { nonce: number }).nonce, exchange),
      // The model has no word for the answer to a cancelled request.
      cancellation: { method: cancelMethod, idMember: "id", error: null },
      relatedTo: (method, params) => (method === "progress" ? (params as { tag: number }).tag : undefined),
      report: ({ kind }) => {
        if (kind === "unmatched") this.#unmatched.reported += 1;
      },
      limits: { running: 4, waiting: 5, depth: 8 },
      timeout,
      totalTimeout,
      clock: this.clock,
    });
  }

  /** True while the peer can still be heard. */
  get hears(): boolean {
    return this.channel.phase === "open" && this.connection.phase !== "closed";
  }

  /** One call, sent at once. */
  call({ signal }: AbortController, idle: number, total: number): void {
    const call = this.#begin(signal, idle, total);
    const options = { signal, timeout: idle, totalTimeout: total, tag: call.nonce };
    void outcomeOf(this.connection.call("work", { nonce: call.nonce }, options)).then((outcome) =>
      call.outcomes.push(spell(outcome)),
    );
  }

  /** Several calls and a notification in one frame. */
  callTogether(controllers: readonly AbortController[], idle: number, total: number): void {
    const batch = this.connection.batch();
    const calls = controllers.map(({ signal }) => {
      const call = this.#begin(signal, idle, total);
      const options: CallOptions = { signal, timeout: idle, totalTimeout: total, tag: call.nonce };
      return { call, id: batch.request("work", { nonce: call.nonce }, options) };
    });
    batch.notify("note", { nonce: noRequest });
    void batch.send().then((outcomes) => {
      for (const { call, id } of calls) {
        const outcome = outcomes.get(id);
        call.outcomes.push(outcome === undefined ? "none" : spell(outcome));
      }
    });
  }

  #nextNonce(): number {
    this.#nonce += 1;
    return this.#nonce;
  }

  #begin(signal: AbortSignal, idle: number, total: number): OwnCall {
    const call = this.own.add(this.#nextNonce(), signal, this.clock.now(), idle, total);
    if (this.connection.phase !== "open") this.own.decide(call, "closed");
    else if (signal.aborted) this.own.decide(call, "cancelled");
    return call;
  }

  cancelOwn(call: OwnCall, controller: AbortController): void {
    this.own.decide(call, "cancelled", true);
    controller.abort();
  }

  advance(milliseconds: number): void {
    const then = this.clock.now() + milliseconds;
    for (const call of this.own.pending) {
      if (Math.min(call.idleAt, call.totalAt) <= then) this.own.decide(call, "timeout", true);
    }
    // A handler that is ended has what it called cancelled.
    if (this.#drainsUntil <= then && this.connection.phase === "closing")
      for (const call of this.#ofHandlers) this.own.decide(call, "cancelled", true);
    this.clock.advance(milliseconds);
  }

  drain(grace: number): void {
    this.#drainsUntil = this.clock.now() + grace;
    void this.connection.drain(grace);
  }

  /** The peer sends no more. */
  end(error?: Error): void {
    this.own.decideAll("closed");
    this.channel.end(error);
  }

  /** Ends a handler. One that the end of the connection left running has seen its signal. */
  endHandler({ exchange, end }: Handler, how: "result" | "failure"): void {
    if (this.connection.phase === "closed" && !exchange.signal.aborted)
      throw new Error("a handler was not told of the end");
    end(how);
  }

  // Messages of the peer. Each function returns the message, and notes its expected effect.

  /** An answer to a call, be it the first or not. One that is no response ends its call, and is answered in no case. */
  answer(call: OwnCall, how: "result" | "failure" | "both" | "too deep", value: number): string {
    if (call.fate !== undefined && (how === "result" || how === "failure")) this.#unmatched.due += 1;
    const [fate, members] = {
      result: [`result ${value}`, `"result":${value}`],
      failure: [`error ${value}`, `"error":{"code":${value},"message":""}`],
      both: ["protocol", `"result":1,"error":{"code":1,"message":""}`],
      "too deep": ["protocol", `"result":${"[".repeat(9)}${"]".repeat(9)}`],
    }[how] as [string, string];
    this.own.decide(call, fate);
    return `{"jsonrpc":"2.0","id":${call.id},${members}}`;
  }

  /** An answer that no call waits for, or something like one. */
  answerNobody(id: string, isResponse: boolean): string {
    if (isResponse) this.#unmatched.due += 1;
    return `{"jsonrpc":"2.0","id":${id},"result":"for nobody"${isResponse ? "" : ',"error":null'}}`;
  }

  /** A sign that the peer still works on a call. */
  progress(call: OwnCall): string {
    if (call.fate === undefined) call.idleAt = this.clock.now() + call.idle;
    return `{"jsonrpc":"2.0","method":"progress","params":{"tag":${call.nonce}}}`;
  }

  request(id: string, method: string, isInBatch: boolean): string {
    const nonce = this.#nextNonce();
    this.owed.ask(id, nonce, isInBatch);
    return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"nonce":${nonce}}}`;
  }

  notification(method: string): string {
    return `{"jsonrpc":"2.0","method":"${method}","params":{"nonce":${noRequest}}}`;
  }

  /** A request that is refused: not valid, or too deep. Its id may well be that of a call of this side. */
  wrongRequest(id: string, isTooDeep: boolean): string {
    this.owed.askWrongly(id);
    const members = isTooDeep ? `"method":"now","params":${"[".repeat(9)}${"]".repeat(9)}` : `"method":5`;
    return `{"jsonrpc":"2.0","id":${id},${members}}`;
  }

  nonsense(): string {
    this.owed.askNonsense();
    return `{"jsonrpc":"1.0","method":"now"}`;
  }

  /** The end of a request of the peer, by its wish. */
  cancel(id: string): string {
    const nonce = this.owed.cancel(id, this.channel.holds);
    const relayed = nonce === undefined ? undefined : this.#relayed.get(nonce);
    if (relayed !== undefined) this.own.decide(relayed, "cancelled", true);
    return `{"jsonrpc":"2.0","method":"${cancelMethod}","params":{"id":${id}}}`;
  }

  /** The invariants after every step. */
  check(): void {
    if (this.connection.phase === "closed") this.own.decideAll("closed");
    else this.own.assertPeerTold();
    if (this.#broken !== undefined) throw this.#broken;
    const { outgoing, running, waiting } = this.connection.inFlight;
    expectEqual("calls in flight", outgoing, this.own.pending.length);
    expectEqual("responses that no call waited for", this.#unmatched.reported, this.#unmatched.due);
    if (running > 4 || waiting > 5) throw new Error(`${running} handlers run and ${waiting} wait`);
    if (this.channel.isPaused && outgoing > 0) throw new Error("reading is paused while this side waits for an answer");
  }

  /** The invariants when every request has been answered or cancelled. */
  checkAtRest(): void {
    this.check();
    if (!this.owed.isSettled && !this.#hasQuit) throw new Error("the peer is still owed an answer");
    expectEqual("what is in flight", JSON.stringify(this.connection.inFlight), JSON.stringify(atRest));
  }

  /** The invariants once the connection is closed, even if handlers ignore their signals. */
  checkClosed(): void {
    this.check();
    this.own.assertOutcomes();
    expectEqual("the phase", this.connection.phase, "closed");
    expectEqual("armed timers", this.clock.armed, 0);
  }

  /** The invariants when the handlers have ended too. */
  checkEnd(): void {
    this.checkClosed();
    expectEqual("what is in flight", JSON.stringify(this.connection.inFlight), JSON.stringify(atRest));
  }

  /** A channel must not throw, so a fault is kept until the next check. */
  #sent(frame: string): void {
    try {
      if (this.channel.phase === "closed") throw new Error("a frame after the end");
      const [message, literal]: unknown[] = [JSON.parse(frame), parseLiterals(frame)];
      if (!Array.isArray(message)) this.#sentMessage(message as Sent, literal as Sent);
      else if (message.length === 0) throw new Error("an empty batch");
      else for (const [index, each] of message.entries()) this.#sentMessage(each, (literal as Sent[])[index] as Sent);
    } catch (error) {
      this.#broken ??= error;
    }
  }

  #sentMessage({ id, method, params, result, error }: Sent, literal: Sent): void {
    if (method === undefined) this.owed.answer(literalOf(literal.id), { result, error });
    else if (method === cancelMethod) this.own.cancelled(params.id);
    else if (method === "work") this.own.written(params.nonce, id as number);
    else if (params.nonce !== noRequest && !this.owed.isOpen(params.nonce))
      throw new Error("a note of a call that is over");
  }

  #handle(method: string, nonce: number, exchange: Exchange): unknown {
    const isAsked = nonce === noRequest || this.owed.isOpen(nonce) || method === "progress";
    if (!isAsked) this.#broken ??= new Error(`${nonce} runs, which is not asked`);
    if (this.connection.phase === "closed") this.#broken ??= new Error(`${method} runs behind the end`);
    switch (method) {
      case "now":
        exchange.notify("note", { nonce });
        return nonce;
      case "throw":
        throw new Error("a fault in a handler");
      case "quit":
        this.#hasQuit = true;
        void this.connection.close();
        return nonce;
      case "progress":
        return undefined; // Of a call that is over.
      case "relay":
        return this.#relay(nonce, exchange);
      default:
        return this.#later(nonce, exchange, method === "heed");
    }
  }

  async #relay(nonce: number, exchange: Exchange): Promise<number> {
    const call = this.#begin(exchange.signal, timeout, totalTimeout);
    this.#relayed.set(nonce, call);
    this.#ofHandlers.push(call);
    const outcome = await outcomeOf(exchange.callback?.("work", { nonce: call.nonce }, exchange) as Promise<unknown>);
    call.outcomes.push(spell(outcome));
    if (outcome.ok) return nonce;
    throw new RpcError(handlerFailed, "the call of a handler failed", nonce);
  }

  #later(nonce: number, exchange: Exchange, heeds: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new RpcError(handlerFailed, "as the test wants", nonce));
      if (heeds) exchange.signal.addEventListener("abort", fail, { once: true });
      this.handlers.push({ nonce, exchange, end: (how) => (how === "result" ? resolve(nonce) : fail()) });
    });
  }
}

function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  return call.then(
    (result) => ({ ok: true, result }),
    (error: Error) => ({ ok: false, error }),
  );
}

function expectEqual(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) throw new Error(`${what}: expected ${String(wanted)}, got ${String(got)}`);
}
