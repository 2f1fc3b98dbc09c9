/**
 * The words of a command written as one string, without a shell: white space parts them, `'…'` takes everything as it is,
 * `"…"` too but for `\"` and `\\`. A backslash elsewhere is a backslash, as in paths on Windows.
 * Undefined if a quote is not closed.
 */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  const piece = /(\s+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"]+)/suy;
  let word: string | undefined;
  while (piece.lastIndex < text.length) {
    const [found, space, single, double] = piece.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (space === undefined) {
      word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/g, "$1") ?? found);
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
