/** What a terminal might obey, or not show, and JSON would let pass. */
const hidden = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** A value as JSON on one line, which no terminal can be misled by: what is hidden is written as an escape of JSON. */
export function jsonLine(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** The same over many lines, for people. */
export function prettyJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value, undefined, 2));
}

/** JSON text with what is hidden written as an escape. */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
