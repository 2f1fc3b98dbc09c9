/** A line without an end is handed over in pieces of this many characters. */
const longestLine = 8_192;

/** Bytes in any chunks, lines out: whole ones where they are not too long to wait for. */
export class TextLines {
  readonly #decoder = new TextDecoder();
  readonly #take: (line: string) => void;
  #held = "";

  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  push(chunk: Uint8Array): void {
    this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The stream is over: what is held is the last line. */
  end(): void {
    this.#split(this.#decoder.decode());
    if (this.#held !== "") this.#take(this.#held);
    this.#held = "";
  }

  #split(text: string): void {
    const [first = "", ...more] = text.split("\n");
    this.#held += first;
    for (const line of more) {
      this.#take(this.#held.replace(/\r$/, ""));
      this.#held = line;
    }
    while (this.#held.length > longestLine) {
      this.#take(this.#held.slice(0, longestLine));
      this.#held = this.#held.slice(longestLine);
    }
  }
}
