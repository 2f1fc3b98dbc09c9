import { expect, test } from "vitest";
import { baseProfile, mcpBatchProfile, mcpProfile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { plainConversation } from "./opening.js";
import { operationsPerSeed, seeds, simulate } from "./simulation.js";

const openings = [baseProfile, mcpProfile, mcpBatchProfile].map(plainConversation);

test.each(seeds)(
  "whatever a network does to connections, every call has one outcome and nothing is left: seed %i",
  async (seed) => {
    expect(await simulate(seed, openings)).toBeGreaterThanOrEqual(operationsPerSeed);
  },
);
