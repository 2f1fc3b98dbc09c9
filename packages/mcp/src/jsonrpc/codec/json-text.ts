// `JSON.parse` returns doubles and `JSON.stringify` writes doubles. To keep the literal of a number, both treat it as a string with
// a random mark in front. The mark is new each time, so no string of a peer can begin with it.

import { skipString } from "./scan.js";

/** A string, or the literal of a number. */
const tokens = /"|-?\d[\d.eE+-]*/g;

/** The text with each number that a double would change as a string with the result of `draw` in front; undefined if there is none. */
function marked(text: string, draw: () => string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  tokens.lastIndex = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [literal] = found;
    if (literal === '"') {
      tokens.lastIndex = skipString(text, found.index);
    } else if (String(Number(literal)) !== literal) {
      parts.push(text.slice(from, found.index), `"${draw()}${literal}"`);
      from = found.index + literal.length;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
}

/** The value of a JSON text, with `keep(literal)` for each number that a double would change; undefined if there is none. */
export function parseExactly(text: string, keep: (literal: string) => unknown): unknown {
  let drawn = "";
  const passed = marked(text, () => {
    drawn ||= crypto.randomUUID();
    return drawn;
  });
  if (passed === undefined) return undefined;
  return JSON.parse(passed, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(drawn) ? keep(value.slice(drawn.length)) : value,
  );
}

/** A result or params that are already serialised; the encoder inserts the text unchanged. The text must be one JSON value. */
export class RawJson {
  /** The JSON text, as it is spliced into the message. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The parsed value, for `JSON.stringify`. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** The mark of the value that `encodeValue` is writing; empty until the first literal. Undefined while it writes none. */
let mark: string | undefined;

/** Returns what `JSON.stringify` writes for a literal: outside of `encodeValue`, its text. */
export function markLiteral(literal: string): string {
  if (mark === undefined) return literal;
  mark ||= crypto.randomUUID();
  return mark + literal;
}

/**
 * The JSON text of a value. It writes each `ExactNumber` as its literal.
 *
 * @param indent spaces per level. Default: the text is one line
 * @throws TypeError for a value without a JSON form (a BigInt, a cycle, a function), RangeError for one nested too deeply
 */
export function encodeValue(value: unknown, indent?: number): string {
  if (value instanceof RawJson) return value.text;
  const outer = mark;
  mark = "";
  let text: string | undefined;
  let used: string;
  try {
    text = JSON.stringify(value, undefined, indent);
  } finally {
    used = mark;
    mark = outer;
  }
  if (text === undefined) throw new TypeError(`A ${typeof value} is not a JSON value`);
  if (used === "") return text;
  return text
    .split(`"${used}`)
    .map((part, index) => (index === 0 ? part : part.replace('"', "")))
    .join("");
}
