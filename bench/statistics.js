/**
 * The value below which a share of the values lies, interpolated between neighbours.
 * @param {readonly number[]} values
 * @param {number} share between 0 and 1
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at % 1);
}

/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5);
