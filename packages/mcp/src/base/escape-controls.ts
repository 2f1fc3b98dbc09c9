/** Control characters, text-direction marks and invisible tags: what could move a cursor or hide a word. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * A peer's text as it may stand in a terminal or a log: what cannot be seen is written as an escape. Tabs stay.
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
