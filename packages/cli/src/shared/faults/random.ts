/** Pseudorandom numbers from 0 to 1 from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The items in another order; every item moves. */
export function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last -= 1) {
    // Never itself: every item moves (Sattolo).
    const other = Math.floor(random() * last);
    [all[last], all[other]] = [all[other] as Item, all[last] as Item]; // Both are there.
  }
  return all;
}
