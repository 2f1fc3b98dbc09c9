/**
 * Normalises the line endings of an event stream to line feeds, and counts the lines of the incomplete event.
 * Event streams allow three line endings. With line feeds only, the parser takes linear time and delivers an event as
 * soon as its last line is complete; after a carriage return it would wait for the next character, possibly forever.
 */
export class EventLines {
  #isBehindReturn = false;
  #isInLine = false;
  #count = 0;

  /** The number of lines of the incomplete event. */
  get count(): number {
    return this.#count;
  }

  /** Normalises the next piece of the stream. */
  unify(text: string): string {
    if (text === "") return text;
    const rest = this.#isBehindReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#isBehindReturn = text.endsWith("\r");
    const unified = rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
    this.#countIn(unified);
    return unified;
  }

  #countIn(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      // An empty line ends the event.
      this.#count = end > start || this.#isInLine ? this.#count + 1 : 0;
      this.#isInLine = false;
      start = end + 1;
    }
    this.#isInLine ||= start < text.length;
  }
}
