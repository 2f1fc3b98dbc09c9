import { literalOf } from "../json/json-node.js";
import type { Frame } from "../recording/frame.js";

/** The longest line of pretty-printed JSON; a longer line is not a piece of it. */
const longestLine = 1024 * 1024;

/** The tokens of a line of JSON. No string crosses the end of a line. */
const token = /[ \t\r]+|[,:]|(?<open>[{[])|(?<close>[}\]])|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** Recognizes lines that are pieces of one pretty-printed JSON text. */
export class Continuation {
  #first: Frame | undefined;
  /** The number of open objects and arrays. */
  #depth = 0;
  #line = 1;

  /** The line of its text that the last frame is, from 1. */
  get line(): number {
    return this.#line;
  }

  /** The frame with the beginning of the text, if this frame continues one. */
  follow(frame: Frame): Frame | undefined {
    const first = this.#first;
    // A line that is a complete object is not a piece: the text before it was never finished.
    const { json } = frame;
    const isWhole = json.isPlain || json.root?.kind === "object";
    const more = isWhole ? undefined : opened(frame);
    if (first !== undefined && more !== undefined && this.#depth + more >= 0) {
      this.#depth += more;
      this.#line += 1;
      if (this.#depth === 0) this.#first = undefined;
      return first;
    }
    const begins = more !== undefined && more > 0 && json.fault?.cut === true;
    this.#line = 1;
    this.#first = begins ? frame : undefined;
    this.#depth = begins ? more : 0;
    return undefined;
  }
}

/** Objects and arrays that a line opens, minus those that it closes; undefined if it cannot be a line of JSON. */
function opened({ bytes }: Frame): number | undefined {
  if (bytes.length > longestLine) return undefined;
  const text = literalOf({ start: 0, end: bytes.length }, bytes);
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
