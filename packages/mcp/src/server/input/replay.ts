import { isObject, type JsonObject } from "../../base/json.js";
import { markHandled } from "../../base/maybe-promise.js";
import { faultyParams, type RpcError } from "../../jsonrpc/errors.js";
import { maxRounds } from "../../session/input-required.js";
import type { Input } from "./input.js";
import type { ClientRequest, InputRequests, InputResponses } from "./input-request.js";
import { canonical } from "./request-state.js";
import { type InputClient, requireClientCapability } from "./require-client-capability.js";

/** One input request of a call: its fingerprint, and the response if there is one. */
interface Entry {
  readonly question: string;
  readonly answer?: unknown;
}

interface Kept {
  readonly value?: unknown;
}

/** State of a call between its rounds. */
export interface Rounds {
  readonly round: number;
  readonly asked: Readonly<Record<string, Entry>>;
  /** Return values of the work of `once`, by key. An entry without a value means undefined, which JSON cannot represent. */
  readonly once: Readonly<Record<string, Kept>>;
  /** The state that a handler passed to `inputRequired`. */
  readonly state?: unknown;
}

/** One round of a call: what it remembers, and the answers that came with it. */
export interface Round {
  readonly rounds: Rounds;
  /** Only responses to requests of earlier rounds are used. */
  readonly responses: JsonObject;
}

/** The first round of a call. */
export const firstRound: Round = { rounds: { round: 1, asked: {}, once: {} }, responses: {} };

/** Thrown inside a handler at a pending input request. It never leaves the server. */
export class InputPending extends Error {
  override readonly name = "InputPending";

  constructor() {
    super("the client must respond first: rethrow this error");
  }
}

/**
 * Requests input by ending the call: the stateless era. The handler runs again from its start in every round; requests that are
 * answered return at once, the first ones that are not end the round.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export class ReplayInput implements Input {
  readonly #before: Rounds;
  readonly #client: InputClient;
  readonly #asked: Map<string, Entry>;
  readonly #once: Map<string, Kept>;
  readonly #running = new Map<string, Promise<unknown>>();
  /** The requests of earlier rounds that this run has not come to yet. */
  readonly #ahead: Set<string>;
  /** The log messages of this run since it came to one of them. */
  #held: (() => void)[] = [];
  readonly #open = new Map<string, ClientRequest>();
  /** Errors of input requests of this round that could not be made. */
  readonly #refusals = new Set<unknown>();
  #state: unknown;

  constructor({ rounds: before, responses }: Round, client: InputClient) {
    this.#before = before;
    this.#client = client;
    this.#once = new Map(Object.entries(before.once));
    this.#state = before.state;
    this.#ahead = new Set(Object.keys(before.asked));
    this.#asked = new Map(
      Object.entries(before.asked).map(([key, entry]) => {
        const isNew = !("answer" in entry) && Object.hasOwn(responses, key);
        return [key, isNew ? { ...entry, answer: responses[key] } : entry];
      }),
    );
  }

  /** The input requests that end this round; empty if the handler finished. */
  get open(): ReadonlyMap<string, ClientRequest> {
    return this.#open;
  }

  /**
   * Whether a handler that threw this has stopped at an open question. It has, whatever it made of the error that was
   * thrown at it, unless what it passes on is the reason why another question could not be asked.
   */
  isStoppedBy(error: unknown): boolean {
    return this.#open.size > 0 && !this.#refusals.has(error);
  }

  /** Resolves when all work of `once` has ended: a value that is not there yet would be lost, and its work done again. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /**
   * Sends a log message. One that comes before a request of an earlier round is held: that round has sent it, so it is dropped when
   * this run comes to the request, and sent if the run ends without it. What is too much to hold is sent, perhaps again.
   */
  log(send: () => void): void {
    if (this.#ahead.size === 0 || this.#held.length >= mostHeld) send();
    else this.#held.push(send);
  }

  /** Sends the log messages that no earlier round has sent. */
  sendHeld(): void {
    for (const send of this.#held.splice(0)) send();
  }

  /** The responses so far, for a handler that requests input by returning, which comes to no request a second time. */
  get answers(): InputResponses {
    this.#ahead.clear();
    this.sendHeld();
    return Object.fromEntries(
      [...this.#asked].flatMap(([key, entry]) => ("answer" in entry ? [[key, entry.answer]] : [])),
    );
  }

  /** The state for the next round. @throws Error for a handler that exceeds the maximum of rounds */
  get next(): Rounds {
    if (this.#before.round >= maxRounds) throw new Error(tooManyRounds);
    return {
      round: this.#before.round + 1,
      asked: Object.fromEntries(this.#asked),
      once: Object.fromEntries(this.#once),
      ...(this.#state === undefined ? {} : { state: this.#state }),
    };
  }

  request(questions: InputRequests): Promise<InputResponses> {
    return markHandled(this.#ask(questions));
  }

  async #ask(questions: InputRequests): Promise<InputResponses> {
    this.require(questions); // Synchronously: requests that a handler makes before it awaits one belong to the same round.
    if (Object.keys(questions).some((key) => this.#open.has(key))) {
      await othersAsked();
      throw new InputPending();
    }
    return Object.fromEntries(Object.keys(questions).map((key) => [key, this.#asked.get(key)?.answer]));
  }

  /**
   * Records input requests; those without a response end the round.
   * @throws RpcError for a missing client capability; Error for a handler that reuses a key for another request
   */
  require(questions: InputRequests, state: unknown = this.#state): void {
    try {
      requireClientCapability(questions, this.#client);
      for (const [key, question] of Object.entries(questions)) {
        const asked = this.#asked.get(key)?.question;
        if (asked !== undefined && asked !== fingerprint(question)) throw new Error(changedRequest(key));
      }
    } catch (error) {
      this.#refusals.add(error);
      throw error;
    }
    this.#state = state;
    for (const [key, question] of Object.entries(questions)) {
      if (this.#ahead.delete(key)) this.#held = [];
      const entry = this.#asked.get(key) ?? { question: fingerprint(question) };
      this.#asked.set(key, entry);
      if (!("answer" in entry)) this.#open.set(key, question);
    }
  }

  once(key: string, work: () => unknown): Promise<unknown> {
    const kept = this.#once.get(key);
    if (kept !== undefined) return Promise.resolve(kept.value);
    const known = this.#running.get(key) ?? markHandled(this.#runOnce(key, work));
    this.#running.set(key, known);
    return known;
  }

  async #runOnce(key: string, work: () => unknown): Promise<unknown> {
    const value = await work();
    this.#once.set(key, { value });
    return value;
  }
}

/** The maximum number of log messages that are held. */
const mostHeld = 1_000;

/** A handler that exceeds the maximum of rounds. */
export const tooManyRounds: string = `a call may request input in at most ${maxRounds} rounds`;

function changedRequest(key: string): string {
  return (
    `the input request ${JSON.stringify(key)} differs from that of the previous round: a handler runs again in each round, ` +
    "and must make the same requests. Put values that may differ (time, random numbers, external state) into ctx.once(), " +
    "and give concurrent requests a `key`"
  );
}

/** Turns of the microtask queue: each async function between an input request and its `await` takes up to three of them. */
const turnsToWait = 30;

/**
 * Lets the questions beside an open one be asked before it stops the handler, and those that cannot be asked fail first: of
 * `Promise.all` the first rejection counts, and a person is not bothered for a call that cannot succeed.
 */
async function othersAsked(): Promise<void> {
  for (let turn = 0; turn < turnsToWait; turn += 1) await Promise.resolve();
}

/**
 * Detects a handler that sends a different request at the same position. FNV-1a with 32 bits suffices: the state is encrypted, so a
 * client cannot look for collisions.
 */
function fingerprint({ method, params }: ClientRequest): string {
  let hash = 0x811c9dc5;
  for (const character of canonical([method, params])) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}

/** −32602 for a state that does not open, without saying which of the reasons it is: it may be an attack. */
export function refusedState(): RpcError {
  return faultyParams({
    path: "/requestState",
    message:
      "is not a state of this call, was used before, has expired, or is from a process with other secrets: make the call again without it",
  });
}

/** The member of params that holds answers. @throws RpcError −32602 if it is not an object */
export function readResponses({ inputResponses = {} }: JsonObject): JsonObject {
  if (isObject(inputResponses)) return inputResponses;
  throw faultyParams({ path: "/inputResponses", message: "must be an object" });
}
