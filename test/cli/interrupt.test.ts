import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { encodeEntry } from "@parlance/wire";
import { expect, test, vi } from "vitest";
import { header, opening, recorded, type Said } from "../wire/recording/recorded.js";
import { main, parlance, start } from "./run.js";
import { Scratch } from "./scratch.js";

const said: readonly Said[] = [...opening("2025-11-25"), "← not a message"];
const text = [header, ...recorded(...said)].map(encodeEntry).join("");

interface Interrupted {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command on a recording that comes on stdin and does not end, and interrupts it once that was read. */
async function interrupted(args: readonly string[]): Promise<Interrupted> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  // More than a pipe holds: when all but the rest is written, the program has begun to read.
  const lines = " "
    .repeat(4_000_000)
    .replaceAll(" ".repeat(4_000), `${encodeEntry({ k: "a", n: 1, text: "x".repeat(3_900) })}`);
  await new Promise((resolve) => child.stdin.write(text + lines, resolve));
  child.kill("SIGINT");
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.destroy();
  return { code, stdout, stderr };
}

test("an interrupted check prints its findings so far, and is not a success", async () => {
  const { code, stdout, stderr } = await interrupted(["check", "-"]);
  expect(stderr).toBe("! interrupted: this is what was read so far\n");
  expect(stdout).toContain("1 violation (S-2 ×1)");
  expect(code).toBe(130);
});

test.each([
  [["export", "-", "-T", "html"], "the output is incomplete"],
  [["diff", "-", "last"], "nothing is compared yet"],
  [["show", "-", "1"], "not all of it is shown"],
])("an interrupted %j ends with what is not done", async (args, undone) => {
  expect(await interrupted(args)).toEqual({ code: 130, stdout: "", stderr: `✖ interrupted: ${undone}\n` });
});

test.each([["redact"], ["export", "-T", "jsonl"]])(
  "an interrupted %s leaves no half file",
  async (command, ...flags) => {
    using scratch = new Scratch();
    const output = scratch.at("out");
    const { code, stderr } = await interrupted([command, "-", ...flags, "-o", output]);
    expect({ code, stderr }).toEqual({ code: 130, stderr: `✖ interrupted: ${output} is not written\n` });
    expect(existsSync(output)).toBe(false);
  },
);

test("an interrupted tail of what is there already is no success", async () => {
  const { code, stdout } = await interrupted(["tail", "--recording", "-"]);
  expect(stdout).toContain("not a message");
  expect(code).toBe(130);
});

test("an interrupted examination of a server prints its findings so far", async () => {
  using scratch = new Scratch();
  const silent = "process.stdin.on('data', () => require('fs').writeFileSync(process.argv[1], ''))";
  const asked = scratch.at("asked");
  const running = start(["check", "--timeout", "10m", "--", process.execPath, "-e", silent, asked]);
  await vi.waitUntil(() => existsSync(asked), { timeout: 60_000 });
  running.child.kill("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  expect(stderr).toContain("! interrupted: this is what was found so far");
  expect(stdout).toMatch(/^Waiting for an answer\n {2}frame \d+, id \S+, initialize: waiting [\d.]+ s$/m);
  expect(stdout).toMatch(/^! 0 revisions/m);
  expect(code).toBe(130);
});

test("a check of an address where nothing listens says so", async () => {
  const { code, stderr } = await parlance(["check", "http://127.0.0.1:1"]);
  expect(stderr).toContain("✖ http://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1");
  expect(code).toBe(3);
});
