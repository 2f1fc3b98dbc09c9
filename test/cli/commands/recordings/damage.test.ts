import { gzipSync } from "node:zlib";
import { type Entry, encodeEntry } from "@parlance/wire";
import { expect, test } from "vitest";
import { exampleEntries, recordingText } from "../../../wire/recording/example-recording.js";
import { recordingFiles } from "../../recording-files.js";

const text = recordingText(exampleEntries);
const lines = text.split(/(?<=\n)/);

test("a recording that breaks off in its last line is judged, and not clean", async () => {
  const files = await recordingFiles();
  const last = lines.at(-2) ?? "";
  const cuts = [1, 40, last.length - 2].map((length) => lines.slice(0, -2).join("") + last.slice(0, length));
  for (const [index, cut] of cuts.entries()) {
    await files.write(`cut-${index}.parlance.jsonl`, cut);
    const { code, stdout } = await files.run("check", `cut-${index}`, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ frames: 11, damages: [{ line: 15, torn: true }] });
    expect(code).toBe(6);
  }
});

test("a recording without its last line is no damaged one", async () => {
  const files = await recordingFiles();
  await files.write("killed.parlance.jsonl", lines.slice(0, -1).join(""));
  const { code } = await files.run("check", "killed", "--fail-on", "damage,gap");
  expect(code).toBe(0);
});

test("a line that has changed is named with its place, and the rest is judged", async () => {
  const files = await recordingFiles();
  const path = await files.write("changed.parlance.jsonl", text.replace("got a call", "got a cell"));
  const { code, stdout } = await files.run("check", "changed", "--format", "text");
  expect(stdout).toContain("✖ 1 violation (R-5 ×1) · 2 notes · ✖ 1 crash · ✖ 1 request unanswered · ✖ 2 lines damaged");
  const offset = lines.slice(0, 7).join("").length;
  expect(stdout).toContain(
    `\nDamaged\n  ${path}:8  ${(lines[7] ?? "").length - 1} B at byte ${offset}: its bytes were changed`,
  );
  expect(stdout).toMatch(/:16 {2}.* their SHA-256 differs\n/);
  expect(code).toBe(6);
});

test("a line that was taken out is noticed by the last line", async () => {
  const files = await recordingFiles();
  await files.write("less.parlance.jsonl", lines.filter((_, index) => index !== 7).join(""));
  const { code, stdout } = await files.run("check", "less", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ damages: [{ line: 15, says: expect.stringContaining("SHA-256") }] });
  expect(code).toBe(6);
});

test("a gap is reported, and is not damage unless --fail-on says so", async () => {
  const files = await recordingFiles();
  const gap: Entry = { k: "gap", t: 1_206, from: 1_205, to: 1_206, lost: 3, why: "the disk is full" };
  const [start, end] = [exampleEntries.slice(0, 7), exampleEntries.slice(7)];
  await files.write("gap.parlance.jsonl", recordingText([...start, gap, ...end]));
  const { code, stdout } = await files.run("check", "gap", "--fail-on", "damage");
  expect(stdout).toMatch(/· 3 lost\n/);
  expect(stdout).toMatch(/\nMissing\n .*:8 {2}3 lines are missing between 1.205 s and 1.206 s: the disk is full\n/);
  expect(code).toBe(0);
  expect((await files.run("check", "gap", "--fail-on", "gap")).code).toBe(2);
});

test("a compressed recording that breaks off is read as far as it goes", async () => {
  const files = await recordingFiles();
  const many = exampleEntries[1] as Entry; // It has fifteen.
  const long = Array.from({ length: 2_000 }, (_, n) => encodeEntry({ ...many, n: n + 1 } as Entry)).join("");
  const packed = gzipSync(lines[0] + long);
  await files.write("cut.parlance.jsonl.gz", packed.subarray(0, packed.length / 2));
  const { code, stdout } = await files.run("check", "cut", "--json");
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({ damages: [{ torn: true }] });
  const changed = packed.slice();
  changed.fill(0xff, packed.length / 2);
  await files.write("changed.parlance.jsonl.gz", changed);
  const broken = await files.run("check", "changed", "--json");
  expect(broken.code).toBe(6);
  expect(broken.stdout).toContain('"failedFor":["empty","damage"]');
});

test("tail names a damaged line among the others", async () => {
  const files = await recordingFiles();
  await files.write("changed.parlance.jsonl", text.replace("got a call", "got a cell"));
  const { stdout } = await files.run("tail", "--no-follow", "n:6..8");
  expect(stdout).toMatch(/ 6 .*progress.*\n✖ line 8 is damaged: its bytes were changed.*\n +8 /);
});
