import { literalOf } from "../json/json-node.js";
import type { JsonScan } from "../json/json-scan.js";
import type { Frame } from "../recording/frame.js";

/** The longest line of a text that is printed prettily; a longer one is no piece. */
const longestLine = 1024 * 1024;

/** What a line of JSON may be made of. No string goes over the end of a line. */
const token = /[ \t\r]+|[,:]|(?<open>[{[])|(?<close>[}\]])|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** Notices that lines are the pieces of one JSON text, as a sender makes them that prints it prettily. */
export class Continuation {
  #first: Frame | undefined;
  /** How many objects and arrays are open. */
  #depth = 0;
  #line = 1;

  /** Which line of its text the last frame is, from 1. */
  get line(): number {
    return this.#line;
  }

  /** The frame that holds the beginning of the text that this one goes on with, if it does. */
  follow(frame: Frame, scan: JsonScan): Frame | undefined {
    const first = this.#first;
    // A line that is a whole object itself is no piece: the text before it was never finished.
    const isWhole = scan.ok && scan.root.kind === "object";
    const more = isWhole ? undefined : opened(frame);
    if (first !== undefined && more !== undefined && this.#depth + more >= 0) {
      this.#depth += more;
      this.#line += 1;
      if (this.#depth === 0) this.#first = undefined;
      return first;
    }
    const begins = !scan.ok && scan.fault.cut && more !== undefined && more > 0;
    this.#line = 1;
    this.#first = begins ? frame : undefined;
    this.#depth = begins ? more : 0;
    return undefined;
  }
}

/** How many more objects and arrays a line opens than it closes; undefined for one that no JSON text has. */
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
