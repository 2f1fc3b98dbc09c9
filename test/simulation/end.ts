import type { Connection } from "@parlance/mcp/jsonrpc";
import type { FakeClock } from "@parlance/mcp/testing";
import { OwedAnswers } from "../properties/conversation/owed-answers.js";
import { type OwnCall, OwnCalls } from "../properties/conversation/own-calls.js";
import type { Asking } from "./asking.js";
import type { Watcher } from "./transport.js";

/** A message of either side, as far as the model looks into it. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly nonce?: number;
    readonly arguments?: { readonly nonce?: number };
    readonly _meta?: { readonly progressToken?: number };
    readonly requestId?: number;
    readonly progressToken?: number;
    readonly progress?: number;
  };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: unknown };
}

export const progressMethod = "notifications/progress";
export const cancelMethod = "notifications/cancelled";

/** The nonce that a result carries, in either spelling: that of a handler, or that of a tool. */
export function nonceOf(result: unknown): number | undefined {
  const { nonce, content } = (result ?? {}) as { nonce?: number; content?: readonly { readonly text: string }[] };
  return nonce ?? (content === undefined ? undefined : Number(content[0]?.text));
}

/**
 * One end of a link and what the model knows of it: what it has called, what it owes, and so what it may send and what
 * its callers must hear. Whatever else happens is a fault.
 */
export class End implements Watcher {
  readonly name: string;
  readonly own: OwnCalls = new OwnCalls();
  readonly owed: OwedAnswers = new OwedAnswers();
  /** The first thing that must not have happened: a channel must not throw, so it is kept until the next check. */
  broken: unknown;
  readonly #clock: FakeClock;
  readonly #log: (line: string) => void;
  readonly #ids = new Map<number, OwnCall>();
  readonly #tokens = new Map<number, OwnCall>();
  readonly #listening = new Set<OwnCall>();
  /** The progress that arrives at this moment, and that its caller has not been told. */
  readonly #due = new Map<OwnCall, number>();
  /** The progress that the peer requested, by token. */
  readonly #asked = new Map<number, { readonly nonce: number; last: number }>();
  /** Calls that were made while none were accepted. */
  readonly #refused = new Set<number>();
  /** Requests without a nonce, of the opening. */
  readonly #strange = new Set<number>();
  #connection: Connection | undefined;

  constructor(name: string, clock: FakeClock, log: (line: string) => void) {
    this.name = name;
    this.#clock = clock;
    this.#log = log;
  }

  get connection(): Connection {
    if (this.#connection === undefined) throw new Error(`${this.name} has no connection yet`);
    return this.#connection;
  }

  set connection(connection: Connection) {
    this.#connection = connection;
  }

  /** A call that is made at this moment. */
  begin({ nonce, signal, timeout, totalTimeout }: Asking, listens: boolean): OwnCall {
    this.note();
    this.#log(`${this.name} calls ${nonce}`);
    const call = this.own.add(nonce, signal, this.#clock.now(), timeout, totalTimeout);
    if (listens) this.#listening.add(call);
    if (this.connection.phase !== "open") this.own.decide(call, "closed");
    else if (signal.aborted) this.own.decide(call, "cancelled");
    return call;
  }

  /** A caller is told of progress. */
  heard(call: OwnCall, progress: number | undefined): void {
    const due = this.#due.get(call);
    this.#due.delete(call);
    if (due !== progress || due === undefined)
      this.#fault(new Error(`call ${call.nonce} was told of progress ${progress}, due was ${due}`));
  }

  /** A handler begins to run. */
  runs(nonce: number): void {
    if (!this.owed.isOpen(nonce) || this.#refused.has(nonce))
      this.#fault(new Error(`call ${nonce} runs, which is not asked`));
    if (this.connection.phase === "closed") this.#fault(new Error(`call ${nonce} runs behind the end`));
  }

  /** A handler has told of a step; it waits, and may give way to a later one, where the transport holds what is sent. */
  told(nonce: number, step: number, holds: boolean): void {
    if (holds) return;
    if (this.connection.phase === "closed" || !this.owed.isOpen(nonce)) return;
    const asked = [...this.#asked.values()].find((each) => each.nonce === nonce);
    if (asked !== undefined && asked.last !== step) this.#fault(new Error(`the progress of ${nonce} was not sent`));
  }

  /** Time goes on, up to `then`. */
  expire(then: number): void {
    for (const call of this.own.pending) {
      if (Math.min(call.idleAt, call.totalAt) <= then) this.own.decide(call, "timeout", true);
    }
  }

  /** Whatever has closed the connection has decided what was open. */
  note(): void {
    if (this.#connection?.phase === "closed") this.own.decideAll("closed");
  }

  sent(frame: string): void {
    this.#log(`${this.name} > ${frame}`);
    this.#guard(() => {
      for (const message of messagesOf(frame)) this.#sent(message);
    });
  }

  arriving(frame: string, holds: boolean): void {
    this.#log(`${this.name} < ${frame}`);
    this.note();
    if (this.#connection?.phase === "closed") return;
    const messages = messagesOf(frame);
    const isInBatch = frame.startsWith("[");
    this.#guard(() => {
      for (const message of messages) this.#arriving(message, isInBatch, holds);
    });
  }

  arrived(): void {
    for (const [{ nonce }, due] of this.#due) this.#fault(new Error(`call ${nonce} was not told of progress ${due}`));
    this.#due.clear();
  }

  ending(): void {
    this.#log(`${this.name} < end`);
    this.own.decideAll("closed");
  }

  #sent({ id, method, params, result, error }: Message): void {
    if (this.#connection?.phase === "closed") throw new Error(`${this.name} sends behind its end`);
    const nonce = params?.nonce ?? params?.arguments?.nonce;
    if (method === undefined) this.#answers(id as number, result, error);
    else if (method === cancelMethod) this.own.cancelled(params?.requestId as number);
    else if (method === progressMethod) this.#tells(params?.progressToken as number, params?.progress as number);
    else if (id !== undefined && nonce !== undefined) this.#asks(id, nonce, params?._meta?.progressToken);
  }

  #asks(id: number, nonce: number, token: number | undefined): void {
    this.own.written(nonce, id);
    const call = this.own.all.find((each) => each.nonce === nonce) as OwnCall; // It has just been found by the line above.
    this.#ids.set(id, call);
    if (token !== undefined) this.#tokens.set(token, call);
    else if (this.#listening.has(call)) throw new Error(`call ${nonce} does not ask for progress`);
  }

  #answers(id: number, result: unknown, error: Message["error"]): void {
    if (this.#strange.delete(id)) return;
    this.owed.answer(
      String(id),
      error === undefined ? { result: nonceOf(result) ?? this.owed.nonceOf(String(id)) } : { error },
    );
  }

  #tells(token: number, progress: number): void {
    const asked = this.#asked.get(token);
    if (asked === undefined || !(this.owed.isOpen(asked.nonce) || this.owed.mayWait(asked.nonce)))
      throw new Error(`progress of a call that is over: ${token}`);
    if (progress <= asked.last) throw new Error(`the progress of ${asked.nonce} goes back to ${progress}`);
    asked.last = progress;
  }

  #arriving({ id, method, params, error }: Message, isInBatch: boolean, holds: boolean): void {
    if (method === undefined) {
      const call = this.#ids.get(id as number);
      if (call !== undefined)
        this.own.decide(call, error === undefined ? `result ${call.nonce}` : `error ${error.code}`);
    } else if (method === cancelMethod) this.owed.cancel(String(params?.requestId), holds);
    else if (method === progressMethod) this.#isTold(params?.progressToken as number, params?.progress as number);
    else if (id !== undefined) this.#isAsked(id, params, isInBatch);
  }

  #isAsked(id: number, params: Message["params"], isInBatch: boolean): void {
    const nonce = params?.nonce ?? params?.arguments?.nonce;
    const token = params?._meta?.progressToken;
    if (nonce === undefined) this.#strange.add(id);
    else this.owed.ask(String(id), nonce, isInBatch);
    if (nonce !== undefined && this.connection.phase !== "open") this.#refused.add(nonce);
    if (nonce !== undefined && token !== undefined) this.#asked.set(token, { nonce, last: 0 });
  }

  #isTold(token: number, progress: number): void {
    const call = this.#tokens.get(token);
    if (call === undefined || call.fate !== undefined) return;
    call.idleAt = this.#clock.now() + call.idle;
    if (this.#listening.has(call)) this.#due.set(call, progress);
  }

  /** The invariants after every operation. */
  check(): void {
    this.note();
    if (this.broken !== undefined) throw this.broken;
    if (this.connection.phase !== "closed") this.own.assertPeerTold();
    const { outgoing } = this.connection.inFlight;
    const pending = this.own.pending.length;
    if (outgoing !== pending) throw new Error(`${this.name} has ${outgoing} calls in flight instead of ${pending}`);
  }

  /** The invariants when nothing is in flight. */
  checkAtRest(): void {
    this.check();
    this.own.assertOutcomes();
    const counts = JSON.stringify(this.connection.inFlight);
    if (/[1-9]/.test(counts)) throw new Error(`${this.name} is not at rest: ${counts}`);
    if (this.connection.phase === "open" && !this.owed.isSettled) throw new Error(`${this.name} owes an answer`);
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.broken ??= error;
  }
}

function messagesOf(frame: string): readonly Message[] {
  const value = JSON.parse(frame) as Message | readonly Message[];
  return Array.isArray(value) ? value : [value as Message];
}
