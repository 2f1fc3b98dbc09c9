import { type Deferred, deferred } from "../../base/deferred.js";
import { methods } from "../../protocol/methods.js";
import type { SentPost } from "./sent-post.js";

/** POSTs that wait for their turn before whoever writes them is held back. */
const maxWaiting = 64;

/**
 * In which order frames go out as POSTs. A server may take them in any order, so whatever must be there before what follows is
 * waited for: the opening of the conversation, and what is told. What follows a call does not wait for it.
 *
 * An answer waits for nothing: the server may need it before it accepts what it was told.
 */
export class PostOrder {
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #room: Deferred<void> | undefined;

  /**
   * Makes a POST in its turn.
   * @param make never rejects
   * @returns when it is over, and when there is room for more
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
