/**
 * Characters that a terminal interprets or hides, for a character class of a regular expression: controls, direction marks,
 * zero-width characters, tags.
 */
export const hiddenCharacters =
  "\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\u{e0000}-\\u{e007f}";
const hidden = new RegExp(`[${hiddenCharacters}]`, "gu");

/** A value as one line of JSON that is safe on a terminal: hidden characters are escaped. */
export function jsonLine(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** Like `jsonLine`, but indented. */
export function prettyJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value, undefined, 2));
}

/** Escapes hidden characters in JSON text, or in the string literals of JavaScript. */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
