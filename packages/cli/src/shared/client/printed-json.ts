/** The longest line of a text that is printed over several lines; a longer one is no piece. */
const longestLine = 1024 * 1024;

/** What a line of JSON may be made of. No string goes over the end of a line. */
const token = /[ \t\r]+|[,:]|(?<open>[{[])|(?<close>[}\]])|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** A piece of a text, and what is said of it. */
export interface JsonPiece {
  readonly violation: string | undefined;
}

/** Notices that lines of a server are the pieces of one JSON text, which is said once of each text. */
export class PrintedJson {
  /** The number of the frame that begins the text. */
  #first: number | undefined;
  #depth = 0;
  #line = 0;

  /** The piece that a line is; undefined for one that stands for itself. */
  follow(text: string, n: number): JsonPiece | undefined {
    const mayGoOn = this.#first !== undefined && !/^\{.*\}\s*$/s.test(text);
    const mayBegin = /^\s*[{[]/.test(text) && /[{[,]\s*$/.test(text);
    const more = (mayGoOn || mayBegin) && text.length <= longestLine ? opened(text) : undefined;
    if (more !== undefined && mayGoOn && this.#depth + more >= 0) return this.#goOn(more);
    this.#first = undefined;
    if (more === undefined || !mayBegin || more <= 0) return undefined;
    this.#first = n;
    this.#depth = more;
    this.#line = 1;
    return { violation: "the line ends before the message does" };
  }

  #goOn(more: number): JsonPiece {
    const words = `it goes on with the message that frame ${this.#first} begins: JSON that is printed over several lines`;
    this.#depth += more;
    this.#line += 1;
    if (this.#depth === 0) this.#first = undefined;
    return { violation: this.#line === 2 ? words : undefined };
  }
}

/** How many more objects and arrays a line opens than it closes; undefined for one that no JSON text has. */
function opened(text: string): number | undefined {
  let depth = 0;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const groups = token.exec(text)?.groups;
    if (groups === undefined) return undefined;
    if (groups.open !== undefined) depth += 1;
    if (groups.close !== undefined) depth -= 1;
  }
  return depth;
}
