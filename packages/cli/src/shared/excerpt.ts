/**
 * The beginning of a text, as a text of its own: what `slice` gives keeps the whole one in memory, and a frame may have
 * 16 MiB.
 */
export function excerpt(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}
