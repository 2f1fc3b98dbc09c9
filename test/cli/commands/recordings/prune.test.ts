import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { connectStdio, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { retentionOf } from "../../../../packages/cli/src/shared/recordings/prune-recordings.js";
import { recordingFiles } from "../../recording-files.js";
import { jsonLines, main, parlance, toolsServer } from "../../run.js";

const day = 86_400_000;

/** A folder with recordings of these ages, in days, and sizes. They have no end, and their hosts are gone. */
async function recordings(ages: Readonly<Record<string, readonly [days: number, bytes: number]>>) {
  const files = await recordingFiles();
  for (const [name, [days, bytes]] of Object.entries(ages)) {
    const path = await files.write(`${name}.parlance.jsonl`, `${"x".repeat(bytes - 1)}\n`);
    await age(path, days);
  }
  const left = async (): Promise<readonly string[]> =>
    (await readdir(files.directory)).map((name) => name.replace(/\.parlance\.jsonl.*$/, "")).sort();
  return { ...files, left };
}

async function age(path: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * day);
  await utimes(path, then, then);
}

/** The file that a thread of its own makes soon. */
async function onlyFile(directory: string): Promise<string> {
  await expect.poll(() => readdir(directory), { timeout: 60_000 }).toHaveLength(1);
  return (await readdir(directory))[0] ?? "";
}

const three = { new: [1, 1_000], older: [8, 1_000], oldest: [40, 1_000] } as const;

test.each([
  [["--older-than", "7d"], ["new"], "older (1.0 kB, too old)"],
  [["--older-than", "12h"], [], "new (1.0 kB, too old)"],
  [["--max-size", "2kB"], ["new", "older"], "oldest (1.0 kB, too much)"],
  [["--keep", "1"], ["new"], "older (1.0 kB, too many)"],
  [["--keep", "0"], [], "new (1.0 kB, too many)"],
  [[], ["new", "older"], "oldest (1.0 kB, too old)"],
])("prune %j leaves %j", async (flags, left, line) => {
  const files = await recordings(three);
  const { code, stdout, stderr } = await files.run("prune", ...flags);
  expect(stdout).toContain(`deleted ${line}\n`);
  expect(stderr).toContain(`; ${left.length} kept in ${files.directory}\n`);
  expect(await files.left()).toEqual(left);
  expect(code).toBe(0);
});

test("a dry run deletes nothing, and says what it would", async () => {
  const files = await recordings(three);
  const { stdout, stderr } = await files.run("prune", "--dry-run", "--keep", "1");
  expect(stdout).toBe("would delete oldest (1.0 kB, too many)\nwould delete older (1.0 kB, too many)\n");
  expect(stderr).toBe(`would delete 2 recordings, 2.0 kB; 1 kept in ${files.directory}\n`);
  expect(await files.left()).toEqual(["new", "older", "oldest"]);
});

test("--json prints an object for each recording", async () => {
  const files = await recordings(three);
  const { stdout } = await files.run("prune", "--json");
  expect(jsonLines(stdout)).toEqual([
    {
      path: join(files.directory, "oldest.parlance.jsonl"),
      name: "oldest",
      bytes: 1_000,
      changed: expect.any(String),
      beyond: "age",
      deleted: true,
    },
  ]);
});

test("nothing to delete is no failure, and other files are left alone", async () => {
  const files = await recordings({});
  const other = await files.write("notes.txt", "mine");
  await age(other, 400);
  const { code, stderr } = await files.run("prune", "--keep", "0");
  expect(stderr).toBe(`nothing to delete; 0 kept in ${files.directory}\n`);
  expect(await readdir(files.directory)).toEqual(["notes.txt"]);
  expect(code).toBe(0);
});

test.each([
  [["--older-than", "soon"], "Write 12h, 30d or 4w."],
  [["--max-size", "1"], "Write 500MB or 1GB."],
  [["--keep", "-1"], "Write a whole number."],
])("prune %j is refused", async (flags, words) => {
  const { code, stderr } = await parlance(["prune", ...flags]);
  expect(stderr).toContain(words);
  expect(code).toBe(1);
});

test("a recording that a tap writes is never deleted, however old it looks", async () => {
  const files = await recordings({});
  const [, , ...args] = toolsServer;
  const env = { PARLANCE_RECORDINGS: files.directory };
  const client = await connectStdio({
    command: process.execPath,
    args: [main, "tap", "--", process.execPath, ...args],
    env,
  });
  await client.tools.call("add", { a: 1, b: 2 });
  const name = await onlyFile(files.directory);
  await age(join(files.directory, name), 400);
  const { stdout } = await files.run("prune", "--keep", "0");
  expect(stdout).toContain("not deleted, because it may still be written, or for lack of permission: ");
  expect(await readdir(files.directory)).toEqual([name]);
  await client.close();
  await files.run("prune", "--keep", "0");
  expect(await readdir(files.directory)).toEqual([]);
});

test("nor is one that a proxy writes, of which no host is known", async () => {
  const files = await recordings({});
  await using http = await serveHttp(createServer({ name: "quiet", version: "1.0.0" }));
  const proxy = files.start(["proxy", "--target", http.url, "--listen", "127.0.0.1:0"]);
  await proxy.firstLine;
  const name = await onlyFile(files.directory);
  await age(join(files.directory, name), 400);
  await files.run("prune", "--keep", "0");
  expect(await readdir(files.directory)).toEqual([name]);
  proxy.child.kill("SIGINT");
  await proxy.ended;
  await files.run("prune", "--keep", "0");
  expect(await readdir(files.directory)).toEqual([]);
});

/** Holds a conversation under the tap while `look` looks. */
async function whileRecording(env: Readonly<Record<string, string>>, look: () => Promise<void>): Promise<void> {
  const [, , ...args] = toolsServer;
  const client = await connectStdio({
    command: process.execPath,
    args: [main, "tap", "--", process.execPath, ...args],
    env,
  });
  await look();
  await client.close();
}

test.each([
  ["", ["new", "older"]],
  ["2d", ["new"]],
  ["1h 5GB", []],
])("a recording that begins prunes by PARLANCE_RETENTION=%j", async (retention, left) => {
  const files = await recordings(three);
  await whileRecording({ PARLANCE_RECORDINGS: files.directory, PARLANCE_RETENTION: retention }, async () => {
    const others = async (): Promise<readonly string[]> =>
      (await files.left()).filter((name) => Object.hasOwn(three, name));
    await expect.poll(others, { timeout: 60_000 }).toEqual(left);
  });
});

test.each([
  [undefined, { age: 30 * day, bytes: 1_000_000_000, count: undefined }],
  ["90d 5GB 200", { age: 90 * day, bytes: 5_000_000_000, count: 200 }],
  ["4w, 10", { age: 28 * day, bytes: undefined, count: 10 }],
  ["off", undefined],
  ["what?", undefined], // What cannot be read must delete nothing.
])("PARLANCE_RETENTION=%j is read", (text, retention) => {
  expect(retentionOf({ PARLANCE_RETENTION: text })).toEqual(retention);
});
