import { versions } from "@parlance/mcp";
import { expect, test } from "vitest";
import { createServed } from "./opening.js";
import { operationsPerSeed, seeds, simulate } from "./simulation.js";

test.each(seeds)(
  "whatever a network does to conversations of any revision, every call has one outcome and nothing is left: seed %i",
  async (seed) => {
    const { server, conversation } = createServed();
    expect(await simulate(seed, versions.map(conversation))).toBeGreaterThanOrEqual(operationsPerSeed);
    expect(server.changes.size, "listeners that are left").toBe(0);
  },
);
