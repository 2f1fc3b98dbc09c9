/** A size: `214 B`, `1.9 kB`, `16 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [amount, unit] = bytes < 999_500 ? [bytes / 1_000, "kB"] : [bytes / 1_000_000, "MB"];
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

/** A duration: `0.9 ms`, `115 ms`, `1.24 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 99.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1_000).toFixed(milliseconds < 9_995 ? 2 : 1)} s`;
}

/** Milliseconds with three decimals. */
export function timeText(milliseconds: number): string {
  return milliseconds.toFixed(3);
}

/** Seconds with six decimals. */
export function secondsText(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(6);
}

/** `1 frame`, `2 frames`. */
export function count(amount: number, thing: string, things = `${thing}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? thing : things}`;
}

const milliseconds: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
]);

/** The maximum duration, in milliseconds: a timeout longer than a day is a mistake. */
const longest = 86_400_000;

/** Milliseconds of `500ms`, `10s`, `2m`, or `10` (seconds); undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const duration = Number(amount) * (milliseconds.get(unit) ?? Number.NaN);
  return duration > 0 && duration <= longest ? duration : undefined;
}
