/** What the number of a field counts. */
export type Quantity = "plain" | "seconds" | "milliseconds" | "bytes";

const milliseconds = { us: 0.001, ms: 1, s: 1_000, m: 60_000 } as const;
const bytes = { B: 1, k: 1_000, kB: 1_000, M: 1_000_000, MB: 1_000_000 } as const;

/** The units of a quantity, and the one of a number that has none. Fields of both times hold milliseconds. */
const units: Readonly<Record<Quantity, { readonly by: Readonly<Record<string, number>>; readonly usual: number }>> = {
  plain: { by: {}, usual: 1 },
  seconds: { by: milliseconds, usual: 1_000 },
  milliseconds: { by: milliseconds, usual: 1 },
  bytes: { by: bytes, usual: 1 },
};

/** How values of a quantity are written, for messages to people. */
export const quantityExamples: Readonly<Record<Quantity, string>> = {
  plain: "a number",
  seconds: "a time as 1.2 (seconds), 1200ms or 2m",
  milliseconds: "a duration as 500ms, 1.5s or 2m",
  bytes: "a size as 900, 1k or 2.5M",
};

/** The number that a text means; undefined if it is not one. */
export function parseQuantity(text: string, quantity: Quantity): number | undefined {
  const [, digits, unit = ""] = /^(-?\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const { by, usual } = units[quantity];
  const factor = unit === "" ? usual : Object.hasOwn(by, unit) ? by[unit] : undefined;
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** From and to, both inclusive; a missing end is open. */
export type Range = readonly [from: number, to: number];

/** The range that `1.2..1.9`, `40..` and `..50` mean. */
export function parseRange(text: string, quantity: Quantity): Range | undefined {
  const [, first = "", second = ""] = /^(.*?)\.\.(.*)$/.exec(text) ?? [];
  if (first === "" && second === "") return undefined;
  const from = first === "" ? Number.NEGATIVE_INFINITY : parseQuantity(first, quantity);
  const to = second === "" ? Number.POSITIVE_INFINITY : parseQuantity(second, quantity);
  return from === undefined || to === undefined ? undefined : [from, to];
}
