import { expect, test } from "vitest";
import { inForm } from "../testing/forms.js";
import { Schedule } from "./conversation/schedule.js";
import { createRandom, seed } from "./random.js";

const stepsInAll = inForm({ long: 200_000, short: 20_000 });
const longest = 160;
/** Far enough apart that no two seeds have a conversation in common. */
const spread = 0x9e37_79b1;

test(`however calls, answers, cancels, timeouts and ends interleave, each has its one outcome (seed ${seed})`, async () => {
  let taken = 0;
  for (let turn = 0; taken < stepsInAll; turn += 1) {
    const random = createRandom(Math.imul(seed, spread) + turn);
    const schedule = new Schedule(random);
    // Short ones first: of two transcripts that show a fault, the shorter one is the better.
    const length = 1 + random.below(Math.min(longest, 2 + turn));
    try {
      await schedule.run(length);
    } catch (error) {
      const { transcript } = schedule.talk.channel;
      throw new Error(`PARLANCE_SEED=${seed}, conversation ${turn}:\n${transcript.join("\n")}`, { cause: error });
    }
    taken += length;
  }
  expect(taken).toBeGreaterThanOrEqual(stepsInAll);
});
