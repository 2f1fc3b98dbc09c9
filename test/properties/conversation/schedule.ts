import type { Random } from "../random.js";
import { Conversation } from "./conversation.js";
import type { OwnCall } from "./own-calls.js";

/** The possible next steps, with their weights. A step that makes no sense at its time does nothing. */
const steps: readonly (readonly [weight: number, step: (schedule: Schedule) => void | Promise<void>])[] = [
  [12, (schedule) => schedule.call()],
  [3, (schedule) => schedule.callTogether()],
  [14, (schedule) => schedule.hear((talk) => schedule.answer(talk, false))],
  [3, (schedule) => schedule.hear((talk) => schedule.answerNobody(talk))],
  [6, (schedule) => schedule.cancelOwn()],
  [4, (schedule) => schedule.hear((talk) => schedule.progress(talk))],
  [6, (schedule) => schedule.talk.advance(schedule.random.below(5) * 150)],
  [14, (schedule) => schedule.hear(() => schedule.request())],
  [3, (schedule) => schedule.hear((talk) => talk.notification(schedule.method()))],
  [2, (schedule) => schedule.hear((talk) => schedule.wrongRequest(talk))],
  [1, (schedule) => schedule.hear((talk) => talk.nonsense())],
  [5, (schedule) => schedule.hearBatch()],
  [7, (schedule) => schedule.hear((talk) => schedule.cancel(talk))],
  [12, (schedule) => schedule.endHandler()],
  [3, (schedule) => schedule.note()],
  [3, (schedule) => schedule.talk.channel.block()],
  [3, (schedule) => schedule.talk.channel.release()],
  [14, () => turn()],
];
const wheel = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));

const ends = ["rest", "close", "end", "broken", "drain", "drain late", "drain, close"] as const;

/** A conversation that goes as chance has it, from its beginning to its end. */
export class Schedule {
  readonly random: Random;
  readonly talk: Conversation = new Conversation();
  readonly #controllers = new Map<number, AbortController>();
  #nextId = 1;

  constructor(random: Random) {
    this.random = random;
  }

  /** Takes so many steps, then comes to one of its ends. @throws when anything happens that must not */
  async run(length: number): Promise<void> {
    await this.#go(length);
    switch (this.random.pick(ends)) {
      case "rest":
        await this.#rest();
        await this.talk.connection.close();
        break;
      case "close":
        void this.talk.connection.close();
        break;
      case "end":
        this.talk.end();
        break;
      case "broken":
        this.talk.end(new Error("connection reset"));
        break;
      case "drain":
        this.talk.drain(10_000);
        await this.#go(10);
        await this.#rest();
        break;
      case "drain late":
        this.talk.drain(505);
        await this.#go(10);
        this.talk.check();
        this.talk.advance(505);
        break;
      case "drain, close":
        this.talk.drain(10_000);
        await this.#go(5);
        void this.talk.connection.close();
        break;
    }
    await turn();
    if (this.talk.connection.phase === "closed") {
      this.talk.checkClosed();
      this.talk.channel.deliver(this.talk.notification("now"));
    }
    await this.#settle();
    this.talk.checkEnd();
  }

  async #go(length: number): Promise<void> {
    for (let step = 0; step < length; step += 1) {
      this.talk.check();
      await this.random.pick(wheel)(this);
    }
    this.talk.check();
  }

  /** Lets everything come to its end: the peer answers, handlers finish, there is room. */
  async #rest(): Promise<void> {
    for (let round = 0; round < 30; round += 1) {
      await this.#settle();
      for (const call of this.talk.own.pending) {
        if (call.id !== undefined) this.hear((talk) => talk.answer(call, "result", round));
      }
    }
    this.talk.checkAtRest();
  }

  async #settle(): Promise<void> {
    this.talk.channel.release();
    await turn();
    for (let handler = this.talk.handlers.shift(); handler !== undefined; handler = this.talk.handlers.shift()) {
      this.talk.endHandler(handler, "result");
      await turn();
    }
  }

  /** The peer says something, if it can still be heard. */
  hear(say: (talk: Conversation) => string | undefined): void {
    if (!this.talk.hears) return;
    const frame = say(this.talk);
    if (frame !== undefined) this.talk.channel.deliver(frame);
  }

  call(): void {
    const controller = this.#controller();
    this.talk.call(controller, ...this.#patience());
    this.#keep(controller);
  }

  callTogether(): void {
    const controllers = Array.from({ length: 1 + this.random.below(4) }, () => this.#controller());
    this.talk.callTogether(controllers, ...this.#patience());
    for (const controller of controllers) this.#keep(controller);
  }

  cancelOwn(): void {
    const call = this.#pick(this.talk.own.all);
    const controller = call && this.#controllers.get(call.nonce);
    if (call !== undefined && controller !== undefined) this.talk.cancelOwn(call, controller);
  }

  /** One message that is too deep spoils a whole batch, so `isInBatch` has none. */
  answer(talk: Conversation, isInBatch: boolean): string | undefined {
    const call = this.#pick(this.random.chance(0.8) ? talk.own.pending.filter(({ id }) => id) : talk.own.seen);
    if (call === undefined) return undefined;
    const others = ["failure", "both", isInBatch ? "both" : "too deep"] as const;
    const how = this.random.chance(0.7) ? "result" : this.random.pick(others);
    return talk.answer(call, how, this.random.below(1_000_000));
  }

  answerNobody(talk: Conversation): string {
    const id = this.#pick(talk.own.seen)?.id ?? 1;
    const guess = 1 + this.random.below(3) + Math.max(0, ...talk.own.seen.map((call) => call.id ?? 0));
    const near = [`"${id}"`, `"0x${id}"`, `${id}.5`, "null", "0", `-${id}`, "9007199254740993"];
    return talk.answerNobody(this.random.chance(0.3) ? `${guess}` : this.random.pick(near), this.random.chance(0.8));
  }

  progress(talk: Conversation): string | undefined {
    const call = this.#pick(talk.own.seen);
    return call && !this.#isRelayed(call) ? talk.progress(call) : undefined;
  }

  request(): string {
    return this.talk.request(this.#id(), this.method(), false);
  }

  wrongRequest(talk: Conversation): string {
    const own = this.#pick(talk.own.seen)?.id;
    return talk.wrongRequest(own === undefined ? this.#id() : `${own}`, this.random.chance(0.5));
  }

  /**
   * Several messages of the peer in one frame. Some of its requests have the same id. What decides calls of this side
   * stands in front, because a request behind it may end the connection.
   */
  hearBatch(): void {
    if (!this.talk.hears) return;
    const earlier = this.talk.owed.ids;
    const ids = [`"together ${this.#nextId++}"`, `${this.#nextId++}.25`, `"together ${this.#nextId++}"`];
    const request = (): string => this.talk.request(this.random.pick(ids), this.method(), true);
    const first = [() => this.answer(this.talk, true), () => this.cancel(this.talk, earlier)];
    const then = [request, request, () => this.talk.notification(this.method()), () => this.talk.nonsense()];
    const frames = [...this.#some(first, 3), ...this.#some(then, 5)];
    this.talk.channel.deliver(`[${frames.length === 0 ? request() : frames.join(",")}]`);
  }

  #some(say: readonly (() => string | undefined)[], most: number): readonly string[] {
    return Array.from({ length: this.random.below(most) }, () => this.random.pick(say)()).filter(
      (each) => each !== undefined,
    );
  }

  cancel(talk: Conversation, ids: readonly string[] = talk.owed.ids): string {
    return talk.cancel(this.#pick(ids) ?? "0");
  }

  endHandler(): void {
    const { handlers } = this.talk;
    if (handlers.length > 0) {
      const [handler] = handlers.splice(this.random.below(handlers.length), 1);
      if (handler !== undefined)
        this.talk.endHandler(handler, this.random.pick(["result", "result", "failure"] as const));
    }
  }

  note(): void {
    const handler = this.#pick(this.talk.handlers);
    handler?.exchange.notify("note", { nonce: handler.nonce });
  }

  method(): string {
    if (this.random.chance(0.02)) return "quit";
    return this.random.pick(["now", "later", "later", "heed", "relay", "throw"]);
  }

  /**
   * Mostly a new id, of any kind. One whose answer may wait for room is not used again: whether it is free is known to the other
   * side alone.
   */
  #id(): string {
    for (;;) {
      const id = this.#anyId();
      if (!(this.talk.channel.holds && this.talk.owed.mayAnswer(id))) return id;
    }
  }

  #anyId(): string {
    if (this.random.chance(0.15)) return this.#pick(this.talk.owed.idsOutsideBatches) ?? "0";
    const id = this.random.chance(0.3) ? this.#nextId : this.#nextId++;
    return this.random.pick([`${id}`, `"${id}"`, `${9_007_199_254_740_993n + BigInt(id)}`, `${id}.50`, `-${id}e400`]);
  }

  #isRelayed({ nonce }: OwnCall): boolean {
    return !this.#controllers.has(nonce);
  }

  #controller(): AbortController {
    const controller = new AbortController();
    if (this.random.chance(0.03)) controller.abort();
    return controller;
  }

  /** The call that has just begun with it can be cancelled by it. */
  #keep(controller: AbortController): void {
    const call = this.talk.own.all.find(({ signal }) => signal === controller.signal);
    if (call !== undefined) this.#controllers.set(call.nonce, controller);
  }

  #patience(): [idle: number, total: number] {
    return [100 + this.random.below(20) * 50, 300 + this.random.below(40) * 50];
  }

  #pick<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.random.pick(choices);
  }
}

/** Lets everything that is on its way arrive, without time. */
async function turn(): Promise<void> {
  for (let microtask = 0; microtask < 12; microtask += 1) await Promise.resolve();
}
