import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { Scratch } from "./scratch.js";

// Node keeps compiled code from 22.8 on. `npm ci --prefix test/portable` installs these versions; without it the tests are skipped.

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const program = join(root, "packages/cli/dist/parlance.js");

describe.each(["node-22", "node-24", "node-26"])("on %s", (name) => {
  const node = join(root, "test/portable/node_modules", name, "bin/node");
  const isInstalled = existsSync(node);

  test.runIf(isInstalled)("the command keeps its compiled code in the cache of the user", async () => {
    using scratch = new Scratch();
    const env = { ...process.env, XDG_CACHE_HOME: scratch.at("cache") };
    const explain = (): Promise<object> => run(node, [program, "explain", "R-1"], { env });
    const first = await explain();
    expect(first).toMatchObject({ stderr: "" });
    expect(readdirSync(scratch.at("cache/parlance/compiled"))).not.toEqual([]);
    expect(await explain()).toEqual(first);
  });

  test.runIf(isInstalled)("a command works where it can keep nothing, and on request it keeps nothing", async () => {
    using scratch = new Scratch();
    const file = scratch.write("a file, and no folder", []);
    const { stdout } = await run(node, [program, "explain", "R-1"], { env: { XDG_CACHE_HOME: file } });
    expect(stdout).toContain("R-1");
    const env = { XDG_CACHE_HOME: scratch.at("cache"), NODE_DISABLE_COMPILE_CACHE: "1" };
    expect(await run(node, [program, "explain", "R-1"], { env })).toEqual({ stdout, stderr: "" });
    expect(existsSync(scratch.at("cache"))).toBe(false);
  });
});
