import type { Clock } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import type { JsonObject } from "../../base/json.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import type { Closed, ConnectionState } from "../../jsonrpc/connection.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import { guarded, reporterOf } from "../../jsonrpc/hooks.js";
import type { Reporter } from "../../jsonrpc/report.js";
import type { NotificationListener } from "../../jsonrpc/routing.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { steadyClock } from "../../jsonrpc/steady-clock.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import type { Middleware } from "../../session/middleware.js";
import {
  type ClientSession,
  type ServerDescription,
  type ServerHint,
  type SessionCall,
  SessionExpired,
} from "./client-session.js";
import { type OpenOptions, randomOf, type SessionOpener } from "./open-session.js";

/** Milliseconds that a session must last for the next one to be opened without a pause. */
const stableTime = 10_000;

/** Milliseconds before the second reconnect after a short session; doubled for each further one. */
const firstPause = 1_000;
const longestPause = 30_000;

/**
 * A session that reconnects: when the connection is lost, the next call opens a new session. Calls that were in flight
 * have failed, because the client cannot know whether the server has run them. It also has the settings that all parts of
 * a client share.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/stdio#shutdown
 */
export class ReconnectingSession implements ClientSession {
  /** Aborted when the client will not reconnect. */
  readonly ended: AbortSignal;
  /** Resolves when the session is over. Never rejects. */
  readonly closed: Promise<Closed>;
  readonly clock: Clock;
  readonly report: Reporter;
  /** Returns a number from 0 to 1, to spread the reconnections of many clients. */
  readonly random: () => number;
  /** Milliseconds that a call waits without any message of the server. */
  readonly timeout: number;
  /** Milliseconds that a call waits for its result. */
  readonly totalTimeout: number;
  /** Whether a lost session is opened again. */
  readonly reopens: boolean;
  readonly #ended = new AbortController();
  readonly #closed = deferred<Closed>();
  readonly #open: SessionOpener;
  readonly #options: OpenOptions;
  readonly #listeners: Set<NotificationListener>;
  readonly #middlewares: Middleware<CallOptions>[] = [];
  #current: ClientSession;
  #opening: Promise<ClientSession> | undefined;
  #level: LoggingLevel | undefined;
  #openedAt: number;
  /** Consecutive sessions that were short or could not be opened. */
  #short = 0;

  /**
   * Opens the first session. `given.onNotification` is called after all listeners.
   * @param reopens whether `open` also opens a further session when the connection is lost
   * @throws as `open`
   */
  static async open(open: SessionOpener, given: OpenOptions, reopens: boolean): Promise<ReconnectingSession> {
    const report = reporterOf(given.report);
    const listeners = new Set<NotificationListener>();
    const onNotification: NotificationListener = (method, params) => {
      // Those of the library await this one; it belongs to their call.
      const isOfCall = method === notifications.acknowledged;
      // The listener of the program comes last, when all internal state is up to date.
      const last = given.onNotification === undefined || isOfCall ? [] : [given.onNotification];
      // An error of one listener does not affect the others.
      for (const listener of [...listeners, ...last]) guarded("onNotification", () => listener(method, params), report);
    };
    const options: OpenOptions = { ...given, random: randomOf(given), onNotification };
    return new ReconnectingSession(await open(options), open, options, listeners, reopens);
  }

  private constructor(
    first: ClientSession,
    open: SessionOpener,
    options: OpenOptions,
    listeners: Set<NotificationListener>,
    reopens: boolean,
  ) {
    this.report = reporterOf(options.report);
    this.clock = steadyClock(options.clock, this.report);
    this.random = randomOf(options);
    this.timeout = options.timeout ?? defaultTimeouts.idle;
    this.totalTimeout = options.totalTimeout ?? defaultTimeouts.total;
    this.#openedAt = this.clock.now();
    this.ended = this.#ended.signal;
    this.closed = this.#closed.promise;
    this.#current = first;
    this.#listeners = listeners;
    this.#open = open;
    this.#options = options;
    this.reopens = reopens;
    if (!reopens) void first.connection.closed.then((closed) => this.#end(closed));
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
    const call = (session: ClientSession): Promise<JsonObject> => session.call(method, params, options);
    if (!(opened instanceof Promise)) return this.reopens ? this.#retryExpired(opened, call) : call(opened);
    return untilAborted(method, opened, options?.signal).then((reopened) => this.#retryExpired(reopened, call));
  };

  /** Wraps every later request in a middleware, in this session and in those after a reconnect. */
  use(middleware: Middleware<CallOptions>): void {
    this.#current.use(middleware);
    this.#middlewares.push(middleware);
  }

  /** Retries a call that the server rejected because the session had expired, in a new session. */
  async #retryExpired<T>(opened: ClientSession, act: (session: ClientSession) => Promise<T>): Promise<T> {
    try {
      return await act(opened);
    } catch (error) {
      if (!(error instanceof SessionExpired) || !this.reopens) throw error;
      await opened.connection.closed;
      if (this.ended.aborted) throw error;
      return act(await this.#usable());
    }
  }

  /** Runs `act` with the current session, which is reopened if necessary. */
  async act<T>(act: (session: ClientSession) => Promise<T>): Promise<T> {
    return this.#retryExpired(await this.#usable(), act);
  }

  notify(method: string, params?: JsonObject): void {
    this.#current.notify(method, params);
  }

  /**
   * Adds a listener of the server notifications that belong to no call, in any session; the returned function removes it.
   * Listeners are called in the order of registration.
   */
  listen(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    await this.act(async (session) => {
      if (this.ended.aborted) throw new LocalError("closed", `${methods.setLevel}: the session is over`);
      await session.setLogLevel(level, options);
    });
    this.#level = level;
  }

  /** Closes the session and does not reopen it; resolves when its connection is closed. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#current.close(); // A reopening waits for this session to close, and then fails.
    await this.#opening?.catch(() => undefined); // The caller that reconnects gets the error.
    await this.#current.close();
    this.#end(await this.#current.connection.closed);
  }

  #end(closed: Closed): void {
    this.#ended.abort();
    this.#closed.resolve(closed);
  }

  #usable(): ClientSession | Promise<ClientSession> {
    const isLost = this.#current.connection.phase !== "open" && !this.ended.aborted;
    if (!isLost || !this.reopens) return this.#current;
    this.#opening ??= this.#reconnect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #reconnect(): Promise<ClientSession> {
    await this.#current.close(); // So that no two processes of one server run at the same time.
    await this.#backOff();
    try {
      const { revision, serverHint } = this.#current;
      this.#current = await this.#open({ ...this.#options, revision, serverHint, signal: this.ended });
      for (const middleware of this.#middlewares) this.#current.use(middleware);
      this.#openedAt = this.clock.now();
    } catch (error) {
      throw this.ended.aborted ? new LocalError("closed", "the client was closed", { cause: error }) : error;
    }
    await this.#restoreLevel(this.#current);
    return this.#current;
  }

  /** Pauses before a reconnect to a server that ends each session early, or cannot be reached. */
  async #backOff(): Promise<void> {
    this.#short = this.clock.now() - this.#openedAt < stableTime ? this.#short + 1 : 0;
    this.#openedAt = Number.POSITIVE_INFINITY; // An attempt that fails counts as a short session.
    if (this.#short < 2) return;
    const longest = Math.min(longestPause, firstPause * 2 ** (this.#short - 2));
    await sleep(this.clock, longest * (1 - this.random() / 2), this.ended);
  }

  async #restoreLevel(session: ClientSession): Promise<void> {
    try {
      if (this.#level !== undefined) await session.setLogLevel(this.#level);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // A server without this log level can still be called.
    }
  }
}

/** Waits for the value, or until the signal aborts. @throws LocalError `cancelled` */
export function untilAborted<Value>(
  what: string,
  value: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return value;
  return new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new LocalError("cancelled", `${what}: cancelled by the caller`, { cause: signal.reason }));
    void value.then(resolve, reject).finally(whenAborted(signal, cancel));
  });
}
