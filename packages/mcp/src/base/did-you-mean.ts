/** The maximum number of suggested names. */
const most = 3;
/**
 * The maximum length of compared names: they may come from peers, and a comparison takes time proportional to the product of
 * their lengths.
 */
const longest = 64;

/** The names that are similar to `name`, nearest first. */
function nearest(name: string, names: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase();
  if (wanted.length > longest) return [];
  const same = names.find((each) => each.toLowerCase() === wanted);
  if (same !== undefined) return [same];
  return names
    .filter((each) => each.length <= longest)
    .map((each) => ({ each, distance: distanceTo(wanted, each.toLowerCase()) }))
    .filter(({ each, distance }) => distance <= tolerance(name) || each.toLowerCase().includes(wanted))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ each }) => each);
}

/**
 * `did you mean …?` for a name that is not one of `names`; undefined if none is similar.
 *
 * @example
 * didYouMean("tols/list", ["tools/list", "tools/call"]); // "did you mean tools/list?"
 */
export function didYouMean(name: string, names: readonly string[]): string | undefined {
  const near = nearest(name, names);
  return near.length === 0 ? undefined : `did you mean ${near.join(" or ")}?`;
}

function tolerance(name: string): number {
  return Math.max(1, Math.floor(name.length * 0.4));
}

/** The edit distance, in letters to insert, remove, replace or swap with a neighbour (optimal string alignment). */
function distanceTo(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const steps = [at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1)];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) steps.push(at(beforeLast, column - 2) + 1);
      current.push(Math.min(...steps));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
