import { checkMembers } from "../base/check-members.js";
import { deferred } from "../base/deferred.js";
import { foreignMembers } from "../base/foreign-members.js";
import type { CallOptions } from "./call.js";
import { type Caller, callMembers, type Outcome } from "./calls/caller.js";
import { encodeRequest } from "./codec/encode.js";
import { LocalError, notJson } from "./errors.js";
import type { Params } from "./message.js";

interface Entry {
  /** Undefined for a notification. */
  readonly id: number | undefined;
  readonly method: string;
  readonly params: Params | undefined;
  readonly options: CallOptions;
}

/**
 * Several calls and notifications of this side in one frame. Made by `Connection.batch`.
 *
 * @example
 * const batch = connection.batch();
 * const sum = batch.request("sum", [1, 2]);
 * batch.notify("log", { level: "info" });
 * const outcomes = await batch.send();
 * outcomes.get(sum); // { ok: true, result: 3 }
 */
export class RequestBatch {
  readonly #caller: Caller;
  readonly #write: (frame: string) => void;
  readonly #entries: Entry[] = [];
  #sent = false;

  constructor(caller: Caller, write: (frame: string) => void) {
    this.#caller = caller;
    this.#write = write;
  }

  /** Adds a call and gives the id under which `send` returns its outcome. */
  request(method: string, params?: Params, options: CallOptions = {}): number {
    checkMembers(method, options, callMembers);
    const id = this.#caller.nextId();
    this.#add({ id, method, params, options });
    return id;
  }

  /** Adds a notification. */
  notify(method: string, params?: Params): void {
    this.#add({ id: undefined, method, params, options: {} });
  }

  /**
   * Writes the batch and waits until every call in it has its outcome. An empty batch writes nothing.
   * @throws LocalError `refused` when it was sent before, or holds a notification that is not JSON
   */
  async send(): Promise<ReadonlyMap<number, Outcome>> {
    this.#mustBeUnsent();
    this.#sent = true;
    // First of all, because it may throw: no call is registered yet.
    const notifications = this.#entries.map((entry) =>
      entry.id === undefined ? encodeNotification(entry) : undefined,
    );
    const outcomes = new Map<number, Outcome>();
    const settled: Promise<void>[] = [];
    const calls = this.#entries.map(({ id, method, options }) => {
      if (id === undefined) return undefined;
      const { promise, resolve } = deferred<Outcome>();
      settled.push(promise.then((outcome) => void outcomes.set(id, outcome)));
      return this.#caller.begin(id, method, options, resolve);
    });
    this.#caller.whenWritable(() => {
      const frames = this.#entries.flatMap(({ params }, index) => {
        const call = calls[index];
        return notifications[index] ?? (call && this.#caller.encode(call, params)) ?? [];
      });
      if (frames.length > 0) this.#write(`[${frames.join(",")}]`);
    });
    await Promise.all(settled);
    return outcomes;
  }

  #add(entry: Entry): void {
    this.#mustBeUnsent();
    this.#entries.push(entry);
  }

  #mustBeUnsent(): void {
    if (this.#sent)
      throw new LocalError("refused", "this batch was sent already: make another with connection.batch()");
  }
}

function encodeNotification({ method, params }: Entry): string {
  try {
    return encodeRequest(undefined, method, params);
  } catch (error) {
    throw notJson(method, error);
  }
}

const addsCall = "batch.request(method, params) adds a call, whose outcome batch.send() returns";
Object.setPrototypeOf(
  RequestBatch.prototype,
  foreignMembers("batch", { call: addsCall, add: addsCall, push: addsCall }),
);
