/**
 * A note.
 *
 * @typedef {object} Note
 * @property {number} id
 * @property {string} title
 * @property {string} text
 */

/** Notes in memory: they last as long as the process. Replace this class by your own data. */
export class Notes {
  /** @type {Map<number, Note>} */
  #notes = new Map();
  #lastId = 0;

  /**
   * @param {string} title
   * @param {string} text
   * @returns {Note}
   */
  add(title, text) {
    this.#lastId += 1;
    const note = { id: this.#lastId, title, text };
    this.#notes.set(note.id, note);
    return note;
  }

  /** @param {number} id */
  get(id) {
    return this.#notes.get(id);
  }

  list() {
    return [...this.#notes.values()];
  }

  /**
   * The notes with these words, in upper or lower case.
   *
   * @param {string} words
   */
  search(words) {
    const wanted = words.toLowerCase();
    return this.list().filter(({ title, text }) => `${title}\n${text}`.toLowerCase().includes(wanted));
  }

  /** @param {number} id */
  delete(id) {
    this.#notes.delete(id);
  }
}
