import type { Timer } from "../base/clock.js";
import type { InFlight } from "./calls/in-flight.js";
import { type Lossy, type LossyNotification, Outbox } from "./calls/outbox.js";
import type { Channel } from "./channel.js";
import { encodeNotification, encodeRequest } from "./codec/encode.js";
import { HookError } from "./errors.js";
import { answered, guarded, inHook } from "./hooks.js";
import type { Id, Params } from "./message.js";
import type { PeerSettings } from "./peer-settings.js";
import { faultOf } from "./report.js";

interface WaitingFrame {
  readonly frame: string;
  readonly relatedTo: Id | undefined;
  readonly isAnswer: boolean;
}

/** Decides whether and how a queued notification of this side may be lost. */
export type LossyRule = (method: string, params: Params | undefined) => Lossy | undefined;

/**
 * The sending side of a connection. It writes frames in order, queues them while the channel has no room, and pauses reading while
 * the peer does not read, or while it sends too many messages that are refused.
 */
export class Outbound {
  readonly #channel: Channel;
  readonly #settings: PeerSettings;
  readonly #inFlight: InFlight;
  readonly #lossy: LossyRule | undefined;
  /** Called when the channel has failed: the connection must end. */
  readonly #failed: (error: Error) => void;
  /** Called when the channel has room again. */
  readonly #hasRoomAgain: () => void;
  /** Pending while the channel has no room. */
  #blocked: Promise<void> | undefined;
  /** Frames that wait for room; created on first use. */
  #outbox: Outbox<WaitingFrame> | undefined;
  #paused = false;
  /** Runs while reading is paused because the peer has sent too many long messages that were refused. */
  #slowed: Timer | undefined;

  constructor(
    channel: Channel,
    settings: PeerSettings,
    inFlight: InFlight,
    lossy: LossyRule | undefined,
    failed: (error: Error) => void,
    hasRoomAgain: () => void,
  ) {
    this.#channel = channel;
    this.#settings = settings;
    this.#inFlight = inFlight;
    this.#lossy = lossy;
    this.#failed = failed;
    this.#hasRoomAgain = hasRoomAgain;
  }

  /** Nothing waits to be written. */
  get isEmpty(): boolean {
    return this.#outbox === undefined || this.#outbox.isEmpty;
  }

  /** In addition, the channel has room, and nothing slows down the peer. */
  get isAtRest(): boolean {
    return this.isEmpty && this.#blocked === undefined && this.#slowed === undefined;
  }

  /** False while so many answers wait for a peer that does not read that none of its requests is begun. */
  get mayAnswer(): boolean {
    return this.#outbox === undefined || this.#outbox.length < mostAnswersWaiting;
  }

  /** Pending while the channel has no room. A call of this side waits for it before it is serialised; reading goes on. */
  blocked(): Promise<void> | undefined {
    this.#balance();
    return this.#blocked;
  }

  /** Resolves when nothing waits for the channel. */
  async unblocked(): Promise<void> {
    while (this.#blocked !== undefined) await this.#blocked;
  }

  /** Resolves when there is room for what belongs to that request. Never rejects: what fails is reported. */
  async drained(relatedTo: Id | undefined): Promise<void> {
    try {
      await inHook("Channel.drained", () => this.#channel.drained?.(relatedTo) ?? this.unblocked());
    } catch (error) {
      this.#settings.report(faultOf("Channel.drained", error));
    }
  }

  /** While the channel has no room, answers wait: the peer has asked for them. Of other frames the channel judges. */
  write(frame: string, relatedTo?: Id, isAnswer = false, lossy?: LossyNotification): void {
    if (this.#inFlight.phase === "closed") return;
    if (this.#blocked !== undefined && (isAnswer || lossy !== undefined)) {
      this.#outbox ??= new Outbox(mostLossyWaiting, this.#settings.budget, (method) =>
        this.#settings.report({ kind: "dropped", method, unread: true }),
      );
      this.#outbox.push({ frame, relatedTo, isAnswer }, lossy);
      this.#balance();
    } else {
      this.#outbox?.flush(this.#sendWaiting, always);
      this.#send(frame, relatedTo, isAnswer, lossy);
    }
  }

  /** @throws LocalError `refused` when the params are not JSON */
  notify(method: string, params: Params | undefined): void {
    this.write(encodeNotification(method, params), undefined, false, this.#lossyOf(method, params));
  }

  /** A notification from inside a handler, which must not fail because of it. */
  notifyRelated(method: string, params: Params | undefined, relatedTo: Id | undefined): void {
    try {
      this.write(encodeRequest(undefined, method, params), relatedTo, false, this.#lossyOf(method, params, relatedTo));
    } catch (error) {
      this.#settings.report({ kind: "fault", method, error });
    }
  }

  /** The peer has cancelled the request, and nothing answers it. */
  unanswered(request: Id): void {
    if (this.#inFlight.phase === "closed") return;
    guarded("Channel.unanswered", () => this.#channel.unanswered?.(request), this.#settings.report);
  }

  /** An error that stands for `thrown` answers the request. */
  failedBy(request: Id, thrown: unknown): void {
    guarded("Channel.failed", () => this.#channel.failed?.(request, thrown), this.#settings.report);
  }

  release(request: Id, retry: number): void {
    guarded("Channel.release", () => this.#channel.release?.(request, retry), this.#settings.report);
  }

  /** Hands what waits to a channel that is about to be closed, and may still write it. */
  flush(): void {
    this.#outbox?.flush(this.#sendWaiting, () => this.#inFlight.phase !== "closed");
  }

  /** Reading begins again, for whatever reason it was slowed down. */
  speedUp(): void {
    if (this.#slowed === undefined) return;
    this.#settings.clock.clearTimer(this.#slowed);
    this.#slowed = undefined;
    if (this.#inFlight.phase !== "closed") this.#balance();
  }

  /** A message of that many characters was refused. A peer that sends many long ones is not read for a while. */
  refused(length: number): void {
    if (length < freeRefusalLength || this.#inFlight.phase === "closed") return;
    const { clock, budget } = this.#settings;
    const pause = budget.refuse(length, clock.now());
    if (pause === 0) return;
    if (this.#slowed !== undefined) clock.clearTimer(this.#slowed);
    this.#slowed = clock.setTimer(() => this.speedUp(), pause);
    this.#balance();
  }

  readonly #sendWaiting = ({ frame, relatedTo, isAnswer }: WaitingFrame): void =>
    this.#send(frame, relatedTo, isAnswer);

  #send(frame: string, relatedTo: Id | undefined, isAnswer: boolean, lossy?: LossyNotification): void {
    let pending: void | Promise<void>;
    try {
      pending = this.#channel.send(frame, relatedTo, isAnswer, lossy);
    } catch (error) {
      this.#broken("send", error);
      return;
    }
    if (pending === undefined) return;
    if (pending === this.#blocked) this.#balance();
    else void this.#waitForRoom(pending);
  }

  /** A frame is lost, or nothing comes in any more: either side would wait for ever. */
  #broken(method: "send" | "resume", thrown: unknown): void {
    if (this.#inFlight.phase === "closed") return;
    this.#settings.report(faultOf(`Channel.${method}`, thrown));
    this.#failed(new HookError(`Channel.${method}`, thrown));
  }

  async #waitForRoom(pending: Promise<void>): Promise<void> {
    this.#blocked = pending;
    this.#balance();
    try {
      await pending;
    } catch (error) {
      this.#broken("send", error);
    }
    if (this.#blocked !== pending) return;
    this.#blocked = undefined;
    if (this.#inFlight.phase !== "closed") this.#outbox?.flush(this.#sendWaiting, () => this.#blocked === undefined);
    this.#hasRoomAgain();
    this.#balance();
  }

  #lossyOf(method: string, params: Params | undefined, relatedTo?: Id): LossyNotification | undefined {
    // A channel with more than one stream lets each wait for itself.
    const mayWait = this.#blocked !== undefined || this.#channel.drained !== undefined;
    const rule = this.#lossy;
    const lossy =
      mayWait && rule !== undefined ? answered("lossy", () => rule(method, params), this.#settings.report) : undefined;
    if (lossy?.key === undefined) return lossy && { method };
    return { method, key: `${typeof relatedTo} ${String(relatedTo)} ${lossy.key}` };
  }

  /**
   * While the peer does not read, reading is paused, so it cannot make this side produce more; but not while this side
   * waits for an answer, or two peers that both wait to be read would wait for ever.
   */
  #balance(): void {
    const mustPause = this.#slowed !== undefined || (this.#blocked !== undefined && this.#inFlight.calling === 0);
    if (mustPause === this.#paused) return;
    this.#paused = mustPause;
    if (mustPause) guarded("Channel.pause", () => this.#channel.pause?.(), this.#settings.report);
    else
      guarded(
        "Channel.resume",
        () => this.#channel.resume?.(),
        ({ error }) => this.#broken("resume", error),
      );
  }
}

/** A refused message of fewer characters costs its sender nothing. */
const freeRefusalLength = 64 * 1024;

/** Characters that wait for a peer that does not read, from which on lossy notifications are dropped. */
const mostLossyWaiting = 16 * 1024 * 1024;

/** The same, from which on none of its requests is begun. */
const mostAnswersWaiting = 8 * 1024 * 1024;

const always = (): boolean => true;
