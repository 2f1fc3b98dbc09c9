import { expect, test } from "vitest";
import { serverName } from "../../../packages/cli/src/shared/recorder/recording-name.js";

test.each([
  [["node", "weather.js"], "weather"],
  [["npx", "-y", "@acme/weather@1.2.0"], "weather@1.2.0"],
  [["node", "weather/dist/index.js"], "weather"],
  [["node", "/opt/weather/src/server.ts"], "weather"],
  [["node", "server.js"], "notes"],
  [["node", "./build/index.js"], "notes"],
  [["npx", "tsx", "./src/index.ts"], "notes"],
  [["node", "/server.js"], "server"],
])("%j is recorded as %s", (words, name) => {
  expect(serverName(words, "/home/user/notes")).toBe(name);
});

test("a checkout in a folder named main is recorded as the folder above it", () => {
  expect(serverName(["node", "server.js"], "/home/user/notes/main")).toBe("notes");
});
