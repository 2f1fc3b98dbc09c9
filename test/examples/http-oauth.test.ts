import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../examples/http-oauth");

test("the example signs a user in, steps up, and refuses another user, as its README shows", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["start.js"], { cwd: folder });
  expect(stderr).toBe("");
  const shown = /```text\n(.*?)```/s.exec(await readFile(join(folder, "README.md"), "utf8"))?.[1];
  expect(stdout).toBe(shown);
});
