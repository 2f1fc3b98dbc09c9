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
