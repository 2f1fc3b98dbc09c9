import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";

test.each([
  ["none", []],
  ["a short one", ["a secret that is long enough", "short"]],
  ["one that the environment does not have", [process.env.NO_SUCH_SECRET]],
])("a server whose secrets are %s is not made", (_name, secrets) => {
  // Programs often assert that a variable of the environment exists.
  const requestState = { secrets: secrets as readonly string[] };
  expect(() => createServer({ name: "sealing", version: "1", requestState })).toThrow(
    new RangeError("requestState needs secrets of at least 16 characters"),
  );
});
