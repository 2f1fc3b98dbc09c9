import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheDirectory, stateDirectory } from "../../../packages/cli/src/shared/user-directories.js";

const home = "/home/ada";

test.each([
  ["XDG_CACHE_HOME", { XDG_CACHE_HOME: "/cache", HOME: home }, join("/cache", "parlance")],
  ["LOCALAPPDATA", { LOCALAPPDATA: "/local" }, join("/local", "parlance")],
  ["HOME", { HOME: home }, join(home, ".cache", "parlance")],
  ["HOME, beside an empty XDG_CACHE_HOME", { XDG_CACHE_HOME: "", HOME: home }, join(home, ".cache", "parlance")],
  ["nowhere: the user may have no home directory", {}, undefined],
])("the cache is in %s", (_where, env, directory) => {
  expect(cacheDirectory(env)).toBe(directory);
});

test.each([
  ["XDG_STATE_HOME", { XDG_STATE_HOME: "/state" }, join("/state", "parlance")],
  ["the home directory", {}, join(homedir(), ".local", "state", "parlance")],
  ["the home directory, and not the current one", { XDG_STATE_HOME: "" }, join(homedir(), ".local/state/parlance")],
])("state is in %s", (_where, env, directory) => {
  expect(stateDirectory(env)).toBe(directory);
});
