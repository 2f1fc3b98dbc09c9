import { invalidParams, type RpcError } from "../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { type Asked, requireAnswerable } from "./answerable.js";
import type { Input } from "./input.js";
import type { Answers, Question, Questions } from "./question.js";
import { canonical } from "./state-seal.js";

/** One question of a call: which it was, and the answer if there is one. */
interface Entry {
  readonly question: string;
  readonly answer?: unknown;
}

/** What a call remembers from one round to the next. */
export interface Rounds {
  readonly round: number;
  readonly asked: Readonly<Record<string, Entry>>;
  readonly once: Readonly<Record<string, unknown>>;
  /** What a handler keeps that asks by returning `inputRequired`. */
  readonly state?: unknown;
}

/** A call that was not made before. */
export const firstRound: Rounds = { round: 1, asked: {}, once: {} };

/** More rounds than a person answers, and fewer than a loop needs to hurt. */
export const maxRounds = 10;

/** Thrown out of a handler at a question that is still open. It never leaves the server. */
export class QuestionOpen extends Error {
  override readonly name = "QuestionOpen";

  constructor() {
    super("the client has to answer first: let this error pass");
  }
}

/**
 * Asks by ending the call: the stateless era. The handler is run again from the start in every round; questions that are
 * answered return at once, the first ones that are not end the round.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export class ReplayInput implements Input {
  readonly #before: Rounds;
  readonly #client: Asked;
  readonly #asked: Map<string, Entry>;
  readonly #once: Map<string, unknown>;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #open = new Map<string, Question>();
  #state: unknown;

  /** @param responses what came with the call; only answers to questions of the rounds before count */
  constructor(before: Rounds, responses: JsonObject, client: Asked) {
    this.#before = before;
    this.#client = client;
    this.#once = new Map(Object.entries(before.once));
    this.#state = before.state;
    this.#asked = new Map(
      Object.entries(before.asked).map(([key, entry]) => {
        const isNew = !("answer" in entry) && Object.hasOwn(responses, key);
        return [key, isNew ? { ...entry, answer: responses[key] } : entry];
      }),
    );
  }

  /** The questions that end this round; empty if the handler came to its end. */
  get open(): ReadonlyMap<string, Question> {
    return this.#open;
  }

  /** The answers so far, for a handler that asks by returning. */
  get answers(): Answers {
    return Object.fromEntries(
      [...this.#asked].flatMap(([key, entry]) => ("answer" in entry ? [[key, entry.answer]] : [])),
    );
  }

  /** What the next round has to know. */
  get next(): Rounds {
    return {
      round: this.#before.round + 1,
      asked: Object.fromEntries(this.#asked),
      once: Object.fromEntries(this.#once),
      ...(this.#state === undefined ? {} : { state: this.#state }),
    };
  }

  ask(questions: Questions): Promise<Answers> {
    try {
      this.require(questions);
    } catch (error) {
      this.#open.clear(); // What cannot be asked is the outcome, whatever else is open.
      return handled(Promise.reject(error));
    }
    if (Object.keys(questions).some((key) => this.#open.has(key))) return handled(Promise.reject(new QuestionOpen()));
    return Promise.resolve(
      Object.fromEntries(Object.keys(questions).map((key) => [key, this.#asked.get(key)?.answer])),
    );
  }

  /**
   * Notes questions; those without an answer end the round.
   * @throws Error for a handler that asks something else under a key than before, or for ever
   */
  require(questions: Questions, state: unknown = this.#state): void {
    requireAnswerable(questions, this.#client);
    this.#state = state;
    for (const [key, question] of Object.entries(questions)) {
      const text = fingerprint(question);
      const entry = this.#asked.get(key);
      if (entry !== undefined && entry.question !== text) throw new Error(changedQuestion(key));
      if (entry === undefined) this.#asked.set(key, { question: text });
      if (entry === undefined || !("answer" in entry)) this.#open.set(key, question);
    }
    if (this.#open.size > 0 && this.#before.round >= maxRounds) throw new Error(endlessRounds);
  }

  once(key: string, work: () => unknown): Promise<unknown> {
    if (this.#once.has(key)) return Promise.resolve(this.#once.get(key));
    const known = this.#running.get(key) ?? this.#runOnce(key, work);
    this.#running.set(key, known);
    return known;
  }

  async #runOnce(key: string, work: () => unknown): Promise<unknown> {
    const value = (await work()) ?? null; // JSON has no word for undefined, and the next round gets it from JSON.
    this.#once.set(key, value);
    return value;
  }
}

/** A handler that would ask for ever. */
export const endlessRounds: string = `a call may ask in at most ${maxRounds} rounds`;

function changedQuestion(key: string): string {
  return (
    `the question ${JSON.stringify(key)} is not the one that was asked in the round before: a handler that asks is run ` +
    "again, and must ask the same. Put what may differ (time, random numbers, outside state) into ctx.once()"
  );
}

/** A handler need not await a question that ends its round. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Enough to notice that a handler asks something else; the state is sealed, so nobody can aim at it. FNV-1a, 32 bits. */
function fingerprint({ method, params }: Question): string {
  let hash = 0x811c9dc5;
  for (const character of canonical([method, params])) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}

/** −32602 for a state that does not open, without a word on why: it may be an attack. */
export function refusedState(): RpcError {
  return invalidParams("Invalid params", [
    { path: "/requestState", message: "is not a state of this call, or has expired: make the call again without it" },
  ]);
}

/** The member of params that holds answers. @throws RpcError −32602 if it is not an object */
export function readResponses({ inputResponses = {} }: JsonObject): JsonObject {
  if (isObject(inputResponses)) return inputResponses;
  throw invalidParams("Invalid params", [{ path: "/inputResponses", message: "must be an object" }]);
}
