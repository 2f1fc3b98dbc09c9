import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Entry, readRecording } from "@parlance/wire";
import { describe, expect, test, vi } from "vitest";
import { RecordingFolder } from "../../../wire/recording/recording-folder.js";
import { command, livesOf, started, type Tapped, tapScript } from "./tapped.js";

const { execPath: node } = process;
const echo = "process.stdin.pipe(process.stdout)";
const line = `${"a".repeat(999)}\n`;

/** The most memory that a process has had, in bytes. */
function mostMemory(pid = 0): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Sends so much through an echo, and gives the sums of what went in and what came out. */
async function echoed({ child, ended }: Tapped, chunk: Buffer, times: number): Promise<{ in: string; out: string }> {
  const sum = createHash("sha256");
  for (let count = 0; count < times; count += 1) {
    sum.update(chunk);
    if (child.stdin?.write(chunk) === false) await once(child.stdin, "drain");
  }
  child.stdin?.end();
  const { stdout } = await ended;
  return { in: sum.digest("hex"), out: createHash("sha256").update(stdout).digest("hex") };
}

test("a line of 100 MB passes as it is, and its beginning is kept", async () => {
  using folder = new RecordingFolder();
  const sums = await echoed(tapScript(echo, folder.env), Buffer.alloc(1_000_000, 0x61), 100);
  expect(sums.out).toBe(sums.in);
  const most = 16 * 1024 * 1024;
  const entries = folder.read().flat();
  const frames = entries.flatMap((entry) => (entry.k === "f" ? [entry] : []));
  const whole = frames.filter(({ len }) => len === 100_000_000);
  expect(whole.every(({ kept, nl, raw = "" }) => kept === most && nl === "" && raw.length === most)).toBe(true);
  // On a busy machine the recorder falls behind, and says so: never more, and never less.
  const missing = entries.filter(({ k }) => k === "gap").length;
  expect(whole.length === 2 ? frames.length : missing).toBeGreaterThanOrEqual(whole.length === 2 ? 2 : 1);
});

test("a host that does not read stops the server, and fills no memory", async () => {
  using folder = new RecordingFolder();
  const { child, ended } = tapScript(
    `const chunk = "a".repeat(99_999) + "\\n"; let count = 0;
     const write = () => { if (count++ === 2_000) return; process.stdout.write(chunk) ? write() : process.stdout.once("drain", write) };
     process.stdin.on("data", () => process.stderr.write(count + "\\n")); write()`,
    folder.env,
  );
  child.stdout?.pause();
  let written = "";
  child.stderr?.on("data", (text: string) => {
    written = text;
  });
  // It stands still when it says twice in a row that it has written as much.
  await vi.waitFor(
    async () => {
      const before = written;
      child.stdin?.write("how much?\n");
      if (child.stderr !== null) await once(child.stderr, "data");
      expect(written).toBe(before);
    },
    { interval: 200, timeout: 15_000 },
  );
  expect(Number(written)).toBeLessThan(100);
  expect(mostMemory(child.pid)).toBeLessThan(150e6);
  child.stdout?.resume();
  child.stdin?.end();
  expect((await ended).stdout.length).toBe(2_000 * 100_000);
});

describe("what is wrong with the recording is no concern of the traffic", () => {
  test.runIf(existsSync("/dev/full"))("a disk that is full", async () => {
    using folder = new RecordingFolder();
    const path = join(folder.path, "full");
    symlinkSync("/dev/full", path);
    const tapped = tapScript(echo, folder.env, ["--record", path]);
    const sums = await echoed(tapped, Buffer.from(line), 1_000);
    expect(sums.out).toBe(sums.in);
    const { code, stderr } = await tapped.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^parlance: \d+ lines are missing at the end of the recording .*full: there is no room left on the disk\n$/,
    );
  });

  test("a disk that becomes full: what was written can be read", async () => {
    using folder = new RecordingFolder();
    const path = join(folder.path, "short.parlance.jsonl");
    // `ulimit` counts blocks of 512 or 1,024 bytes.
    const script = `ulimit -f 40; exec "$0" "$@"`;
    const tapped = started(
      spawn("/bin/sh", ["-c", script, node, command, "tap", "--record", path, "--", node, "-e", echo]),
    );
    const sums = await echoed(tapped, Buffer.from(line), 1_000);
    expect(sums.out).toBe(sums.in);
    const { code, stderr } = await tapped.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("lines are missing at the end of the recording");
    const { entries, damages } = readRecording(readFileSync(path));
    expect(entries.length).toBeGreaterThan(10);
    expect(damages.map(({ torn }) => torn)).toEqual(damages.map(() => true));
  });

  test("a folder that may not be made", async () => {
    using folder = new RecordingFolder();
    const { child, ended } = tapScript(echo, folder.env, ["--record", "/proc/nowhere/x.parlance.jsonl"]);
    child.stdin?.end("as ever\n");
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "as ever\n" });
    expect(stderr).toContain("missing at the end of the recording /proc/nowhere/x.parlance.jsonl");
  });

  test.runIf(process.platform !== "win32")("a pipe without a reader", async () => {
    using folder = new RecordingFolder();
    const path = join(folder.path, "pipe");
    execFileSync("mkfifo", [path]);
    const tapped = tapScript(echo, folder.env, ["--record", path]);
    const sums = await echoed(tapped, Buffer.alloc(1_000_000, line), 100);
    expect(sums.out).toBe(sums.in);
    const { code, stderr } = await tapped.ended;
    expect(code).toBe(0);
    expect(stderr).toContain(
      `missing at the end of the recording ${path}: no process reads the pipe that it is written to`,
    );
  });

  test.runIf(process.platform !== "win32")(
    "a reader of the recording that stalls leaves a gap, and all else in its place",
    async () => {
      using folder = new RecordingFolder();
      const path = join(folder.path, "pipe");
      execFileSync("mkfifo", [path]);
      const reader = spawn("cat", [path], { stdio: ["ignore", "pipe", "ignore"] });
      reader.stdout.pause();
      const { child, until, ended } = tapScript(
        `process.stdin.on("data", (d) => process.stdout.write(d.length + "\\n")).on("end", () => process.stdout.write("all\\n"))`,
        folder.env,
        ["--record", path],
      );
      const chunk = Buffer.alloc(1_000_000, line);
      for (let count = 0; count < 120; count += 1) {
        if (child.stdin?.write(chunk) === false) await once(child.stdin, "drain");
      }
      child.stdin?.end();
      await until("all");
      const parts: Buffer[] = [];
      reader.stdout.on("data", (part: Buffer) => parts.push(part)).resume();
      const { code, stderr } = await ended;
      if (reader.exitCode === null) await once(reader, "close");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const { entries, damages } = readRecording(Buffer.concat(parts));
      expect(damages).toEqual([]);
      const lost = entries.reduce((sum, entry) => sum + (entry.k === "gap" ? entry.lost : 0), 0);
      const frames = entries.filter((entry) => entry.k === "f" && entry.d === "c2s").length;
      expect(lost).toBeGreaterThan(0);
      expect(frames).toBeLessThan(120_000);
      expect(entries.at(-1)).toMatchObject({ k: "end" });
      const last = entries.findLast((entry): entry is Entry & { n: number } => "n" in entry);
      const numbered = entries.filter((entry) => "n" in entry).length;
      expect(numbered + lost).toBe(last?.n);
    },
  );

  test("a file that holds something is left alone", async () => {
    using folder = new RecordingFolder();
    const path = join(folder.path, "mine.parlance.jsonl");
    for (const text of ["first", "second"]) {
      const { child, ended } = tapScript(echo, folder.env, ["--record", path]);
      child.stdin?.end(`${text}\n`);
      await ended;
    }
    expect(readFileSync(path, "utf8")).not.toContain("second");
    expect(readFileSync(path.replace("mine", "mine-2"), "utf8")).toContain("second");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("a tap that is killed", () => {
  test("leaves a recording that can be read to its last whole line", async () => {
    using folder = new RecordingFolder();
    const { child, ended, until } = tapScript(echo, folder.env);
    child.stdin?.write("one\ntwo\n");
    await until("two");
    await vi.waitFor(() => expect(folder.text).toMatch(/"d":"s2c".*two/));
    child.kill("SIGKILL");
    await ended;
    const { entries, damages } = readRecording(Buffer.from(folder.text));
    expect(damages).toEqual([]);
    expect(entries.filter(({ k }) => k === "f")).toHaveLength(4);
    expect(livesOf(entries)).toEqual(["spawn"]);
  });

  test("takes with it a server that heeds no end of its input, and no signal", async () => {
    using folder = new RecordingFolder();
    const { child, until } = tapScript(
      `process.on("SIGTERM", () => process.stdout.write("no\\n")); setInterval(() => 0, 1e6);
       process.stdout.on("error", () => undefined); process.stdout.write("pid " + process.pid + "\\n")`,
      folder.env,
    );
    let said = "";
    child.stdout?.on("data", (text: Buffer) => {
      said += text.toString();
    });
    await until("pid");
    const pid = Number(/pid (\d+)/.exec(said)?.[1]);
    child.kill("SIGTERM");
    await until("no");
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), { timeout: 60_000, interval: 100 });
  });
});
