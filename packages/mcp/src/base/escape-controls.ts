/** Matches characters that could move a cursor or hide text: control characters, direction marks and invisible tags. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * A peer's text, safe for a terminal or a log: invisible characters are written as escapes. Tabs stay.
 *
 * @example
 * console.log(escapeControls(error.message)); // A peer's text cannot move the cursor or change colours.
 */
export function escapeControls(text: string): string {
  return text.replace(hidden, (character) => {
    if (character === "\t") return character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
