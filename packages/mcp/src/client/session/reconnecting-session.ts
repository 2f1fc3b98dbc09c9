import type { Clock } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import type { Closed, ConnectionState } from "../../jsonrpc/connection.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import { sleep } from "../../session/sleep.js";
import type { ClientSession, ServerDescription, ServerHint, SessionCall, SessionCalls } from "./client-session.js";
import { SessionExpired } from "./session-expired.js";
import { untilAborted } from "./until-aborted.js";

/** Milliseconds that a session must last for the next one to be opened without a pause. */
const stableTime = 10_000;

/** Milliseconds before the second reconnect after a short session; doubled for each further one. */
const firstPause = 1_000;
const longestPause = 30_000;

/** Clock and randomness for the pauses between attempts. */
export interface RetryTiming {
  readonly clock: Clock;
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. */
  readonly random: () => number;
}

/** Opens a new session; aborted by the signal. */
export type Reopen = (revision: Revision, serverHint: ServerHint, signal: AbortSignal) => Promise<ClientSession>;

/**
 * A session that reconnects: when the connection is lost, the next call opens a new session. Calls that were in flight
 * have failed, because the client cannot know whether the server has run them.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/stdio#shutdown
 */
export class ReconnectingSession implements SessionCalls {
  /** Aborted when the client will not reconnect. */
  readonly ended: AbortSignal;
  /** Resolves when the conversation is over. Never rejects. */
  readonly closed: Promise<Closed>;
  readonly #over = new AbortController();
  readonly #closed = deferred<Closed>();
  readonly #again: Reopen | undefined;
  #current: ClientSession;
  #opening: Promise<ClientSession> | undefined;
  #level: LoggingLevel | undefined;
  readonly #pacing: RetryTiming;
  #openedAt: number;
  /** Consecutive sessions that were short or could not be opened. */
  #short = 0;

  /** @param again opens the conversation again; without it, the first one is all there is */
  constructor(first: ClientSession, pacing: RetryTiming, again?: Reopen) {
    this.#pacing = pacing;
    this.#openedAt = pacing.clock.now();
    this.ended = this.#over.signal;
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

  get serverHint(): ServerHint {
    return this.#current.serverHint;
  }

  get connection(): ConnectionState {
    return this.#current.connection;
  }

  readonly call: SessionCall = (method, params, options) => {
    const opened = this.#usable();
    const call = (current: ClientSession): Promise<JsonObject> => current.call(method, params, options);
    if (!(opened instanceof Promise)) return this.#again === undefined ? call(opened) : this.#takenBy(opened, call);
    return untilAborted(method, opened, options?.signal).then((reopened) => this.#takenBy(reopened, call));
  };

  /** Retries a call that the server rejected because the session had expired, in a new session. */
  async #takenBy<T>(opened: ClientSession, act: (opened: ClientSession) => Promise<T>): Promise<T> {
    try {
      return await act(opened);
    } catch (error) {
      if (!(error instanceof SessionExpired) || this.#again === undefined) throw error;
      await opened.connection.closed;
      if (this.ended.aborted) throw error;
      return act(await this.open());
    }
  }

  /** Does something in the conversation as it is at the moment, opened again if it must be. */
  async act<T>(act: (opened: ClientSession) => Promise<T>): Promise<T> {
    return this.#takenBy(await this.open(), act);
  }

  /** The conversation as it is at the moment, opened again if it must be. */
  async open(): Promise<ClientSession> {
    return this.#usable();
  }

  notify(method: string, params?: JsonObject): void {
    this.#current.notify(method, params);
  }

  async setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    await this.act(async (opened) => {
      if (this.ended.aborted) throw new LocalError("closed", `${methods.setLevel}: the conversation is over`);
      await opened.setLogLevel(level, options);
    });
    this.#level = level;
  }

  /** Ends it for good; resolves when its transport is gone. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#current.close(); // If it is opened again at the moment, what that waits for comes to its end.
    await this.#opening?.catch(() => undefined); // The caller that reconnects gets the error.
    await this.#current.close();
    this.#end(await this.#current.connection.closed);
  }

  #end(closed: Closed): void {
    this.#over.abort();
    this.#closed.resolve(closed);
  }

  #usable(): ClientSession | Promise<ClientSession> {
    const isGone = this.#current.connection.phase !== "open" && !this.ended.aborted;
    if (!isGone || this.#again === undefined) return this.#current;
    this.#opening ??= this.#reopen(this.#again).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #reopen(again: Reopen): Promise<ClientSession> {
    await this.#current.close(); // Of a process that ends, no two are there at the same time.
    await this.#backOff();
    try {
      this.#current = await again(this.revision, this.serverHint, this.ended);
      this.#openedAt = this.#pacing.clock.now();
    } catch (error) {
      throw this.ended.aborted ? new LocalError("closed", "the client was closed", { cause: error }) : error;
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
    await sleep(clock, longest * (1 - random() / 2), this.ended);
  }

  async #restoreLevel(opened: ClientSession): Promise<void> {
    try {
      if (this.#level !== undefined) await opened.setLogLevel(this.#level);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // A server that has no such log any more can be called all the same.
    }
  }
}
