import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Prints the modules of Node, and the packages, that a program has loaded. */
const listing = `
  import { createRequire } from "node:module";
  import "@parlance/mcp/server";
  import "@parlance/mcp/node";
  const commonJs = Object.keys(createRequire(import.meta.url).cache);
  console.log(JSON.stringify([...process.moduleLoadList.map((each) => each.replace(/^NativeModule /, "")), ...commonJs]));`;

test("a server on stdio loads no package and no HTTP server", async () => {
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", listing], { cwd: import.meta.dirname });
  const loaded: readonly string[] = JSON.parse(stdout);
  expect(loaded).toContain("net");
  expect(loaded).not.toContain("http");
  expect(loaded.filter((each) => each.includes("node_modules"))).toEqual([]);
});
