import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";

test.each([
  ["none", []],
  ["a short one", ["a secret that is long enough", "short"]],
])("a server whose secrets are %s is not made", (_name, secrets) => {
  const requestState = { secrets };
  expect(() => createServer({ name: "sealing", version: "1", requestState })).toThrow(
    new RangeError("requestState needs secrets of at least 16 characters"),
  );
});

test("a server whose secret is one that the environment does not have is not made", () => {
  // Programs often assert that an environment variable exists.
  const requestState = { secrets: [process.env.NO_SUCH_SECRET as string] };
  expect(() => createServer({ name: "sealing", version: "1", requestState })).toThrow(
    "createServer: requestState: secrets: expected an array of strings, got an array with undefined: is the environment variable set?",
  );
});
