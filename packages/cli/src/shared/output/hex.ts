const perLine = 16;

/** The two digits of each byte, and its character where it is one of printable ASCII. */
const digitsOf: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const glyphOf: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".",
);

/** Sixteen bytes of a hex dump, or fewer at its end. */
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

/** A hex dump as lines: offset, digits, characters. @param from the offset of the first byte */
export function hexLines(bytes: Uint8Array, from = 0): readonly string[] {
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; start += perLine) {
    let [digits, glyphs] = ["", ""];
    for (let at = start; at < start + perLine && at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      digits += `${digitsOf[byte]} `;
      glyphs += glyphOf[byte];
    }
    lines.push(`${(from + start).toString(16).padStart(4, "0")}  ${digits.padEnd(perLine * 3)} ${glyphs}`);
  }
  return lines;
}
