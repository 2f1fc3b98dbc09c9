/**
 * The text of an event stream with line feeds as its only line ends, and how many lines its unfinished event has.
 *
 * Lines may end in three ways. With this one alone the parser takes linear time, and an event is complete as soon as its last
 * line is: behind a carriage return the parser waits for what comes next, or for ever.
 */
export class EventLines {
  #isBehindReturn = false;
  #isInLine = false;
  #count = 0;

  /** The lines of the event that has not ended. */
  get count(): number {
    return this.#count;
  }

  /** The next piece of the stream, as the parser is to have it. */
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
