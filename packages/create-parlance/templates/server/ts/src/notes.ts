/** A note. */
export interface Note {
  readonly id: number;
  readonly title: string;
  readonly text: string;
}

/** Notes in memory: they last as long as the process. Replace this class by your own data. */
export class Notes {
  readonly #notes = new Map<number, Note>();
  #lastId = 0;

  add(title: string, text: string): Note {
    this.#lastId += 1;
    const note = { id: this.#lastId, title, text };
    this.#notes.set(note.id, note);
    return note;
  }

  get(id: number): Note | undefined {
    return this.#notes.get(id);
  }

  list(): readonly Note[] {
    return [...this.#notes.values()];
  }

  /** The notes with these words, in upper or lower case. */
  search(words: string): readonly Note[] {
    const wanted = words.toLowerCase();
    return this.list().filter(({ title, text }) => `${title}\n${text}`.toLowerCase().includes(wanted));
  }

  delete(id: number): void {
    this.#notes.delete(id);
  }
}
