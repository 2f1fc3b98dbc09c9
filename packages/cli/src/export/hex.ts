const perLine = 16;

/** Bytes as people look at them: offset, hexadecimal digits, and what is a character of ASCII. */
export function hexLines(bytes: Uint8Array): readonly string[] {
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, line) => {
    const piece = [...bytes.subarray(line * perLine, (line + 1) * perLine)];
    const digits = piece.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = piece.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    return `${(line * perLine).toString(16).padStart(4, "0")}  ${digits.padEnd(perLine * 3)} ${text}`;
  });
}
