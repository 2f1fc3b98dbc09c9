import { afterEach } from "vitest";
import { violations } from "./violations.js";

afterEach(() => {
  const found = violations.splice(0);
  if (found.length > 0) throw new Error(`sent, though no schema has it:\n${[...new Set(found)].join("\n")}`);
});
