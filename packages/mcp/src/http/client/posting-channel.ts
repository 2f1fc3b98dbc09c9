import { type Clock, setBackgroundTimer, type Timer } from "../../base/clock.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { OpenOptions } from "../../client/session/open-session.js";
import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import { type MemberTexts, membersOf, membersOfElements } from "../../jsonrpc/codec/scan.js";
import { LocalError, thrownText } from "../../jsonrpc/errors.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { type PeerSettings, peerSettings } from "../../jsonrpc/peer-settings.js";
import { methods } from "../../protocol/methods.js";
import type { HttpTarget } from "./http-target.js";

/** Options of an HTTP channel. */
export type HttpTransportOptions = Pick<OpenOptions, "clock" | "lenient" | "limits" | "random" | "report">;

/** The number of bytes read of a response without content. */
export const emptyBytes: number = 64 * 1024;

/** A channel whose outgoing frames are POSTs, each with an HTTP response of its own. */
export abstract class PostingChannel implements Channel {
  protected readonly target: HttpTarget;
  protected readonly settings: PeerSettings;
  protected receiver: ChannelReceiver | undefined;
  /** Running POSTs, with promises for their end. */
  protected readonly posts: Map<SentPost, Promise<void>> = new Map();
  readonly #order = new PostQueue();
  #resumed: Deferred<void> | undefined;

  constructor(target: HttpTarget, options: HttpTransportOptions) {
    this.target = target;
    this.settings = peerSettings({ ...options, limits: { ...clientLimits, ...options.limits } });
  }

  get waiting(): Promise<unknown> | undefined {
    return this.target.waiting;
  }

  /** While reading is paused, a promise that resolves when it may continue. */
  protected get resumed(): Promise<void> | undefined {
    return this.#resumed?.promise;
  }

  open(receiver: ChannelReceiver): void {
    this.receiver = receiver;
  }

  send(frame: string): void | Promise<void> {
    return this.post(new SentPost(frame, this.settings.clock), frame);
  }

  /** Sends a POST in its turn. */
  protected post(post: SentPost, frame: string): void | Promise<void> {
    const { over, room } = this.#order.add(post, () => this.#post(post, frame));
    this.posts.set(post, over);
    return room;
  }

  pause(): void {
    this.#resumed ??= deferred();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  abstract close(): Promise<void>;

  /** Sends a POST and reads its response. What it rejects with is reported as the failure of the POST. */
  protected abstract exchange(post: SentPost, body: string): Promise<void>;

  /** Resolves when the POST is over. Never rejects. */
  async #post(post: SentPost, body: string): Promise<void> {
    try {
      await this.exchange(post, body);
    } catch (error) {
      this.lose(post, post.errorOf(error));
    } finally {
      post.end();
      this.posts.delete(post);
    }
  }

  /** Reports a failed POST to the callers of its requests. */
  protected lose(post: SentPost, error: Error): void {
    if (post.signal.aborted) return;
    if (post.requests.length === 0) this.settings.report({ kind: "fault", method: post.what, error });
    for (const id of post.open) this.receiver?.lost?.(Number(id), error);
    post.stop();
  }
}

/** The number of waiting POSTs above which senders must wait. */
const maxWaiting = 64;

/**
 * The order of POSTs. A server may process them in any order, so frames that later ones depend on are awaited:
 * `initialize` and notifications. Frames after any other request do not wait for it.
 * Responses never wait: the server may need one before it accepts a notification.
 */
class PostQueue {
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #room: Deferred<void> | undefined;

  /**
   * Sends a POST in its turn.
   * @param make must not reject
   * @returns promises for its end and, if senders must wait, for room
   */
  add(post: SentPost, make: () => Promise<void>): { readonly over: Promise<void>; readonly room?: Promise<void> } {
    if (post.isAnswer) return this.#held(Promise.resolve().then(make));
    const over = this.#turn.then(make);
    if (post.requests.length > 0 && post.method !== methods.initialize) return { over };
    this.#turn = Promise.race([over, post.answered]);
    return this.#held(over);
  }

  #held(over: Promise<void>): { readonly over: Promise<void>; readonly room?: Promise<void> } {
    this.#waiting += 1;
    void over.then(() => {
      this.#waiting -= 1;
      if (this.#waiting > maxWaiting / 2) return;
      this.#room?.resolve();
      this.#room = undefined;
    });
    if (this.#waiting < maxWaiting) return { over };
    this.#room ??= deferred();
    return { over, room: this.#room.promise };
  }
}

/** Milliseconds after the last response until this side closes a stream that stays open. */
const linger = 1_000;

/** Milliseconds for the server to accept a notification or a response. */
const acceptance = 30_000;

/** A sent frame, and the responses that it awaits. */
export class SentPost {
  /** A description of the frame, for error messages. */
  readonly what: string;
  /** Undefined for a response and for a batch. */
  readonly method: string | undefined;
  /** The ids of its requests, as JSON literals: `1` and `"1"` differ. */
  readonly requests: readonly string[];
  /** Whether it is a response to a request of the server. */
  readonly isAnswer: boolean;
  /** Resolves when every request has a response or was cancelled. */
  readonly answered: Promise<void>;
  /** True once the HTTP response has started, so the server has accepted the frame. */
  isTaken = false;
  readonly #answered = deferred<void>();
  readonly #clock: Clock;
  readonly #open: Set<string>;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;

  /** @param frame a frame of this side */
  constructor(frame: string, clock: Clock) {
    const messages = messagesOf(frame);
    const method = frame.startsWith("[") ? undefined : messages[0]?.get("method");
    this.method = method === undefined ? undefined : String(JSON.parse(method));
    this.requests = messages.flatMap((message) => (message.has("method") ? idOf(message) : []));
    this.what = nameOf(this.method, this.requests);
    this.isAnswer = method === undefined && this.requests.length === 0;
    this.answered = this.#answered.promise;
    this.#clock = clock;
    this.#open = new Set(this.requests);
  }

  /** Aborts when no more responses are awaited. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The ids of requests without a response. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Starts the acceptance timeout of notifications and responses. Requests have their own timeout. */
  expectAcceptance(late: (error: LocalError) => void): void {
    if (this.requests.length > 0) return;
    const error = new LocalError("timeout", `${this.what}: the server has not accepted it within ${acceptance} ms`);
    this.#timer = setBackgroundTimer(this.#clock, () => late(error), acceptance);
  }

  /** Records a response. */
  answer(request: string): void {
    if (!this.#open.delete(request) || this.#open.size > 0) return;
    this.#answered.resolve();
    this.#timer = setBackgroundTimer(this.#clock, () => this.stop(), linger);
  }

  /** Stops waiting for a response. */
  forget(request: string): void {
    if (this.#open.delete(request) && this.#open.size === 0) this.stop();
  }

  stop(): void {
    this.#stop.abort();
    this.end();
  }

  /** Marks the POST as over. */
  end(): void {
    this.#answered.resolve();
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
  }

  /** The error to report for a failure. */
  errorOf(thrown: unknown): LocalError {
    if (thrown instanceof LocalError) return thrown;
    return new LocalError("closed", `${this.what}: the HTTP response broke off: ${thrownText(thrown)}`, {
      cause: thrown,
    });
  }
}

function nameOf(method: string | undefined, [id]: readonly string[]): string {
  if (method === undefined) return id === undefined ? "an answer" : "a batch";
  return id === undefined ? method : `${method} (id ${id})`;
}

/** The ids of the responses in a received frame. */
export function answeredIn(frame: string): readonly string[] {
  return messagesOf(frame).flatMap((message) => (message.has("method") ? [] : idOf(message)));
}

function messagesOf(frame: string): readonly MemberTexts[] {
  return frame.trimStart().startsWith("[") ? membersOfElements(frame) : [membersOf(frame)];
}

function idOf(message: MemberTexts): readonly string[] {
  const id = message.get("id");
  return id === undefined ? [] : [id];
}
