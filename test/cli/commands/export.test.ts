import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { type Entry, encodeEntry } from "@parlance/wire";
import { expect, test } from "vitest";
import { header, recorded, type Said } from "../../wire/recording/recorded.js";
import { fixture, parlance, runTests } from "../run.js";
import { Scratch } from "../scratch.js";

const version = "2025-11-25";
const server = { cmd: process.execPath, args: [fixture("tools-server.js")] };

const session: readonly Said[] = [
  `→ {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"peer","version":"1"}}}`,
  `← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"${version}","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"tools-server","version":"1.2.3"}}}`,
  '→ {"jsonrpc":"2.0","method":"notifications/initialized"}',
  '→ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}',
  '← {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\\"sum\\":5}"}],"structuredContent":{"sum":5}}}',
  '→ {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"no such","arguments":{"password":"<b>hunter2</b>"}}}',
  '← {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: no such"}}',
];

/** Writes the recording of a command. */
function write(scratch: Scratch, entries: readonly Entry[] = recorded(...session)): string {
  const path = scratch.at("run.parlance.jsonl");
  writeFileSync(path, [{ ...header, server }, ...entries].map(encodeEntry).join(""));
  return path;
}

async function exported(format: string, entries?: readonly Entry[], ...flags: readonly string[]): Promise<string> {
  using scratch = new Scratch();
  const { code, stdout, stderr } = await parlance(["export", write(scratch, entries), "-T", format, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("the page runs nothing, loads nothing, and shows what peers have said as text", async () => {
  const noise: Said = "← </pre><script>alert(1)</script>\u202e";
  const page = await exported("html", recorded(...session, noise));
  expect(page).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
  expect(page).not.toMatch(/<script|<img|<link|\son\w+=|javascript:|\u202e/i);
  expect(page).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
  expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => new URL(address ?? "").host)).toSatisfy(
    (hosts: readonly string[]) => hosts.every((host) => host === "modelcontextprotocol.io"),
  );
  expect(page).not.toContain("hunter2");
  expect(page.match(/<details id="n\d+"/g)).toHaveLength(session.length + 1);
});

test("the page has the bytes of a frame where its text does not show them all, or it breaks a rule", async () => {
  const call = (id: string) =>
    `→ {"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"add","arguments":{}}}` as const;
  const hidden = '← {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\u202eb"}]}}' as const;
  const spaced = '← {"jsonrpc":"2.0", "id":2,"result":{"content":[]}}' as const;
  const visible = '← {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"é"}]}}' as const;
  const page = await exported(
    "html",
    recorded(...session, call("1.0"), hidden, call("2"), spaced, call("3"), visible, "← noise"),
  );
  const withBytes = [...page.matchAll(/<details id="n(\d+)".*?(?=<details id="n|<\/main>)/gs)]
    .filter(([row]) => row.includes("<span>bytes</span>"))
    .map(([, n]) => Number(n));
  expect(withBytes).toEqual([8, 9, 10, 11, 14]);
});

test("stdio in HAR is marked as converted", async () => {
  const { log } = JSON.parse(await exported("har"));
  expect(log).toMatchObject({ version: "1.2", creator: { name: "parlance" } });
  expect(log.entries).toHaveLength(3);
  expect(log.entries[1]).toMatchObject({
    startedDateTime: "2026-01-01T00:00:00.004Z",
    time: 1,
    comment: expect.stringMatching(/^converted: /),
    request: { method: "POST", url: "stdio://server/tools/call", postData: { text: session[3]?.slice(2) } },
    response: { status: 200, content: { text: session[4]?.slice(2) } },
  });
});

test("HTTP in HAR is what it was", async () => {
  const [asked, answered] = [session[3]?.slice(2) ?? "", session[4]?.slice(2) ?? ""];
  const place = { s: "1", x: 1 };
  const frame = { k: "f", s: "1", nl: "", req: 1 } as const;
  const entries: readonly Entry[] = [
    {
      k: "h",
      n: 1,
      t: 1,
      ...place,
      ph: "req",
      method: "POST",
      url: "/mcp",
      headers: [["Authorization", "Bearer abc"]],
    },
    { ...frame, n: 2, t: 1, d: "c2s", ch: "http", len: Buffer.byteLength(asked), raw: asked },
    { k: "h", n: 3, t: 5, ...place, ph: "res", status: 200, headers: [["Content-Type", "application/json"]] },
    { ...frame, n: 4, t: 6, d: "s2c", ch: "http", len: Buffer.byteLength(answered), raw: answered },
    { k: "h", n: 5, t: 7, ...place, ph: "end" },
  ];
  const [entry] = JSON.parse(await exported("har", entries)).log.entries;
  expect(entry).toMatchObject({
    time: 6,
    request: { method: "POST", headers: [{ name: "Authorization", value: "███*" }], postData: { text: asked } },
    response: { status: 200, content: { mimeType: "application/json", text: answered } },
    timings: { wait: 4, receive: 2 },
  });
  expect(entry).not.toHaveProperty("comment");
  expect(await exported("curl", entries)).toMatch(
    /^# Covered: Authorization\. Write your own in place of █\.\ncurl -sS -N -X POST http:\/\/server\/mcp/,
  );
});

test("a span goes on with the trace that its request names", async () => {
  const [{ scopeSpans }] = JSON.parse(await exported("otlp", undefined, "--filter", "method:tools/call")).resourceSpans;
  const [first, second] = scopeSpans[0].spans;
  expect(first).toMatchObject({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    parentSpanId: "b7ad6b7169203331",
    name: "tools/call add",
    startTimeUnixNano: "1767225600004000000",
    endTimeUnixNano: "1767225600005000000",
    status: { code: 1 },
  });
  expect(second).toMatchObject({ name: "tools/call no such", status: { code: 2, message: "error -32602" } });
  expect(second).not.toHaveProperty("parentSpanId");
});

test("a report names the rules that are broken, and fences whatever is in it", async () => {
  const report = await exported("markdown", recorded(...session, "← ```oops```"), "--filter", "verdict:must");
  expect(report).toContain("# MCP conversation: `run`");
  expect(report).toMatch(/## 1 rule violation\n\n- \*\*S-2\*\*, server, frame 8: `/);
  expect(report).toContain("````text\n```oops```\n````");
  expect(report).not.toContain("tools/call");
});

test("the commands for a shell say it to the server again", async () => {
  using scratch = new Scratch();
  const { stdout, stderr } = await parlance(["export", write(scratch), "-T", "curl", "--no-redact"]);
  expect(stderr).toBe("! secrets are not covered\n");
  const { stdout: answers } = await promisify(execFile)("sh", ["-c", stdout]);
  const [, added, unknown] = answers
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(added).toMatchObject({ id: 1, result: { structuredContent: { sum: 5 } } });
  expect(unknown).toMatchObject({ id: 2, error: { code: -32602 } });
});

test("the exported test passes against the server that was recorded, and fails against another answer", async () => {
  using scratch = new Scratch();
  const path = write(scratch, recorded(...session.slice(0, 5)));
  const { code, stdout } = await parlance(["export", path, "-T", "test"]);
  expect(code).toBe(0);
  expect(await runTests(stdout)).toMatch(/1 passed/);
  expect(await runTests(stdout.replace('"sum": 5', '"sum": 6'))).toMatch(/1 failed/);
});

test("a redacted copy is a recording of its own, and can be exported again", async () => {
  using scratch = new Scratch();
  const copy = scratch.at("copy.parlance.jsonl");
  const { stdout } = await parlance(["redact", write(scratch), "--key", "a", "-o", copy]);
  expect(stdout).toBe(`✔ ${copy}: 2 pieces covered\n`);
  const [first] = readFileSync(copy, "utf8")
    .split("\n")
    .map((line) => line && JSON.parse(line));
  expect(first).toMatchObject({ parent: "test", redact: ["secrets by name and shape", "key a"] });
  expect(readFileSync(copy, "utf8")).toContain('\\"arguments\\":{\\"a\\":1,\\"b\\":3}');
  expect((await parlance(["check", copy])).code).toBe(0);
  const again = await parlance(["redact", copy, "-o", copy]);
  expect(again.stderr).toContain("there is a file of that name already");
  expect(again.code).toBe(1);
});

test("a copy of hidden characters escapes them, and its checksums are those of its lines", async () => {
  using scratch = new Scratch();
  const copy = scratch.at("copy.parlance.jsonl");
  await parlance(["redact", write(scratch, recorded(...session, "← \u202e")), "-o", copy]);
  expect(readFileSync(copy, "utf8")).toContain('"raw":"\\u202e"');
  expect((await parlance(["check", copy, "--fail-on", "damage"])).code).toBe(0);
});
