import type { ProgressParams, SubscriptionFilter } from "@parlance/mcp";
import type { RawPeer } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { type Frame, notification } from "../testing/frames.js";
import { type CallSettings, changeOf, type Following, type Outcome, type Told } from "./driver.js";

type Id = string | number;

/** The members of a notification that the line looks at. */
interface Heard {
  readonly progressToken?: Id;
  readonly requestId?: Id;
  readonly notifications?: SubscriptionFilter;
  readonly _meta?: { readonly "io.modelcontextprotocol/subscriptionId"?: Id };
}

/** Whoever follows changes on a line. */
interface Follower {
  /** The subscription, where changes name one. */
  readonly id: Id | undefined;
  readonly changes: string[];
  readonly waiting: ((change: string) => void)[];
}

/** Frames of one conversation: what is written, and whom that belongs to which is read. */
export class RawLine {
  /** Takes the requests of the server. */
  onQuestion: (frame: Frame, signal: AbortSignal) => void = () => undefined;
  readonly #peer: RawPeer;
  readonly #calls = new Map<Id, (outcome: Outcome) => void>();
  readonly #batches: ((frames: readonly Frame[]) => void)[] = [];
  readonly #listens = new Map<Id, (honoured: SubscriptionFilter) => void>();
  readonly #questions = new Map<Id, AbortController>();
  readonly #progress = new Map<Id, NonNullable<CallSettings["onProgress"]>>();
  readonly #followers = new Set<Follower>();
  readonly #unexpected: Frame[] = [];
  #told: Told[] = [];
  #lastId = 0;
  #isReading = false;

  constructor(peer: RawPeer) {
    this.#peer = peer;
  }

  /** Numbers and strings by turns: an answer must have the very id of its request. */
  nextId(): Id {
    this.#lastId += 1;
    return this.#lastId % 2 === 0 ? this.#lastId : `call ${this.#lastId}`;
  }

  progressToken(onProgress: (progress: ProgressParams) => void): Id {
    const token = this.#lastId % 2 === 0 ? `token ${this.#lastId}` : this.#lastId;
    this.#progress.set(token, onProgress);
    return token;
  }

  send(frame: string): void {
    this.#peer.send(frame);
  }

  /** Writes a request and reads until its answer comes. */
  exchange(id: Id, frame: string): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.send(frame);
      this.#read();
    });
  }

  /** Writes several requests in one frame. */
  async exchangeBatch(requests: readonly { readonly id: Id; readonly frame: string }[]): Promise<readonly Outcome[]> {
    const answers = await new Promise<readonly Frame[]>((resolve) => {
      this.#batches.push(resolve);
      this.send(`[${requests.map(({ frame }) => frame).join()}]`);
      this.#read();
    });
    const [first] = answers;
    if (first !== undefined && (first.id ?? null) === null) return [outcomeOf(first)];
    return requests.map(({ id }) => outcomeOf(answers.find((answer) => answer.id === id) ?? {}));
  }

  /** Takes a request back: no answer is read any more. */
  cancel(id: Id): void {
    this.send(notification("notifications/cancelled", { requestId: id }));
    this.#calls.get(id)?.({ local: "cancelled" });
    this.#calls.delete(id);
  }

  /** Changes from here on; those of the subscription, where they name one. */
  follow(id?: Id): Omit<Following, "resources"> {
    const follower: Follower = { id, changes: [], waiting: [] };
    this.#followers.add(follower);
    return {
      next: () =>
        new Promise((resolve) => {
          const change = follower.changes.shift();
          if (change === undefined) follower.waiting.push(resolve);
          else resolve(change);
          this.#read();
        }),
      close: async () => void this.#followers.delete(follower),
    };
  }

  /** Opens a subscription, which is a call without an end. */
  async listen(id: Id, frame: string): Promise<Following> {
    const following = this.follow(id);
    const { resourceSubscriptions: resources = [] } = await new Promise<SubscriptionFilter>((resolve) => {
      this.#listens.set(id, resolve);
      this.send(frame);
      this.#read();
    });
    return {
      resources,
      next: () => following.next(),
      close: async () => {
        this.send(notification("notifications/cancelled", { requestId: id }));
        await following.close();
      },
    };
  }

  told(): readonly Told[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }

  assertAtRest(): void {
    expect([...this.#calls.keys()], "calls without an answer").toEqual([]);
    expect(this.#unexpected, "frames that belong to nothing").toEqual([]);
    expect(this.#told, "unread notifications").toEqual([]);
    expect(
      [...this.#followers].flatMap(({ changes }) => changes),
      "unread changes",
    ).toEqual([]);
  }

  /** @throws Error for frames that came and were not read */
  async close(): Promise<void> {
    await this.#peer[Symbol.asyncDispose]();
  }

  get #isWaiting(): boolean {
    const isFollowed = [...this.#followers].some(({ waiting }) => waiting.length > 0);
    return this.#calls.size + this.#batches.length + this.#listens.size > 0 || isFollowed;
  }

  /** Reads as long as anybody waits for something, one frame after the other. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readFrames();
  }

  async #readFrames(): Promise<void> {
    try {
      while (this.#isWaiting) this.#take(JSON.parse(await this.#peer.next()) as Frame | readonly Frame[]);
    } catch {
      for (const end of this.#calls.values()) end({ local: "closed" }); // A test sees it as the outcome of its call.
      this.#calls.clear();
    }
    this.#isReading = false;
  }

  #take(frame: Frame | readonly Frame[]): void {
    if (isBatch(frame)) this.#takeBatch(frame);
    else if (frame.method === undefined) this.#takeAnswer(frame);
    else if (frame.id === undefined) this.#hear(frame.method, frame.params ?? {});
    else this.#ask(frame.id, frame);
  }

  #ask(id: Id, frame: Frame): void {
    const withdrawing = new AbortController();
    this.#questions.set(id, withdrawing);
    this.onQuestion(frame, withdrawing.signal);
  }

  #takeAnswer(answer: Frame): void {
    const { id } = answer;
    const waiting = id === undefined ? undefined : this.#calls.get(id);
    if (id === undefined || waiting === undefined) {
      this.#takeBatch([answer]); // A frame that is refused as a whole has no id.
      return;
    }
    this.#calls.delete(id);
    waiting(outcomeOf(answer));
  }

  #takeBatch(frames: readonly Frame[]): void {
    const waiting = this.#batches.shift();
    if (waiting === undefined) this.#unexpected.push(...frames);
    else waiting(frames);
  }

  #hear(method: string, params: Told["params"]): void {
    const { progressToken, requestId, notifications: honoured = {}, _meta: meta }: Heard = params;
    const id = meta?.["io.modelcontextprotocol/subscriptionId"];
    const progress = progressToken === undefined ? undefined : this.#progress.get(progressToken);
    const question = requestId === undefined ? undefined : this.#questions.get(requestId);
    const change = changeOf({ method, params });
    const followers = [...this.#followers].filter((follower) => follower.id === id);
    if (method === "notifications/progress" && progress !== undefined) progress(params as unknown as ProgressParams);
    else if (method === "notifications/cancelled" && question !== undefined) question.abort();
    else if (method === "notifications/subscriptions/acknowledged" && id !== undefined) this.#acknowledge(id, honoured);
    else if (change !== undefined && followers.length > 0) for (const follower of followers) tell(follower, change);
    else this.#told.push({ method, params });
  }

  #acknowledge(id: Id, honoured: SubscriptionFilter): void {
    this.#listens.get(id)?.(honoured);
    this.#listens.delete(id);
  }
}

// `Array.isArray` does not narrow a readonly array out of a union.
function isBatch(frame: Frame | readonly Frame[]): frame is readonly Frame[] {
  return Array.isArray(frame);
}

function tell({ waiting, changes }: Follower, change: string): void {
  const first = waiting.shift();
  if (first === undefined) changes.push(change);
  else first(change);
}

function outcomeOf({ result, error }: Frame): Outcome {
  if (result !== undefined) return { result };
  if (error !== undefined) return { error };
  throw new Error("an answer with neither result nor error, or none at all");
}
