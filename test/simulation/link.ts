import { RpcError } from "@parlance/mcp/jsonrpc";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { handlerFailed } from "../properties/conversation/owed-answers.js";
import { type OwnCall, spell } from "../properties/conversation/own-calls.js";
import { turn } from "../properties/conversation/turn.js";
import type { Random } from "../properties/random.js";
import type { Asking, Manner } from "./asking.js";
import { End, nonceOf } from "./end.js";
import { CarrierEnd } from "./transport.js";

/** The call, as its handler sees it. */
export interface Work {
  readonly nonce: number;
  readonly manner: Manner;
  readonly signal: AbortSignal;
  progress(step: number): void;
}

/** A handler that runs until the test lets it end. */
export interface Running {
  /** Where it runs. */
  readonly at: End;
  readonly work: Work;
  steps: number;
  end(how: "result" | "failure"): void;
}

/** The operations of the near end in either kind of conversation. */
export interface Driver {
  /** Makes a call, at once; resolves with its result. */
  call(from: End, asking: Asking): Promise<unknown>;
  /** Makes several in one frame; undefined where the rules have no batches. */
  readonly callTogether?: ((from: End, asked: readonly Asking[]) => Promise<readonly Promise<unknown>[]>) | undefined;
  /** The peer's calls in the other direction; false where it must not make any. */
  readonly bothWays: boolean;
  /** The remote end can ask for progress. */
  readonly farListens: boolean;
}

/** Opens a conversation on the two ends of a link. */
export type Open = (link: Link) => Promise<Driver>;

const kept = 400;

/** One transport with a conversation on it, from its opening to its end, and a model of it. */
export class Link {
  readonly clock: FakeClock = createFakeClock();
  readonly random: Random;
  readonly near: End;
  readonly far: End;
  readonly nearCarrier: CarrierEnd;
  readonly farCarrier: CarrierEnd;
  readonly controllers: Map<OwnCall, AbortController> = new Map();
  readonly running: Running[] = [];
  readonly #begun = new Set<number>();
  #history: string[] = [];
  #driver: Driver | undefined;

  constructor(random: Random) {
    this.random = random;
    const log = (line: string): void => this.note(line);
    this.near = new End("near", this.clock, log);
    this.far = new End("far", this.clock, log);
    this.nearCarrier = new CarrierEnd(random, this.near);
    this.farCarrier = new CarrierEnd(random, this.far);
    this.nearCarrier.join(this.farCarrier);
    this.farCarrier.join(this.nearCarrier);
  }

  get driver(): Driver {
    if (this.#driver === undefined) throw new Error("the conversation is not open yet");
    return this.#driver;
  }

  get ends(): readonly [End, End] {
    return [this.near, this.far];
  }

  get transports(): readonly [CarrierEnd, CarrierEnd] {
    return [this.nearCarrier, this.farCarrier];
  }

  /** Whether what this end sends may wait for room. */
  holds(end: End): boolean {
    return this.transports[end === this.near ? 0 : 1].holds;
  }

  /** The last things that happened, those of one call if a fault names it. */
  history(fault: unknown): string {
    const nonce = / (\d+)/.exec(String(fault))?.[1];
    const own = nonce === undefined ? [] : this.#history.filter((line) => new RegExp(`\\b${nonce}\\b`).test(line));
    const section = (title: string, lines: readonly string[]): string => `${title}\n${lines.slice(-30).join("\n")}`;
    return [section(`what names ${nonce}:`, own), section("the last of all:", this.#history)].join("\n\n");
  }

  async open(open: Open): Promise<void> {
    const opening = open(this);
    let driver: Driver | undefined;
    void opening.then((opened) => {
      driver = opened;
    });
    for (let turns = 0; driver === undefined && turns < 100; turns += 1) {
      for (const transport of this.transports) transport.deliverAll();
      await turn();
    }
    this.#driver = driver;
    for (const transport of this.transports) transport.deliverAll();
  }

  /** Runs what the peer of `end` has called there. */
  handle(end: End, work: Work): unknown {
    const { nonce, manner, signal } = work;
    if (this.#begun.has(nonce)) end.broken ??= new Error(`call ${nonce} runs twice`);
    this.#begun.add(nonce);
    end.runs(nonce);
    if (manner === "quit") void end.connection.close();
    if (manner === "now" || manner === "quit") return work.nonce;
    if (manner === "throw") throw new Error("a fault in a handler");
    if (manner === "fail") throw failed(nonce);
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(failed(nonce));
      if (manner === "heed") signal.addEventListener("abort", fail, { once: true });
      this.running.push({ at: end, work, steps: 0, end: (how) => (how === "result" ? resolve(nonce) : fail()) });
    });
  }

  /** A call of one end, sent at once. */
  call(from: End, asking: Asking, controller: AbortController, listens: boolean): void {
    const [call, heard] = this.#begin(from, asking, controller, listens);
    settleInto(call, this.driver.call(from, heard));
  }

  /** Several in one frame. */
  callTogether(from: End, asked: readonly (readonly [Asking, AbortController])[]): void {
    const begun = asked.map(([asking, controller]) => this.#begin(from, asking, controller, false));
    const sent = this.driver.callTogether?.(
      from,
      begun.map(([, asking]) => asking),
    );
    for (const [index, [call]] of begun.entries()) settleInto(call, outcomeAt(sent, index));
  }

  #begin(from: End, asking: Asking, controller: AbortController, listens: boolean): readonly [OwnCall, Asking] {
    const call = from.begin(asking, listens);
    this.controllers.set(call, controller);
    return [call, listens ? { ...asking, onProgress: (progress) => from.heard(call, progress) } : asking];
  }

  /** Says in the history what happens next. */
  note(line: string): void {
    this.#history.push(line);
    if (this.#history.length > 2 * kept) this.#history = this.#history.slice(-kept);
  }

  advance(milliseconds: number): void {
    this.note(`time ${milliseconds}`);
    const then = this.clock.now() + milliseconds;
    for (const end of this.ends) {
      end.note();
      end.expire(then);
    }
    this.clock.advance(milliseconds);
  }

  check(): void {
    for (const end of this.ends) end.check();
    const mustRead = [this.near.own.pending.length > 0, this.far.own.pending.length > 0];
    if (this.transports.some((transport, index) => transport.isPaused && mustRead[index]))
      throw new Error("reading is paused while an answer is waited for");
  }

  /** Lets everything come to its end: what has been lost is given up. @throws when anything is left */
  async rest(): Promise<void> {
    this.note("rest");
    for (const transport of this.transports) transport.release();
    await this.#settle();
    if (this.transports.some(({ isPaused }) => isPaused)) throw new Error("reading is paused though there is room");
    for (const end of this.ends) {
      end.note();
      for (const call of end.own.pending) this.abort(end, call);
    }
    await this.#settle();
    for (const end of this.ends) end.checkAtRest();
  }

  abort(end: End, call: OwnCall): void {
    end.note();
    end.own.decide(call, "cancelled", true);
    this.note(`${end.name} cancels ${call.nonce}`);
    this.controllers.get(call)?.abort();
  }

  /** Behind the end of both connections nothing is left. */
  async checkEnd(): Promise<void> {
    for (const end of this.ends) {
      if (end.connection.phase !== "closed") throw new Error(`${end.name} is ${end.connection.phase} behind its end`);
    }
    const untold = this.running.find(({ work }) => !work.signal.aborted);
    if (untold !== undefined) throw new Error(`the handler of ${untold.work.nonce} was not told of the end`);
    await this.rest();
    if (this.clock.armed > 0) throw new Error(`timers are still armed: ${this.clock.armed}`);
  }

  async #settle(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      for (const each of this.running.splice(0)) each.end("result");
      for (const transport of this.transports) transport.deliverAll();
      await turn();
    }
  }
}

function failed(nonce: number): Error {
  return new RpcError(handlerFailed, "as the test wants", nonce);
}

async function outcomeAt(sent: Promise<readonly Promise<unknown>[]> | undefined, index: number): Promise<unknown> {
  return (await sent)?.[index];
}

function settleInto(call: OwnCall, result: Promise<unknown>): void {
  result.then(
    (value) => call.outcomes.push(`result ${nonceOf(value) ?? (isEmpty(value) ? call.nonce : "without a nonce")}`),
    (error: Error) => call.outcomes.push(spell({ ok: false, error })),
  );
}

/** The result of a ping, which carries nothing. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
