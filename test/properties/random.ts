/** Reproducible chance: the same seed gives the same choices everywhere. */
export interface Random {
  /** An integer from 0 to less than `bound`. */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** The seed of every seeded test: a fixed one, or that of the environment. */
export const seed: number = Number(process.env.PARLANCE_SEED ?? 20_250_618);

/** A small generator (mulberry32): no test needs more than 2^32 different beginnings. */
export function createRandom(from: number): Random {
  let state = from >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: <T>(choices: readonly T[]): T => {
      if (choices.length === 0) throw new RangeError("there is nothing to pick from");
      return choices[below(choices.length)] as T; // In range: the list is not empty.
    },
  };
}
