import { expect, test } from "vitest";
import { expectGone, fixture, jsonLines, misbehaving, parlance, start, startInForm, toolsServer } from "../run.js";

/** The frames of a conversation, without what differs from run to run. */
function wire(stdout: string): readonly string[] {
  return jsonLines(stdout)
    .filter(({ raw }) => raw !== undefined)
    .map(
      ({ n, from, kind, method = "", pair }) =>
        `${n} ${from} ${kind} ${method}${pair === undefined ? "" : ` ↔${pair}`}`,
    );
}

test.concurrent("a talk in the handshake era opens in three frames, lists, and calls what is safe to call", async () => {
  const { code, stdout, stderr } = await parlance([
    "talk",
    "--once",
    "--json",
    "--revision",
    "2025-11-25",
    ...toolsServer,
  ]);
  expect(wire(stdout)).toEqual([
    "1 client req initialize",
    "2 server res initialize ↔1",
    "3 client ntf notifications/initialized",
    "4 client req tools/list",
    "5 server res tools/list ↔4",
    "6 client req tools/call",
    "7 server res tools/call ↔6",
    "8 client req tools/call",
    "9 server ntf notifications/progress ↔8",
    "10 server ntf notifications/progress ↔8",
    "11 server ntf notifications/progress ↔8",
    "12 server res tools/call ↔8",
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test.concurrent("a talk in the stateless era opens with server/discover", async () => {
  const { code, stdout } = await parlance(["talk", "--once", "--json", "--revision", "2026-07-28", ...toolsServer]);
  expect(wire(stdout).slice(0, 3)).toEqual([
    "1 client req server/discover",
    "2 server res server/discover ↔1",
    "3 client req tools/list",
  ]);
  expect(code).toBe(0);
});

test.concurrent("a frame is what crossed, and its size is its bytes", async () => {
  const { stdout } = await parlance(["talk", "--once", "--json", "--revision", "2025-11-25", ...misbehaving("noisy")]);
  const frames = jsonLines(stdout).filter(({ raw }) => raw !== undefined);
  expect(frames[0]?.raw).toMatch(/^{"jsonrpc":"2.0","id":1,"method":"initialize",/);
  for (const { raw, bytes } of frames) expect(bytes).toBe(Buffer.byteLength(String(raw)));
  expect(frames.map(({ raw }) => raw)).toContain("[debug] \u001b[31mstarting\u202e");
});

test.concurrent("a row has number, time, sender, kind, id and pair, method, latency and size", async () => {
  const { stdout } = await parlance(["talk", "--once", "--revision", "2025-11-25", ...toolsServer]);
  expect(stdout).toMatch(/^ {2}4 +\d+\.\d{3} client → req {3}2 {7}tools\/list +46 B$/m);
  expect(stdout).toMatch(
    /^ {2}5 +\d+\.\d{3} server ← res {3}2 ↔4 {4}tools\/list: 10 tools +\d+(?:\.\d+)? m?s +\d\.\d kB$/m,
  );
  expect(stdout).toMatch(/^✔ 12 frames · \d\.\d kB · 4 calls · 0 errors · \d+(\.\d+)? m?s/m);
});

test.concurrent("tools that are not safe to call are left alone, and said so", async () => {
  const { stdout } = await parlance(["talk", "--once", "--revision", "2025-11-25", ...toolsServer]);
  expect(stdout).toContain('not called, arguments needed: add   (--call "add name=value")');
  expect(stdout).toContain("not called, not marked read-only: echo, fail,");
});

test.concurrent("--call passes arguments to a tool, typed by its schema", async () => {
  const args = [
    "talk",
    "--once",
    "--json",
    "--revision",
    "2025-11-25",
    "--call",
    "add a=2 b:=3",
    "--call",
    "echo 'a word=x y'",
  ];
  const { code, stdout } = await parlance([...args, ...toolsServer]);
  const sent = jsonLines(stdout).map(({ raw }) => String(raw));
  expect(sent.some((raw) => raw.includes('"name":"add","arguments":{"a":2,"b":3}'))).toBe(true);
  expect(sent.some((raw) => raw.includes('"name":"echo","arguments":{"a word":"x y"}'))).toBe(true);
  expect(code).toBe(0);
});

test.concurrent("--call of a tool that is not there is a wrong command line, and names the nearest", async () => {
  const { code, stderr } = await parlance(["talk", "--once", "--call", "ecko", ...toolsServer]);
  expect(stderr).toMatch(/✖ the server has no tool ecko: it offers hello, add, .*\n {2}→ did you mean echo\?/);
  expect(code).toBe(1);
});

test.concurrent("a server that does not read while its tool runs, and so never has its answer, is told why", async () => {
  const program = `
    const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const lines = require("node:readline").createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const serverInfo = { name: "deaf", version: "1" };
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
      "tools/list": { tools: [{ name: "book", inputSchema: { type: "object" } }] },
    };
    const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
    (async () => {
      for (;;) {
        const { id, method } = JSON.parse((await lines.next()).value ?? process.exit());
        if (method in results) send({ id, result: results[method] });
        if (method !== "tools/call") continue;
        send({ id: "question", method: "elicitation/create", params });
        await new Promise(() => undefined);
      }
    })();`;
  const args = ["--revision", "2025-11-25", "--timeout", "2s", "--call", "book", "--answer", "accept"];
  const { stderr } = await parlance(["talk", "--once", ...args, "--", process.execPath, "-e", program]);
  expect(stderr).toContain("→ the server has its answer: does it read on while its tool runs?");
});

test.concurrent("--call on a server that declares no tools says so, and how to call one all the same", async () => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "shy", version: "1" } },
      "tools/list": { tools: [{ name: "add", inputSchema: { type: "object" } }] },
      "tools/call": { content: [] },
    };
    const error = { code: -32601, message: "Method not found" };
    const outcome = method in results ? { result: results[method] } : { error };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  })`;
  const shy = ["--call", "add", "--", process.execPath, "-e", program];
  const { code, stderr } = await parlance(["talk", "--once", ...shy]);
  expect(stderr).toContain(
    "✖ tools/list: the server has not advertised the capability tools\n  → --force sends it anyway\n",
  );
  expect(code).toBe(1);
  expect((await parlance(["talk", "--once", "--force", ...shy])).stdout).toContain("tools/call: add no content");
});

test.concurrent("--call on a server that cannot list its tools fails with the error of the list", async () => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const error = { code: -32603, message: "no database" };
    const serverInfo = { name: "broken", version: "1" };
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
    const answer = method === "initialize" ? { result } : { error };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  })`;
  const command = ["--", process.execPath, "-e", program];
  for (const args of [
    ["talk", "--once", "--call", "add"],
    ["call", "add"],
  ]) {
    const { code, stderr } = await parlance([...args, ...command]);
    expect(stderr).toContain("✖ the server answered with error -32603 (Internal error): no database\n");
    expect(code).toBe(5);
  }
});

test.concurrent("two revisions are held one after the other, and compared", async () => {
  const args = ["talk", "--once", "--revision", "2025-11-25", "--revision", "2026-07-28", ...toolsServer];
  const { code, stdout } = await parlance(args, { COLUMNS: "80" });
  const [, comparison = ""] = stdout.split(/^(?= {12}2025-11-25 +2026-07-28$)/m);
  expect(comparison).toMatch(/^era +handshake +stateless$/m);
  expect(comparison).toMatch(/^opens with +→ initialize +157 B +→ server\/discover +250 B$/m);
  expect(comparison).toMatch(/^ +→ notifications\/initialized +54 B$/m);
  expect(comparison).toMatch(/^to open +3 frames +\d+ B +2 frames +\d+ B$/m);
  expect(comparison).toMatch(/^first call +→ tools\/list +46 B +→ tools\/list +245 B$/m);
  expect(code).toBe(0);
});

test.concurrent("text on stdout is shown as noise that cannot move the cursor, and the talk is not clean", async () => {
  const { code, stdout } = await parlance(["talk", "--once", "--revision", "2025-11-25", ...misbehaving("noisy")]);
  expect(stdout).toMatch(
    /server ← noise +"\[debug\] \\u\{1b\}\[31mstarting\\u\{202e\}" +24 B\n +✖ S-2 server: it is not JSON: .*\n/,
  );
  expect(stdout).toMatch(
    /server ← res +2 ↔\d+ .*\n +✖ R-5 server: \/id the request with the id 2 was answered already, by frame \d+\n/,
  );
  expect(stdout).toMatch(
    /server ← res +"2" .*\n +✖ R-5 server: \/id the request in frame \d+ has the id 2, which is not "2"\n/,
  );
  expect(stdout).toMatch(
    /server ← batch +2 messages in one frame .*\n +server ← ntf +notifications\/message info: 日本語\n +✖ R-10 server: /,
  );
  expect(stdout).toContain("· 6 violations ·");
  expect(code).toBe(2);
});

test.concurrent("a server that exits at once is reported with its exit code and its last lines on stderr", async () => {
  const { code, stdout, stderr } = await parlance([
    "talk",
    "--once",
    "--revision",
    "2025-11-25",
    ...misbehaving("dies"),
  ]);
  expect(stdout).toMatch(/server {3}stderr {8}cannot read config.json\n/);
  expect(stdout).toMatch(/server {3}life {10}exited with code 3\n/);
  expect(stderr).toMatch(/^✖ initialize \(id 1\): .*exited with code 3; its last lines on stderr:\n {2}│ cannot read/);
  expect(stderr).toContain("│ \\u{1b}[2Jcheck the path");
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(3);
});

test.concurrent("a server that dies in the middle of an answer is shown with the half that came", async () => {
  const { code, stdout, stderr } = await parlance([
    "talk",
    "--once",
    "--revision",
    "2025-11-25",
    ...misbehaving("breaks"),
  ]);
  expect(stdout).toMatch(/server ← frag +"\{"jsonrpc":"2.0","id":" +22 B\n/);
  expect(stdout).toContain("server exited with code 7");
  expect(stderr).toMatch(/^✖ tools\/list \(id 2\): .*exited with code 7/);
  expect(code).toBe(3);
});

test.concurrent("a server that never answers is given up after the timeout, and nothing of it is left", async () => {
  const args = ["talk", "--once", "--revision", "2025-11-25", "--timeout", "300ms", ...misbehaving("silent")];
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toContain("✖ initialize (id 1): no response or notification for 300 ms\n");
  expect(stderr).toMatch(/ {2}→ .*--timeout/);
  expectGone(stdout);
  expect(code).toBe(4);
});

test.concurrent("a server that does not exit is killed, with all processes that it started", async () => {
  const args = ["talk", "--once", "--revision", "2025-11-25", "--timeout", "300ms", ...misbehaving("stubborn")];
  const { code, stdout } = await parlance(args);
  expectGone(stdout);
  expect(code).toBe(4);
});

test.concurrent("a command that does not exist is reported without a frame that was never sent", async () => {
  const { code, stdout, stderr } = await parlance(["talk", "--once", "--", "no-such-command-here"]);
  expect(stderr).toBe('✖ "no-such-command-here" could not be started: no such command: check the name and PATH\n');
  expect(stdout).toContain("0 frames");
  expect(code).toBe(3);
});

test.concurrent("a talk stays open and says so, until it is interrupted", async () => {
  const talk = startInForm(["talk", "--revision", "2025-11-25", "--call", "pid", ...toolsServer]);
  await talk.until("Ctrl-C ends it");
  talk.interrupt();
  const { code, stdout } = await talk.ended;
  expectGone(stdout);
  expect(code).toBe(0);
});

test.concurrent("an interrupt while an answer is awaited ends the server too", async () => {
  const talk = start(["talk", ...misbehaving("silent")]);
  await talk.until("pid ");
  talk.child.kill("SIGINT");
  const { code, stdout, stderr } = await talk.ended;
  expectGone(stdout);
  expect(stderr).toBe("");
  expect(code).toBe(130);
});

test.concurrent("a second interrupt does not wait for a server that does not exit", async () => {
  const talk = start(["talk", ...misbehaving("stubborn")]);
  await talk.until("pid ");
  talk.child.kill("SIGTERM");
  await talk.until("not yet");
  talk.child.kill("SIGTERM");
  const { code, stdout } = await talk.ended;
  expectGone(stdout);
  expect(code).toBe(143);
});

test.concurrent("a module is imported and spoken to in memory", async () => {
  const { code, stdout } = await parlance(["talk", "--once", fixture("tools-server.js")]);
  expect(stdout).toMatch(/server\/discover: tools-server 1\.2\.3/);
  expect(code).toBe(0);
});

test.concurrent("lines fit the width that they are given", async () => {
  for (const columns of [80, 140]) {
    const { stdout } = await parlance(["talk", "--once", ...misbehaving("noisy")], { COLUMNS: String(columns) });
    const widths = stdout.split("\n").map((line) => line.replace(/[\u3000-\u9fff]/g, "xx").length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  }
});
