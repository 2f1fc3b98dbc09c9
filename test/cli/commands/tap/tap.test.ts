import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Entry } from "@parlance/wire";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { runs } from "../../../testing/forms.js";
import { RecordingFolder } from "../../../wire/recording/recording-folder.js";
import { parlance } from "../../run.js";
import { livesOf, recordedBytesOf, tapScript } from "./tapped.js";

const echo = "process.stdin.pipe(process.stdout)";

function only(folder: RecordingFolder): readonly Entry[] {
  const [entries = []] = folder.read();
  return entries;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The parts of streams of lines, and similar bytes. */
const piece = fc.oneof(
  fc
    .constantFrom("\n", "\r\n", "\r", "\n\n", "\ufeff", '{"jsonrpc":"2.0"}', "é", "\u0000")
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 200_000 }).map((length) => Buffer.alloc(length, 0x61)),
);

test("every byte arrives as it was sent, both ways, and stands in the recording", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      using folder = new RecordingFolder();
      const { child, ended } = tapScript(echo, folder.env);
      for (const bytes of pieces) {
        child.stdin?.write(bytes);
        await new Promise((resolve) => setImmediate(resolve));
      }
      child.stdin?.end();
      const sent = Buffer.concat(pieces);
      const { stdout, code, stderr } = await ended;
      expect(sha256(stdout)).toBe(sha256(sent));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const entries = only(folder);
      for (const d of ["c2s", "s2c"] as const) expect(sha256(recordedBytesOf(entries, d))).toBe(sha256(sent));
    }),
    { numRuns: runs(8) },
  );
});

test("a line that comes in pieces is one frame, with the offset and the time of each", async () => {
  using folder = new RecordingFolder();
  const { child, ended, until } = tapScript(echo, folder.env);
  for (const text of ["one", "two", "three\r\n"]) {
    child.stdin?.write(text);
    await until(text.trimEnd());
  }
  child.stdin?.end("rest");
  await ended;
  const frames = only(folder).flatMap((entry) => (entry.k === "f" && entry.d === "c2s" ? [entry] : []));
  expect(frames.map(({ raw, nl, len }) => ({ raw, nl, len }))).toEqual([
    { raw: "onetwothree", nl: "\r\n", len: 11 },
    { raw: "rest", nl: "", len: 4 },
  ]);
  const [{ t = 0, t1 = 0, w = [] } = {}] = frames;
  expect(w.map(([offset]) => offset)).toEqual([3, 6]);
  expect([t, ...w.map(([, at]) => at)]).toEqual([t, ...w.map(([, at]) => at)].toSorted((one, other) => one - other));
  expect(w.at(-1)?.[1]).toBe(t1);
});

test("a line that stays unfinished is recorded as partial, once", async () => {
  using folder = new RecordingFolder();
  const { child, ended } = tapScript(`process.stdout.write("half"); ${echo}`, folder.env);
  await vi.waitFor(() => expect(folder.text).toContain('"partial"'), { timeout: 60_000 });
  child.stdin?.end(" a line");
  await ended;
  expect(livesOf(only(folder))).toEqual(["spawn", "partial s2c 4", "stdin-end c2s", "close s2c", "exit 0"]);
});

test("the recording begins with its header, and ends with the sum of all lines before", async () => {
  using folder = new RecordingFolder();
  const { child, ended } = tapScript(echo, folder.env);
  child.stdin?.end("one\ntwo\n");
  await ended;
  const lines = folder.text.split("\n").slice(0, -1);
  const last = JSON.parse(lines.at(-1) ?? "") as Entry;
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    k: "hdr",
    fmt: "parlance/1",
    mode: "tap",
    server: { cmd: process.execPath },
  });
  expect(last).toMatchObject({
    k: "end",
    frames: 4,
    bytes: 12,
    sha256: sha256(Buffer.from(`${lines.slice(0, -1).join("\n")}\n`)),
  });
});

describe("the end of the server is the end of the tap", () => {
  test.each([0, 1, 42, 255])("with exit code %i", async (code) => {
    using folder = new RecordingFolder();
    const ended = await tapScript(`process.exit(${code})`, folder.env).ended;
    expect(ended).toMatchObject({ code, signal: null });
    expect(livesOf(only(folder)).at(-1)).toBe(`exit ${code}`);
  });

  test.each(["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"])("with %s", async (signal) => {
    using folder = new RecordingFolder();
    const ended = await tapScript(`process.kill(process.pid, "${signal}"); setInterval(() => 0, 1e6)`, folder.env)
      .ended;
    expect(ended).toMatchObject({ code: null, signal });
    expect(livesOf(only(folder)).at(-1)).toBe(`exit ${signal}`);
  });

  test("and what it said before arrives, however much it is", async () => {
    using folder = new RecordingFolder();
    const { ended } = tapScript(`process.stdout.write("a".repeat(5e6), () => process.exit(3))`, folder.env);
    const { code, stdout } = await ended;
    expect({ code, length: stdout.length }).toEqual({ code: 3, length: 5e6 });
  });

  test("also where something that it has started holds its pipes open", async () => {
    using folder = new RecordingFolder();
    const heir = `require("node:child_process").spawn("sleep", ["3"], { stdio: "inherit" }).unref()`;
    const { child, ended } = tapScript(
      `${heir}; process.stdout.write("last words\\n"); setTimeout(() => process.exit(5), 100)`,
      folder.env,
    );
    const [code] = await once(child, "exit");
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect(code).toBe(5);
    await ended;
  });
});

describe("a signal to the tap reaches the server", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s, which it may answer in its own way", async (signal) => {
    using folder = new RecordingFolder();
    const { child, ended, until } = tapScript(
      `process.on("${signal}", () => { process.stdout.write("bye\\n"); process.exitCode = 9; process.stdin.destroy(); clearInterval(t) });
       const t = setInterval(() => 0, 1e6); process.stdin.resume(); process.stdout.write("ready\\n")`,
      folder.env,
    );
    await until("ready");
    child.kill(signal);
    const { code, stdout } = await ended;
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 9, stdout: "ready\nbye\n" });
    expect(livesOf(only(folder))).toContain(`signal ${signal}`);
  });

  test("one that it does not heed ends nothing", async () => {
    using folder = new RecordingFolder();
    const { child, ended, until } = tapScript(
      `process.on("SIGTERM", () => process.stdout.write("no\\n")); process.stdout.write("ready\\n"); ${echo}`,
      folder.env,
    );
    await until("ready");
    child.kill("SIGTERM");
    await until("no");
    child.stdin?.end("still here");
    const { code, stdout } = await ended;
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "ready\nno\nstill here" });
  });
});

test("the end of the input reaches the server, and the server closing its output reaches the host", async () => {
  using folder = new RecordingFolder();
  const { child, ended, until } = tapScript(
    `process.stdout.end("done\\n"); process.stdin.on("end", () => process.exit(4)).resume()`,
    folder.env,
  );
  await until("done");
  if (child.stdout?.closed === false) await once(child.stdout, "close");
  child.stdin?.end();
  expect(await ended).toMatchObject({ code: 4 });
  expect(livesOf(only(folder))).toEqual(["spawn", "close s2c", "stdin-end c2s", "exit 4"]);
});

test("stderr passes, and is copied", async () => {
  using folder = new RecordingFolder();
  const { stderr } = await tapScript(`process.stderr.write("to\\u001b[31m err\\n")`, folder.env).ended;
  expect(stderr).toBe("to\u001b[31m err\n");
  expect(only(folder)).toContainEqual(expect.objectContaining({ k: "e", raw: stderr }));
});

test("a missing command is reported as by a shell", async () => {
  using folder = new RecordingFolder();
  const { code, stdout, stderr } = await parlance(["tap", "--", "no-such-command"], folder.env);
  expect({ code, stdout }).toEqual({ code: 127, stdout: "" });
  expect(stderr).toBe(
    'parlance: "no-such-command" could not be started: there is no such command: check the name, PATH, and the folder it is started in\n',
  );
  expect(only(folder)).toContainEqual(
    expect.objectContaining({ k: "l", ev: "exit", why: expect.stringContaining("ENOENT") }),
  );
  expect((await parlance(["tap", "--", "/"], folder.env)).code).toBe(126);
});

test("without a command, or with an unknown option, the usage is printed", async () => {
  expect(await parlance(["tap"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no command to start"),
  });
  expect(await parlance(["tap", "--loud", "--", "node"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--loud"),
  });
});

test("-v says where the recording is, and what is wrong", async () => {
  using folder = new RecordingFolder();
  const { stderr } = await tapScript(`process.stdout.write("listening\\n")`, folder.env, ["-v"]).ended;
  expect(stderr).toContain(`parlance: the recording is ${folder.path}`);
  expect(stderr).toContain("S-2, server: it is not JSON");
});

test("a tap that is not started by the shortest way is the same tap", async () => {
  using folder = new RecordingFolder();
  const server = [process.execPath, "-e", "console.log(1); process.exitCode = 6"];
  const { stdout, code } = await parlance(["tap", "--name=mine", "--", ...server], folder.env);
  expect({ stdout, code }).toEqual({ stdout: "1\n", code: 6 });
  expect(only(folder).at(-1)).toMatchObject({ k: "end" });
});
