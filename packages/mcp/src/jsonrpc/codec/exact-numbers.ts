// `JSON.parse` tells a double and not what was written, and `JSON.stringify` writes a double. Where the text counts, literals
// pass by both as strings with a mark in front, which is drawn anew each time: no string of a peer can begin with it.

import { skipString } from "./scan.js";

/** A string, or the literal of a number. */
const tokens = /"|-?\d[\d.eE+-]*/g;

/** The numbers of a text that a double would write otherwise, each as a string behind `mark`; undefined where there is none. */
function marked(text: string, mark: () => string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  tokens.lastIndex = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [literal] = found;
    if (literal === '"') {
      tokens.lastIndex = skipString(text, found.index);
    } else if (String(Number(literal)) !== literal) {
      parts.push(text.slice(from, found.index), `"${mark()}${literal}"`);
      from = found.index + literal.length;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
}

/**
 * The value of a text that is JSON, with what `keep` gives in the place of every number that a double would write otherwise;
 * undefined where there is none.
 */
export function parseExactly(text: string, keep: (literal: string) => unknown): unknown {
  let mark = "";
  const passed = marked(text, () => {
    mark ||= crypto.randomUUID();
    return mark;
  });
  if (passed === undefined) return undefined;
  return JSON.parse(passed, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? keep(value.slice(mark.length)) : value,
  );
}

/** That of the value that is being written; empty before its first literal. Undefined while none is. */
let writing: string | undefined;

/** What `JSON.stringify` is given in the place of a literal; outside of `stringifyExactly` that is its text. */
export function markLiteral(literal: string): string {
  if (writing === undefined) return literal;
  writing ||= crypto.randomUUID();
  return writing + literal;
}

/** `JSON.stringify`, which writes literals as they are. @throws as it does */
export function stringifyExactly(value: unknown): string | undefined {
  const outer = writing;
  writing = "";
  let text: string | undefined;
  let mark: string;
  try {
    text = JSON.stringify(value);
  } finally {
    mark = writing;
    writing = outer;
  }
  if (text === undefined || mark === "") return text;
  return text
    .split(`"${mark}`)
    .map((part, index) => (index === 0 ? part : part.replace('"', "")))
    .join("");
}
