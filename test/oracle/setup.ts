import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { processBudget } from "../../packages/mcp/src/base/byte-budget.js";
import { violations } from "./violations.js";

afterEach(() => {
  const found = violations.splice(0);
  if (found.length > 0) throw new Error(`sent, though no schema has it:\n${[...new Set(found)].join("\n")}`);
});

/** Violations of earlier files in this process, which are their own failures. */
let before = 0;

beforeAll(() => {
  before = processBudget.held;
});

// A remaining charge is a connection that a test did not close, a handler that it did not end, or a leak.
afterAll(async () => {
  const deadline = performance.now() + 60_000;
  while (processBudget.held > before && performance.now() < deadline)
    await new Promise((resolve) => setImmediate(resolve));
  expect(processBudget.held, "bytes that are charged to the process").toBeLessThanOrEqual(before);
});
