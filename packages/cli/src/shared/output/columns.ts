import { escapeControls } from "@parlance/mcp/jsonrpc";

/** Graphemes of two columns: emoji, and East Asian scripts. */
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;
const plain = /^[ -~]*$/;

let segmenter: Intl.Segmenter | undefined;

/** The graphemes of a text. The segmenter, which takes milliseconds to load, is created on first use: most texts are ASCII. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** The columns of a text on a terminal. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Any text as one line that is safe to print, in at most `width` columns; `…` replaces the rest. */
export function cut(text: string, width: number): string {
  if (width <= 0) return "";
  // No readable grapheme is longer than sixteen code units, so the rest need not be segmented.
  const line = escapeControls(text.slice(0, width * 16)).replaceAll("\t", " ");
  if (widthOf(line) <= width && text.length <= width * 16) return line;
  let kept = "";
  let taken = 1;
  for (const { segment } of graphemesOf(line)) {
    taken += wide.test(segment) ? 2 : 1;
    if (taken > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Like `cut`, but cut in the middle: the beginning has the party, and the end the finding. */
export function cutMiddle(text: string, width: number): string {
  const line = escapeControls(text).replaceAll("\t", " ");
  if (widthOf(line) <= width) return line;
  const segments = Array.from(graphemesOf(line), ({ segment }) => segment);
  const end = fitting(segments.toReversed(), Math.ceil((width - 1) * pointShare)).toReversed();
  const start = fitting(segments, width - 1 - widthOf(end.join("")));
  return `${start.join("").trimEnd()}…${end.join("")}`;
}

/** The share of the end, in a text that is cut in the middle. */
const pointShare = 0.6;

/** The first segments that fit into a width. */
function fitting(segments: readonly string[], width: number): readonly string[] {
  let taken = 0;
  const end = segments.findIndex((segment) => {
    taken += widthOf(segment);
    return taken > width;
  });
  return segments.slice(0, end < 0 ? segments.length : end);
}

/** `cut`, padded with spaces on the right. */
export function left(text: string, width: number): string {
  const line = cut(text, width);
  return line + " ".repeat(Math.max(0, width - widthOf(line)));
}

/** `cut`, padded with spaces on the left. */
export function right(text: string, width: number): string {
  const line = cut(text, width);
  return " ".repeat(Math.max(0, width - widthOf(line))) + line;
}

/** A text of a peer as lines. Line breaks stay; other control characters become visible. */
export function visibleLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map(escapeControls);
}

/** Like `visibleLines`, for output that another program may read: CR LF stays, too. */
export function verbatimLines(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.map((line, index) => {
    const isBroken = index < lines.length - 1 && line.endsWith("\r");
    return isBroken ? `${escapeControls(line.slice(0, -1))}\r` : escapeControls(line);
  });
}

/** Wraps one of our own texts between words, in lines of at most `width` columns. */
export function wrapWords(text: string, width: number, between = " "): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(between)) {
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + between.length + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = line + between + word;
  }
  return lines;
}

/** A copy of the beginning of a text. The result of `slice` would keep the whole text in memory, and a frame may have 16 MiB. */
export function excerpt(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}
