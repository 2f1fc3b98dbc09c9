const perLine = 16;
const digitsOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const glyphOf = Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".",
);

/** Bytes as people look at them: offset, hexadecimal digits, and what is a character of ASCII. */
export function hexLines(bytes: Uint8Array): readonly string[] {
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; start += perLine) {
    let [digits, text] = ["", ""];
    for (const byte of bytes.subarray(start, start + perLine)) {
      digits += `${digitsOf[byte]} `;
      text += glyphOf[byte];
    }
    lines.push(`${start.toString(16).padStart(4, "0")}  ${digits.padEnd(perLine * 3)} ${text}`);
  }
  return lines;
}
