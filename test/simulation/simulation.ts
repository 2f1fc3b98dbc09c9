import { seed as chosen, createRandom } from "../properties/random.js";
import { inForm } from "../testing/forms.js";
import { heapInUse } from "./heap.js";
import { Link, type Open } from "./link.js";
import { finish, type Nonces, operate } from "./operations.js";

/** How many seeds there are over all simulations, and how many operations each of them is good for. */
export const operationsPerSeed: number = inForm({ long: 100_000, short: 10_000 });
const count = inForm({ long: 5, short: 1 });
/** Seeds of one simulation: one if the environment names it. */
export const seeds: readonly number[] =
  process.env.PARLANCE_SEED === undefined ? Array.from({ length: count }, (_, index) => chosen + index) : [chosen];

const linksAtOnce = 4;
const longest = 400;
/** Bytes: far more than the links of one moment hold, far less than a trace of each call would come to. */
const heapMargin = 2 * 1024 * 1024;

interface Slot {
  readonly link: Link;
  left: number;
}

/** Several conversations side by side, each of which is opened anew when it has ended. Gives the number of operations. */
export async function simulate(seed: number, openings: readonly Open[]): Promise<number> {
  const random = createRandom(seed);
  let last = 0;
  const nonces: Nonces = { next: () => (last += 1) };
  const slots: Slot[] = [];
  let taken = 0;
  let heap: number | undefined;
  for (let at = 0; taken < operationsPerSeed; at = random.below(linksAtOnce)) {
    if (taken > operationsPerSeed / 4) heap ??= heapInUse();
    const slot = slots[at] ?? { link: new Link(random), left: -1 };
    slots[at] = slot;
    try {
      if (slot.left < 0) {
        await slot.link.open(random.pick(openings));
        slot.left = 1 + random.below(Math.min(longest, 20 + taken));
      }
      for (let burst = 1 + random.below(8); burst > 0 && slot.left > 0; burst -= 1) {
        await operate(slot.link, nonces);
        slot.left -= 1;
        taken += 1;
      }
      if (slot.left > 0) continue;
      taken += await finish(slot.link, nonces);
      delete slots[at];
    } catch (error) {
      throw new Error(`PARLANCE_SEED=${seed}, operation ${taken}: ${error}\n\n${slot.link.history(error)}`, {
        cause: error,
      });
    }
  }
  for (const { link, left } of slots.filter((slot) => slot !== undefined)) if (left >= 0) await finish(link, nonces);
  const grown = heapInUse() - (heap ?? 0);
  if (grown > heapMargin) throw new Error(`PARLANCE_SEED=${seed}: the heap has grown by ${grown} bytes`);
  return taken;
}
