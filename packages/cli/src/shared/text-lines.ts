/** The maximum number of characters of a piece; longer lines are delivered in several pieces. */
const longestLine = 8_192;

/** Splits chunks of bytes into lines; long lines come in pieces. */
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

  /** Ends the stream, and delivers the last line. */
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
