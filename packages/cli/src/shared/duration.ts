const milliseconds: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
]);

/** A day: a longer timeout is a mistake. */
const longest = 86_400_000;

/** Milliseconds of `500ms`, `10s`, `2m`, or `10`, which are seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const duration = Number(amount) * (milliseconds.get(unit) ?? Number.NaN);
  return duration > 0 && duration <= longest ? duration : undefined;
}
