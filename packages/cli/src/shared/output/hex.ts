const perLine = 16;

/** The two digits of each byte, and its character if that is printable ASCII. */
const digitsOf: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const glyphOf: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".",
);

/** Sixteen bytes of a hex dump, or fewer in the last row. */
export interface HexRow {
  readonly offset: number;
  readonly digits: readonly string[];
  readonly glyphs: readonly string[];
}

/** The rows of a hex dump. @param from the offset of the first byte */
export function hexRows(bytes: Uint8Array, from = 0): readonly HexRow[] {
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, index) => {
    const row = Array.from(bytes.subarray(index * perLine, (index + 1) * perLine));
    return {
      offset: from + index * perLine,
      digits: row.map((byte) => digitsOf[byte] ?? ""),
      glyphs: row.map((byte) => glyphOf[byte] ?? ""),
    };
  });
}

const codesOf = (texts: readonly string[], at: number): Uint8Array =>
  Uint8Array.from(texts, (text) => text.charCodeAt(at));
const [firstDigits, lastDigits, glyphCodes] = [codesOf(digitsOf, 0), codesOf(digitsOf, 1), codesOf(glyphOf, 0)];
const space = 0x20;
const newline = 0x0a;
/** The maximum number of characters of an offset. */
const longestOffset = 14;
const between = 2 + perLine * 3 + 1;

/**
 * A hex dump: offset, digits, characters. It is built as bytes, because a page has one for every frame, and concatenating
 * characters takes six times as long. @param from the offset of the first byte
 */
export function hexText(bytes: Uint8Array, from = 0): string {
  const text = Buffer.alloc(Math.ceil(bytes.length / perLine) * (longestOffset + between + perLine + 1), space);
  let end = 0;
  for (let start = 0; start < bytes.length; start += perLine) {
    const offset = (from + start).toString(16).padStart(4, "0");
    const digits = end + text.write(offset, end, "latin1") + 2;
    const glyphs = digits + between - 2;
    const length = Math.min(perLine, bytes.length - start);
    for (let at = 0; at < length; at += 1) {
      const byte = bytes[start + at] ?? 0;
      text[digits + at * 3] = firstDigits[byte] ?? 0;
      text[digits + at * 3 + 1] = lastDigits[byte] ?? 0;
      text[glyphs + at] = glyphCodes[byte] ?? 0;
    }
    end = glyphs + length;
    text[end] = newline;
    end += 1;
  }
  return text.toString("latin1", 0, Math.max(0, end - 1));
}

/** The lines of a hex dump. @param from the offset of the first byte */
export function hexLines(bytes: Uint8Array, from = 0): readonly string[] {
  return bytes.length === 0 ? [] : hexText(bytes, from).split("\n");
}
