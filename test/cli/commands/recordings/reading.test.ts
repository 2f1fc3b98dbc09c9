import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, utimes, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { encodeEntry } from "@parlance/wire";
import { expect, test } from "vitest";
import { inForm } from "../../../testing/forms.js";
import { exampleEntries, recordingText } from "../../../wire/recording/example-recording.js";
import { header, recorded, stdioFrame } from "../../../wire/recording/recorded.js";
import { recordingFiles } from "../../recording-files.js";
import { jsonLines, main } from "../../run.js";

const text = recordingText(exampleEntries);

test("tail shows the newest recording as the page on filters does", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { code, stdout, stderr } = await files.run("tail", "--recording", "last");
  const page = await readFile(new URL("../../../../docs/reference/filters.md", import.meta.url), "utf8");
  const [, shown] = /```\n(weather\n.*?)```/s.exec(page) ?? [];
  expect(stdout).toBe(shown);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("tail leaves what a filter leaves, and of that the last rows", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { stdout } = await files.run("tail", "--no-follow", "--json", "-n", "2", "tool:search", "dir:s2c");
  expect(jsonLines(stdout)).toMatchObject([
    {
      recording: "weather",
      n: 8,
      kind: "res",
      id: "7",
      pair: 5,
      method: "tools/call",
      names: "search",
      latency: 619.8,
    },
    { n: 9, verdicts: [{ rule: "I-2" }, { rule: "R-5", party: "server", pointer: "/id", range: [22, 23] }] },
  ]);
});

test("a filter that cannot be read is shown with its place", async () => {
  const files = await recordingFiles();
  const { code, stderr } = await files.run("tail", "tool:search kind:reply");
  const page = await readFile(new URL("../../../../docs/reference/filters.md", import.meta.url), "utf8");
  expect(page).toContain(`$ parlance tail 'tool:search kind:reply'\n${stderr}`);
  expect(code).toBe(1);
});

test("tail follows a recording that grows: a torn line is shown when it is whole, and the end ends it", async () => {
  const files = await recordingFiles();
  const lines = text.split(/(?<=\n)/);
  const path = await files.write("live.parlance.jsonl", lines.slice(0, 5).join(""));
  const running = files.start(["tail", "--recording", "live", "kind:req or kind:noise"]);
  await running.until("initialize");
  await appendFile(path, (lines[5] ?? "").slice(0, 60));
  await appendFile(path, `${(lines[5] ?? "").slice(60)}${lines[6]}${(lines[7] ?? "").slice(0, 9)}`);
  await running.until("tools/call search");
  await appendFile(path, (lines[7] ?? "").slice(9) + lines.slice(8).join(""));
  const { code, stdout } = await running.ended;
  expect(stdout.match(/^ +\d+(?= )/gm)?.map(Number)).toEqual([2, 5, 7, 10, 12]);
  expect(stdout).not.toContain("damaged");
  expect(code).toBe(0);
});

test("tail without a recording follows all that are live, and those that begin", async () => {
  const files = await recordingFiles();
  await files.write("first.parlance.jsonl", [header, ...recorded("← one")].map(encodeEntry).join(""));
  await files.write("over.parlance.jsonl", text);
  const running = files.start(["tail"]);
  await running.until('"one"');
  const path = await files.write("second.parlance.jsonl", encodeEntry(header));
  await appendFile(path, encodeEntry(stdioFrame(1, "← two")));
  await running.until('"two"');
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(stdout).toMatch(/^first\n.*"one".*\n\nsecond\n.*"two"/s);
  expect(stdout).not.toContain("over");
  expect(code).toBe(0);
});

test("tail that was started before a host waits for what it records, wherever that will be", async () => {
  const files = await recordingFiles();
  await files.write("over.parlance.jsonl", text);
  const running = files.start(["tail"]);
  await running.untilError("waiting for a recording to begin");
  await files.write("begun.parlance.jsonl", [header, ...recorded("← one")].map(encodeEntry).join(""));
  await running.until('"one"');
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(stdout).toMatch(/^begun\n/);
  expect(code).toBe(0);
});

test.runIf(process.platform === "linux")(
  "tail ends at once when its reader has read enough, though nothing more comes",
  async () => {
    const files = await recordingFiles();
    await files.write("live.parlance.jsonl", [header, ...recorded("← one")].map(encodeEntry).join(""));
    const command = '"$0" "$@" | head -1';
    const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, main, "tail"], {
      env: { ...process.env, PARLANCE_RECORDINGS: files.directory },
    });
    expect(stdout).toBe("live\n");
  },
);

test("a recording that its recorder has left without an end is shown, and not waited for", async () => {
  const files = await recordingFiles();
  const child = spawn(process.execPath, ["-e", "0"]);
  await once(child, "close");
  const left = { ...header, host: { pid: child.pid ?? 0 } };
  await files.write("left.parlance.jsonl", [left, ...recorded("← one")].map(encodeEntry).join(""));
  const { code, stdout } = await files.run("tail", "--recording", "left");
  expect(stdout).toContain('"one"');
  expect(code).toBe(0);
});

test("show --hex has all bytes of a frame of megabytes", async () => {
  const files = await recordingFiles();
  const long =
    `{"jsonrpc":"2.0","id":1,"result":{"x":"${"y".repeat(inForm({ long: 5_000_000, short: 2_000_000 }))}"}}` as const;
  await files.write("long.parlance.jsonl", [header, ...recorded(`← ${long}`)].map(encodeEntry).join(""));
  const { code, stdout, stderr } = await files.run("show", "long", "1", "--hex");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.match(/^[0-9a-f]{6} {2}/gm)).toHaveLength(Math.ceil(long.length / 16));
});

test("a request of HTTP is shown again when its response lets the rules speak", async () => {
  const files = await recordingFiles();
  const head = { k: "h", s: "1", x: 1 } as const;
  const entries = [
    { ...header, mode: "proxy" as const },
    { ...head, n: 1, t: 1, ph: "req", method: "POST", url: "/mcp", headers: [] } as const,
    { ...head, n: 2, t: 2, ph: "res", status: 200, headers: [["content-type", "text/html"]] } as const,
    { ...head, n: 3, t: 3, ph: "abort", why: "gone\u001b[2J" } as const,
  ];
  await files.write("proxy.parlance.jsonl", recordingText(entries));
  const { stdout } = await files.run("tail", "--no-follow", "kind:http");
  expect(stdout).toMatch(/ 1 {2}0.001000 client {3}http {10}POST \/mcp \(exchange 1\)\n/);
  expect(stdout).toMatch(/ 2 {2}0.002000 server {3}http {10}200 text\/html \(exchange 1\)\n/);
  expect(stdout).toContain("broken off: gone\\u{1b}[2J (exchange 1)\n");
});

test("show has the place of a frame, its pair, the verdict with its page, and the JSON as it was written", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { code, stdout } = await files.run("show", "last", "9");
  expect(stdout).toBe(`\
frame 9  server → client  stdout  104 B  at 1.825000 s  session 1
result  id 7  tools/call search  to the request in frame 5  judged by 2025-11-25

ℹ I-2  server  /result/big  bytes 82–101
  most readers make 12345678901234567000 of 12345678901234567890
  A number fits into a double: most parsers keep 53 bits, and reformat numbers
  may: “numbers that are integers and are in the range [-(2**53)+1, (2**53)-1] are interoperable in the sense that implementations will agree exactly on their numeric values.”
  https://www.rfc-editor.org/rfc/rfc8259#section-6

✖ R-5  server broke it  /id  byte 22
  the request with the id 7 was answered already, by frame 8
  A response has the id of its request, including its type, and a request has one response
  must: “… responses MUST include the same ID as the request they correspond to …”
  https://modelcontextprotocol.io/specification/2025-11-25/basic#responses

{
  "jsonrpc": "2.0",
  "id": 7,  ◀ R-5
  "result": {
    "content": [
      {
        "type": "text",
        "text": "warm"
      }
    ],
    "big": 12345678901234567890  ◀ I-2
  }
}
`);
  expect(code).toBe(0);
});

test("show --hex has the bytes with their offsets, and when they came", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl.gz", gzipSync(text));
  const { stdout } = await files.run("show", "weather", "8", "--hex");
  expect(stdout.split("\n").slice(1, 7)).toEqual([
    "result  id 7  tools/call search  to the request in frame 5  after 620 ms  judged by 2025-11-25",
    "3 writes over 4.0 ms:",
    "  from byte 0, 20 B, at 1.820100 s",
    "  from byte 20, 40 B, at 1.821000 s",
    "  from byte 60, 44 B, at 1.824100 s",
    "",
  ]);
  expect(stdout).toContain(`
0000  7b 22 6a 73 6f 6e 72 70 63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"
0010  2c 22 69 64 22 3a 37 2c 22 72 65 73 75 6c 74 22  ,"id":7,"result"
`);
  expect(stdout.endsWith("\n0060  35 36 37 38 39 30 7d 7d                          567890}}          ◀ I-2\n")).toBe(
    true,
  );
});

test("show says why a request has no answer, and loses nothing of a strange text", async () => {
  const files = await recordingFiles();
  const strange = '→ {"jsonrpc":"2.0", "id":1.0,"method":"x","a":1,"a":{ },"s":"\\u001b[31m"}';
  await files.write("strange.parlance.jsonl", recordingText([header, ...recorded(strange)]));
  const { stdout } = await files.run("show", "strange", "1");
  expect(stdout).toContain("  waiting 2.1 s\n");
  expect(stdout).toContain('  "a": 1,\n  "a": {},  ◀ I-1\n  "s": "\\u001b[31m"\n}\n');
  const json = await files.run("show", "strange", "1", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ id: "1.0", pending: [{ n: 1, over: false }], entry: { k: "f" } });
});

test("show without a number names the numbers of the recording, and the command that prints them", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { code, stderr } = await files.run("show", "weather");
  expect(stderr).toBe(
    "✖ the number of a frame is missing: the recording has the numbers 1 to 14\n" +
      "  → parlance tail --no-follow --recording weather prints them\n" +
      "  → parlance show weather 1\n",
  );
  expect(code).toBe(1);
});

test("show of what is not there says what is", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { code, stderr } = await files.run("show", "weather", "77");
  expect(stderr).toMatch(/has no frame 77: the recording has the numbers 1 to 14\n$/);
  expect(code).toBe(1);
});

test("ls lists the newest first, with what is live, and what is wrong with it", async () => {
  const files = await recordingFiles();
  const none = await files.run("ls");
  expect(none.stderr).toContain("no recordings yet in");
  await utimes(await files.write("old.parlance.jsonl", text), 1_700_000_000, 1_700_000_000);
  await files.write("notes.txt", "no recording");
  const cut = await files.write("torn.parlance.jsonl", "");
  await writeFile(cut, `${encodeEntry({ ...header, mode: "tap", host: { pid: process.pid } })}{"k":"f"`);
  const { code, stdout } = await files.run("ls");
  const rows = stdout.split("\n").map((line) => line.replace(/ +/g, " ").replace(/ \d+ [sd] /, " AGE "));
  expect(rows).toEqual([
    "name age mode frames ✖ size server",
    expect.stringMatching(/^torn AGE tap 0 \d+ B ● live$/),
    expect.stringMatching(/^old AGE tap 11 2 3.\d kB node server.mjs$/),
    "",
  ]);
  expect(code).toBe(0);
  const json = await files.run("ls", "--json");
  expect(jsonLines(json.stdout)).toMatchObject([
    { name: "torn", live: true },
    { name: "old", live: false, frames: 11, violations: 2, server: "node server.mjs" },
  ]);
});

test("a recording in the place of a filter is an error that says where it goes", async () => {
  const files = await recordingFiles();
  await files.write("weather.parlance.jsonl", text);
  const { code, stderr } = await files.run("tail", "last");
  expect(code).toBe(1);
  expect(stderr).toContain("last is a recording, and the argument is a filter\n  → parlance tail --recording last");
});

test("a message over the cap of the tap is called cut, and its request is not called unanswered", async () => {
  const files = await recordingFiles();
  const response = '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a long story"}]}}';
  const cut = { raw: response.slice(0, 60), kept: 60 };
  const crossed = recorded('→ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}', `← ${response}`);
  const entries = crossed.map((entry) =>
    entry.k === "f" && entry.raw !== undefined && entry.d === "s2c" ? { ...entry, ...cut } : entry,
  );
  const path = await files.write("cut.parlance.jsonl", [header, ...entries].map(encodeEntry).join(""));
  const tail = await files.run("tail", "--no-follow", "--recording", "cut");
  const show = await files.run("show", "cut", "2");
  const check = await files.run("check", path);
  expect(tail.stdout).toContain("cut by the recorder, 60 B kept");
  expect(show.stdout).toContain(`it was cut by the recorder: 60 of its ${response.length} bytes are kept`);
  expect(check.stdout).toContain("· 1 not judged ·");
  for (const { stdout } of [tail, show, check]) expect(stdout).not.toMatch(/no message|no response|no answer|waiting/);
});
