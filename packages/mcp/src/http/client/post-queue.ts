import { type Deferred, deferred } from "../../base/deferred.js";
import { methods } from "../../protocol/methods.js";
import type { SentPost } from "./sent-post.js";

/** The number of waiting POSTs above which senders must wait. */
const maxWaiting = 64;

/**
 * The order of POSTs. A server may process them in any order, so frames that later ones depend on are awaited:
 * `initialize` and notifications. Frames after any other request do not wait for it.
 * Responses never wait: the server may need one before it accepts a notification.
 */
export class PostQueue {
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
