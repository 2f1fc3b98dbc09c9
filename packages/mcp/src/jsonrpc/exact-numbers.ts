// `JSON.parse` tells a double, not what was written. Where the text counts, its number literals pass by it as marked strings.

import type { ExactNumber } from "./message.js";
import { skipString } from "./scan.js";

/** A string, or the literal of a number. */
const tokens = /"|-?\d[\d.eE+-]*/g;

/** What no peer can guess: a string of a peer that begins so would be taken for a number. With the first use, not before: while a worker's modules load, it has no randomness. */
let mark: string | undefined;
let written = 0;

function ownMark(): string {
  mark ??= `\u0001${crypto.randomUUID()} `;
  return mark;
}

/** The literals of a text that a double would write otherwise, as strings; undefined where there is none. */
function marked(text: string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  tokens.lastIndex = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [literal] = found;
    if (literal === '"') {
      tokens.lastIndex = skipString(text, found.index);
    } else if (String(Number(literal)) !== literal) {
      parts.push(text.slice(from, found.index), JSON.stringify(ownMark() + literal));
      from = found.index + literal.length;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
}

/**
 * The value of a text that is JSON, with the numbers that a double would write otherwise as they stand there; undefined
 * where it has none.
 *
 * @param keep makes what stands for such a number
 */
export function parseExactly(text: string, keep: (literal: string) => ExactNumber): unknown {
  const passed = marked(text);
  if (passed === undefined) return undefined;
  const prefix = ownMark();
  return JSON.parse(passed, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(prefix) ? keep(value.slice(prefix.length)) : value,
  );
}

/** What `JSON.stringify` is given in the place of a literal. */
export function markLiteral(literal: string): string {
  written += 1;
  return ownMark() + literal;
}

/** `JSON.stringify`, for values with numbers that are kept as they were written. */
export function stringifyExactly(value: unknown): string | undefined {
  const before = written;
  const text: string | undefined = JSON.stringify(value);
  if (written === before || text === undefined) return text;
  const prefix = JSON.stringify(ownMark()).slice(0, -1);
  return text
    .split(prefix)
    .map((part, index) => (index === 0 ? part : part.replace('"', "")))
    .join("");
}
