import type { Style } from "../../shared/output/style.js";
import type { Highlight } from "./json-tree.js";

const perLine = 16;
const digitsOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes in hexadecimal digits and as text, sixteen to a line; lines with bytes that something is said of are marked. */
export function hexLines(bytes: Uint8Array, highlights: readonly Highlight[], style: Style): readonly string[] {
  const digits = Math.max(4, bytes.length.toString(16).length);
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, index) => {
    const start = index * perLine;
    const line = Array.from(bytes.subarray(start, start + perLine));
    const touching = highlights.filter(({ range: [from, to] }) => from < start + perLine && to > start);
    const isMarked = (offset: number): boolean =>
      touching.some(({ range: [from, to] }) => offset >= from && offset < to);
    const hex = line.map((byte, at) => paint(digitsOf[byte] ?? "", isMarked(start + at), style));
    const filler = "   ".repeat(perLine - line.length);
    const text = line.map((byte, at) => paint(glyph(byte), isMarked(start + at), style)).join("");
    const labels = [...new Set(touching.map(({ label }) => label))].join(" ");
    const mark = labels === "" ? "" : `${" ".repeat(perLine - line.length)}  ${style.red(`◀ ${labels}`)}`;
    return `${style.dim(start.toString(16).padStart(digits, "0"))}  ${hex.join(" ")}${filler}  ${text}${mark}`;
  });
}

function paint(text: string, isMarked: boolean, style: Style): string {
  return isMarked ? style.red(text) : text;
}

/** A byte that no terminal shows as one column is a dot. */
function glyph(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
}
