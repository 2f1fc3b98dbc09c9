import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

test("a command that is not built says so", async () => {
  using scratch = new Scratch();
  await mkdir(scratch.at("bin"));
  await writeFile(scratch.at("package.json"), '{ "type": "module" }');
  const path = scratch.at("bin/parlance.js");
  await copyFile(join(root, file), path);
  const ran = run(process.execPath, [path]).catch((error: unknown) => error);
  expect(await ran).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("→ npm run build") });
});
