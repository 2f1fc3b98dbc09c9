const perLine = 16;

/** Bytes as a hex dump: where, which, and the characters of those that are plain ASCII. */
export function hexLines(bytes: Uint8Array, from = 0): readonly string[] {
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, row) => {
    const part = [...bytes.subarray(row * perLine, (row + 1) * perLine)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    const offset = (from + row * perLine).toString(16).padStart(4, "0");
    return `${offset}  ${hex.padEnd(perLine * 3 - 1)}  ${text}`;
  });
}
