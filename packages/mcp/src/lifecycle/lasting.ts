import type { Clock } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import type { Closed, ConnectionState } from "../jsonrpc/connection.js";
import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { NotTaken } from "./not-taken.js";
import type { CarriedConversation, Opened, OpenedCall, Prior, ServerDescription } from "./opened.js";
import { pause } from "./pause.js";
import { whileWanted } from "./while-wanted.js";

/** Milliseconds that a conversation has to last for the next one to be opened at once. */
const stableTime = 10_000;

/** Milliseconds before the second conversation in a row that follows a short one; doubled for each further one. */
const firstPause = 1_000;
const longestPause = 30_000;

/** What the pauses between attempts need. */
export interface Pacing {
  readonly clock: Clock;
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. */
  readonly random: () => number;
}

/** Opens a conversation again, as long as the signal is not aborted. */
export type Again = (revision: Revision, prior: Prior, signal: AbortSignal) => Promise<CarriedConversation>;

/**
 * A conversation that outlives its carrier: when that breaks, the next call opens another one. Calls that were under way
 * have failed, because nobody knows whether the server has done what they asked for.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/stdio#shutdown
 */
export class LastingConversation implements Opened {
  /** Aborted when nothing will be opened again. */
  readonly over: AbortSignal;
  /** Resolves when the conversation is over. Never rejects. */
  readonly closed: Promise<Closed>;
  readonly #over = new AbortController();
  readonly #closed = deferred<Closed>();
  readonly #again: Again | undefined;
  #current: CarriedConversation;
  #opening: Promise<CarriedConversation> | undefined;
  #level: LoggingLevel | undefined;
  readonly #pacing: Pacing;
  #openedAt: number;
  /** Conversations in a row that were short, or could not be opened. */
  #short = 0;

  /** @param again opens the conversation again; without it, the first one is all there is */
  constructor(first: CarriedConversation, pacing: Pacing, again?: Again) {
    this.#pacing = pacing;
    this.#openedAt = pacing.clock.now();
    this.over = this.#over.signal;
    this.closed = this.#closed.promise;
    this.#current = first;
    this.#again = again;
    if (again === undefined) void first.connection.closed.then((closed) => this.#end(closed));
  }

  get revision(): Revision {
    return this.#current.revision;
  }

  get server(): ServerDescription {
    return this.#current.server;
  }

  get prior(): Prior {
    return this.#current.prior;
  }

  get connection(): ConnectionState {
    return this.#current.connection;
  }

  readonly call: OpenedCall = (method, params, options) => {
    const opened = this.#usable();
    const call = (current: CarriedConversation): Promise<JsonObject> => current.call(method, params, options);
    if (!(opened instanceof Promise)) return this.#again === undefined ? call(opened) : this.#takenBy(opened, call);
    return whileWanted(method, opened, options?.signal).then((reopened) => this.#takenBy(reopened, call));
  };

  /** What the server has not taken is done once more, in a conversation that it knows. */
  async #takenBy<T>(opened: CarriedConversation, act: (opened: CarriedConversation) => Promise<T>): Promise<T> {
    try {
      return await act(opened);
    } catch (error) {
      if (!(error instanceof NotTaken) || this.#again === undefined) throw error;
      await opened.connection.closed;
      if (this.over.aborted) throw error;
      return act(await this.open());
    }
  }

  /** Does something in the conversation as it is at the moment, opened again if it must be. */
  async act<T>(act: (opened: CarriedConversation) => Promise<T>): Promise<T> {
    return this.#takenBy(await this.open(), act);
  }

  /** The conversation as it is at the moment, opened again if it must be. */
  async open(): Promise<CarriedConversation> {
    return this.#usable();
  }

  notify(method: string, params?: JsonObject): void {
    this.#current.notify(method, params);
  }

  async setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    await this.act(async (opened) => {
      if (this.over.aborted) throw new LocalError("closed", `${methods.setLevel}: the conversation is over`);
      await opened.setLogLevel(level, options);
    });
    this.#level = level;
  }

  /** Ends it for good; resolves when its carrier is gone. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#current.close(); // If it is opened again at the moment, what that waits for comes to its end.
    await this.#opening?.catch(() => undefined); // Whoever asked for it hears of it.
    await this.#current.close();
    this.#end(await this.#current.connection.closed);
  }

  #end(closed: Closed): void {
    this.#over.abort();
    this.#closed.resolve(closed);
  }

  #usable(): CarriedConversation | Promise<CarriedConversation> {
    const isGone = this.#current.connection.phase !== "open" && !this.over.aborted;
    if (!isGone || this.#again === undefined) return this.#current;
    this.#opening ??= this.#reopen(this.#again).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #reopen(again: Again): Promise<CarriedConversation> {
    await this.#current.close(); // Of a process that ends, no two are there at the same time.
    await this.#backOff();
    try {
      this.#current = await again(this.revision, this.prior, this.over);
      this.#openedAt = this.#pacing.clock.now();
    } catch (error) {
      throw this.over.aborted ? new LocalError("closed", "the client was closed", { cause: error }) : error;
    }
    await this.#restoreLevel(this.#current);
    return this.#current;
  }

  /** A server that ends as soon as it is called, or cannot be reached, is not opened again and again without a pause. */
  async #backOff(): Promise<void> {
    const { clock, random } = this.#pacing;
    this.#short = clock.now() - this.#openedAt < stableTime ? this.#short + 1 : 0;
    this.#openedAt = Number.POSITIVE_INFINITY; // An attempt that fails counts as a short one.
    if (this.#short < 2) return;
    const longest = Math.min(longestPause, firstPause * 2 ** (this.#short - 2));
    await pause(clock, longest * (1 - random() / 2), this.over);
  }

  async #restoreLevel(opened: CarriedConversation): Promise<void> {
    try {
      if (this.#level !== undefined) await opened.setLogLevel(this.#level);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // A server that has no such log any more can be called all the same.
    }
  }
}
