import { widthOf } from "./columns.js";
import type { Look } from "./rows.js";
import type { Paint } from "./style.js";

/** One part of a summary line. */
export interface Piece {
  readonly text: string;
  readonly paint?: Paint;
}

const separator = " · ";

/** A mark and pieces in one line, or more where it does not fit. */
export function pieceLines(mark: string, pieces: readonly Piece[], { style, width }: Look): readonly string[] {
  const indent = "  "; // As wide as the mark and its space.
  const lines: string[] = [];
  let room = 0;
  for (const { text, paint = (plain: string) => plain } of pieces) {
    const taken = separator.length + widthOf(text);
    const line = lines.at(-1);
    if (line === undefined || taken > room) {
      lines.push(paint(text));
      room = width - indent.length - widthOf(text);
    } else {
      lines[lines.length - 1] = line + style.dim(separator) + paint(text);
      room -= taken;
    }
  }
  return lines.map((line, index) => (index === 0 ? `${mark} ` : indent) + line);
}
