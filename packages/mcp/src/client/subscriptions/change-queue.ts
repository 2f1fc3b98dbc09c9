import { deferred } from "../../base/deferred.js";
import type { Change } from "../../session/change-feed.js";

/** A change that a subscription reports. */
export type ServerChange =
  | Change
  /** The server was out of reach, or told more than was read: anything may have changed. Fetch anew what matters. */
  | { readonly kind: "missed" };

/** A peer may invent any number of parts of a resource: a reader who is further behind has missed something. */
const maxPending = 1_000;

/** Changes that wait to be read. What changes again before it was read is read once. */
export class ChangeQueue implements AsyncIterable<ServerChange> {
  readonly #pending = new Map<string, ServerChange>();
  #end: { readonly error: Error | undefined } | undefined;
  #news = deferred<undefined>();

  push(change: ServerChange): void {
    const isTooMuch = this.#pending.size >= maxPending;
    if (isTooMuch || change.kind === "missed") this.#pending.clear(); // That something was missed says all of it.
    const kept: ServerChange = isTooMuch ? { kind: "missed" } : change;
    this.#pending.set(keyOf(kept), kept);
    this.#wake();
  }

  /** No more will come. What is pending can still be read. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** @throws what it ended with, when all is read */
  async *[Symbol.asyncIterator](): AsyncGenerator<ServerChange> {
    for (;;) {
      const [oldest] = this.#pending;
      if (oldest !== undefined) {
        this.#pending.delete(oldest[0]);
        yield oldest[1];
      } else if (this.#end === undefined) {
        await this.#news.promise;
      } else {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      }
    }
  }

  #wake(): void {
    const news = this.#news;
    this.#news = deferred();
    news.resolve(undefined);
  }
}

function keyOf(change: ServerChange): string {
  if (change.kind === "resource") return `resource ${change.uri}`;
  return change.kind === "list" ? `list ${change.list}` : change.kind;
}
