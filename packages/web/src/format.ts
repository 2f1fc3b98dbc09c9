import { escapeControls } from "@parlance/mcp/jsonrpc";

/** The maximum number of characters shown of a name and of a text of a server; the frames have the rest. */
const longestName = 200;
const longestText = 2_000;

/** A name from a server on one line, with control characters and direction marks as escapes. */
export function nameText(name: string): string {
  return escapeControls(cut(name, longestName));
}

/** A text from a server, with its line breaks. */
export function proseText(text: string): string {
  return cut(text, longestText).split(/\r?\n/).map(escapeControls).join("\n");
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** Seconds with microseconds: `1.203441`. */
export function secondsText(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(6);
}

/** `115.3 ms`, `2.41 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(1)} ms`;
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}

/** `212 B`, `1.9 KB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `1 frame`, `1,204 frames`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** A word of a command line, quoted for a POSIX shell where it has to be. */
export function shellWord(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
