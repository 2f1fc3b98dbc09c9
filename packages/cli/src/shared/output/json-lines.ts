/** Characters that a terminal obeys or hides and that JSON does not escape. */
const hidden = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** A value as one line of JSON that is safe on a terminal: hidden characters are escaped. */
export function jsonLine(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** The same, indented. */
export function prettyJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value, undefined, 2));
}

/** Escapes hidden characters in JSON text. */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
