/** The bounds for recordings in the default folder; undefined is no bound. */
export interface Retention {
  /** Milliseconds since a recording was written last. */
  readonly age: number | undefined;
  /** Bytes of all of them. */
  readonly bytes: number | undefined;
  readonly count: number | undefined;
}

const day = 86_400_000;

/** The default bounds: recordings grow, and hold secrets. */
export const defaultRetention: Retention = { age: 30 * day, bytes: 1_000_000_000, count: undefined };

/** How `PARLANCE_RETENTION` is written, for help pages. */
export const retentionHelp = `Recordings in the folder of parlance ls are kept for 30 days, and 1 GB of them.
A recording that begins deletes what is beyond that, the oldest first.
  PARLANCE_RETENTION=off            keeps everything
  PARLANCE_RETENTION='90d 5GB 200'  keeps 90 days, 5 GB and 200 recordings
One that may still be written is never deleted, nor is one with a file of its
own (--record).`;

/** The bounds in `PARLANCE_RETENTION`; undefined for `off`, and for an invalid value, which must delete nothing. */
export function retentionOf({ PARLANCE_RETENTION: text }: NodeJS.ProcessEnv): Retention | undefined {
  if (text === undefined || text.trim() === "") return defaultRetention;
  let retention: Retention = { age: undefined, bytes: undefined, count: undefined };
  for (const word of text.trim().split(/[\s,]+/)) {
    const [age, bytes, count] = [parseAge(word), parseBytes(word), parseCount(word)];
    if (age !== undefined) retention = { ...retention, age };
    else if (bytes !== undefined) retention = { ...retention, bytes };
    else if (count !== undefined) retention = { ...retention, count };
    else return undefined;
  }
  return retention;
}

const ages: ReadonlyMap<string, number> = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", day],
  ["w", 7 * day],
]);

/** Milliseconds of `90m`, `12h`, `30d`, `4w`; undefined for anything else. */
export function parseAge(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(text) ?? [];
  const length = ages.get(unit);
  return amount === undefined || length === undefined ? undefined : Number(amount) * length;
}

const units: ReadonlyMap<string, number> = new Map([
  ["kb", 1_000],
  ["mb", 1_000_000],
  ["gb", 1_000_000_000],
  ["tb", 1_000_000_000_000],
]);

/** Bytes of `500MB`, `1GB`; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s?([kmgt]b)$/i.exec(text) ?? [];
  const size = units.get(unit.toLowerCase());
  return amount === undefined || size === undefined ? undefined : Number(amount) * size;
}

/** A whole number; undefined for anything else. */
export function parseCount(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
