/** Two aligned items of two sequences, or one item without a counterpart. */
export interface Aligned<Item> {
  readonly left: Item | undefined;
  readonly right: Item | undefined;
}

/** Two sequences whose lengths have a larger product are aligned by position alone. */
const largestTable = 4_000_000;

/**
 * Aligns two sequences: first those with equal keys, the first with the first and so on, wherever they stand; then, of
 * what is left, those that are merely of the same kind, in their order (the longest common subsequence). It may be long, and
 * is done in steps.
 */
export function* alignSteps<Item>(
  lefts: readonly Item[],
  rights: readonly Item[],
  keyOf: (item: Item) => string,
  kindOf: (item: Item) => string,
): Generator<void, readonly Aligned<Item>[]> {
  const partners = pairByOrdinal(lefts, rights, keyOf);
  yield;
  const taken = new Set(partners.values());
  const restLeft = lefts.filter((item) => !partners.has(item));
  const restRight = rights.filter((item) => !taken.has(item));
  const isSmall = restLeft.length * restRight.length <= largestTable;
  yield;
  const similar = (isSmall ? longestCommon : pairByOrdinal)(restLeft, restRight, kindOf);
  yield;
  for (const [left, right] of similar) {
    partners.set(left, right);
    taken.add(right);
  }
  return [
    ...lefts.map((left): Aligned<Item> => ({ left, right: partners.get(left) })),
    ...rights.filter((right) => !taken.has(right)).map((right): Aligned<Item> => ({ left: undefined, right })),
  ];
}

function pairByOrdinal<Item>(
  lefts: readonly Item[],
  rights: readonly Item[],
  keyOf: (item: Item) => string,
): Map<Item, Item> {
  const waiting = new Map<string, Item[]>();
  for (const right of [...rights].reverse()) {
    const key = keyOf(right);
    const others = waiting.get(key);
    if (others === undefined) waiting.set(key, [right]);
    else others.push(right);
  }
  const pairs = new Map<Item, Item>();
  for (const left of lefts) {
    const right = waiting.get(keyOf(left))?.pop();
    if (right !== undefined) pairs.set(left, right);
  }
  return pairs;
}

function longestCommon<Item>(
  lefts: readonly Item[],
  rights: readonly Item[],
  kindOf: (item: Item) => string,
): Map<Item, Item> {
  const [a, b] = [lefts.map(kindOf), rights.map(kindOf)];
  const width = b.length + 1;
  // At row * width + column: how many of a from row on, and of b from column on, can be paired.
  const lengths = new Uint32Array((a.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1)
    for (let column = b.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        a[row] === b[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const pairs = new Map<Item, Item>();
  for (let row = 0, column = 0; row < a.length && column < b.length; ) {
    const [left, right] = [lefts[row], rights[column]];
    if (a[row] === b[column] && left !== undefined && right !== undefined) {
      pairs.set(left, right);
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}
