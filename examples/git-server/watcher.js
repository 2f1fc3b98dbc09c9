import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** @import { Repository } from "./git.js" */

// Compares time stamps and does not use `fs.watch`, which hears nothing on network drives and in some containers, fails
// when a user has too many watches, and is different on each system. One folder is enough to look at: git writes HEAD, its
// log and the index of a working tree by putting a new file in the place of the old one, which the folder shows.

/** Milliseconds. */
const betweenLooks = 500;
/** Milliseconds: the coarsest time stamps there are. Within as long, a second change may leave the same one. */
const grain = 2_000;

/** Tells when git answers a question otherwise than before. */
export class Watcher {
  #git;
  #questions;
  #onChange;
  #end = new AbortController();
  /** @type {Promise<void> | undefined} */
  #started;
  #stamp = Number.NaN;
  /** @type {ReadonlyMap<string, string>} */
  #answers = new Map();

  /**
   * @param {Repository} repository
   * @param {ReadonlyMap<string, readonly string[]>} questions arguments of git, by the name that `onChange` gets
   * @param {(name: string) => void} onChange
   */
  constructor(repository, questions, onChange) {
    this.#git = repository.watched({ signal: this.#end.signal });
    this.#questions = questions;
    this.#onChange = onChange;
  }

  /** Begins to watch, unless it has begun: what changes after this has resolved is not missed. */
  start() {
    this.#started ??= this.#look().then(() => void this.#goOn()); // It ends by `stop`, and fails in no other way.
    return this.#started;
  }

  stop() {
    this.#end.abort();
  }

  async #goOn() {
    const { signal } = this.#end;
    while (!signal.aborted) {
      // Without `ref`, a program that has nothing else to do can end. The one thing to catch is that it is stopped.
      await setTimeout(betweenLooks, undefined, { ref: false, signal }).catch(() => undefined);
      await this.#look();
    }
  }

  async #look() {
    const stamp = await this.#readStamp();
    if (stamp === this.#stamp && Date.now() - stamp > grain) return;
    // Before git is asked: what changes meanwhile leaves another one.
    this.#stamp = stamp;
    const answers = await this.#ask();
    if (this.#end.signal.aborted) return;
    for (const [name, answer] of this.#answers) if (answers.get(name) !== answer) this.#onChange(name);
    this.#answers = answers;
  }

  /** A folder that is gone has none, and none is like no other. */
  async #readStamp() {
    return stat(this.#git.gitFolder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.NaN,
    );
  }

  async #ask() {
    const answers = [...this.#questions].map(async ([name, args]) => {
      // A complaint is an answer too: who reads the resource gets to see it.
      const answer = await this.#git.run(args).then(
        ({ text }) => text,
        (/** @type {Error} */ { message }) => message,
      );
      return /** @type {const} */ ([name, answer]);
    });
    return new Map(await Promise.all(answers));
  }
}
