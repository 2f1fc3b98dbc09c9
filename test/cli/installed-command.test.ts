import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Scratch } from "./scratch.js";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const file = "packages/cli/bin/parlance.js";

test("npm ci links the command before the build, so its file is in the repository and may be executed", async () => {
  const { bin } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8")) as { bin: object };
  expect(bin).toEqual({ parlance: file.slice("packages/cli/".length) });
  const { stdout } = await run("git", ["ls-files", "--stage", file], { cwd: root });
  expect(stdout).toMatch(/^100755 /);
});

test.each(["parlance", "@parlance/cli"])("npx %s runs the command of this repository", async (name) => {
  const { stdout } = await run("npx", ["--no", "--", name, "--version"], { cwd: root });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("a tap loads its own files alone, because a host waits for its server", async () => {
  // The script that measures the command names, as the last line on stderr, the modules that a process has loaded.
  const env = { ...process.env, SIZE_REPORT: "modules" };
  using scratch = new Scratch();
  const record = ["--record", scratch.at("a.jsonl")];
  const tapped = [process.execPath, "--eval", "console.log('served')"];
  const args = ["--import", "./scripts/size.js", "packages/cli/dist/parlance.js", "tap", ...record, "--", ...tapped];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: root, env });
  expect(stdout).toBe("served\n");
  const files = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "") as readonly string[];
  const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size));
  expect(files.map((path) => basename(path))).toContain("run-tap.js");
  expect(
    sizes.reduce((sum, size) => sum + size),
    String(files),
  ).toBeLessThan(60_000); // The conversation and its rules have 800 kB.
});

test("a command that is not built says so", async () => {
  using scratch = new Scratch();
  await mkdir(scratch.at("bin"));
  await writeFile(scratch.at("package.json"), '{ "type": "module" }');
  const path = scratch.at("bin/parlance.js");
  await copyFile(join(root, file), path);
  const ran = run(process.execPath, [path]).catch((error: unknown) => error);
  expect(await ran).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("→ npm run build") });
});
