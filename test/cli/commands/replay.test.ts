import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import type { Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { opening, recorded, type Said, stdioFrame } from "../../wire/recording/recorded.js";
import { parlance, type Ran, start, toolsServer } from "../run.js";
import { Scratch } from "../scratch.js";

const main = fileURLToPath(new URL("../../../packages/cli/dist/parlance.js", import.meta.url));

/** Lets a recorded server answer lines. */
function answersOf(path: string, lines: readonly string[], ...flags: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [main, "replay", path, "--as", "server", ...flags]);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

const version = "2025-11-25";

/** A call with progress, and a question in the middle of another. */
const session: readonly Said[] = [
  ...opening(version),
  '→ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","_meta":{"progressToken":1}}}',
  '← {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
  '← {"jsonrpc":"2.0","id":1,"result":{"content":[],"n":12345678901234567890}}',
  '→ {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"b":1,"a":[2]}}}',
  '← {"jsonrpc":"2.0","id":1,"method":"roots/list"}',
  '→ {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}',
  '← {"jsonrpc":"2.0","id":2,"result":{"content":[]}}',
];

const count =
  '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"count","_meta":{"progressToken":"t"}}}';
const ask = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ask","arguments":{"a":[2],"b":1}}}';

test("a recorded server responds with its own bytes, with the ids and tokens of the live client", async () => {
  using scratch = new Scratch();
  const path = scratch.write("a.parlance.jsonl", recorded(...session));
  const { stdout, code } = await answersOf(path, [count]);
  expect(stdout).toBe(
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}\n' +
      '{"jsonrpc":"2.0","id":"x","result":{"content":[],"n":12345678901234567890}}\n',
  );
  expect(code).toBe(0);
});

test("it says what was never asked, what it has not, and what is nearest to it", async () => {
  using scratch = new Scratch();
  const path = scratch.write("a.parlance.jsonl", recorded(...session));
  const other = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"a":[3]}}}';
  const unknown = '{"jsonrpc":"2.0","id":2,"method":"prompts/list"}';
  const { stdout, stderr, code } = await answersOf(path, [other, unknown, count], "--strict");
  const [first, second] = stdout.split("\n").map((line) => line && JSON.parse(line));
  expect(first).toMatchObject({ id: 1, error: { code: -32602, data: { frame: 7, params: { name: "ask" } } } });
  expect(second).toEqual({
    jsonrpc: "2.0",
    id: 2,
    error: { code: -32601, message: "the recording has no prompts/list" },
  });
  expect(stderr).toBe(`! 1 message of the client matched the recording
  never said: initialize (frame 1)
  never said: notifications/initialized (frame 3)
  never said: tools/call ask {"b":1,"a":[2]} (frame 7)
  not in the recording: tools/call ask {"a":[3]}; the nearest is tools/call ask {"b":1,"a":[2]} (frame 7)
  not in the recording: prompts/list
`);
  expect(code).toBe(2);
});

test("a question is asked before the answer, which waits for what the client says to it", async () => {
  using scratch = new Scratch();
  const path = scratch.write("a.parlance.jsonl", recorded(...session));
  const asked = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n';
  expect((await answersOf(path, [ask])).stdout).toBe(asked);
  const answered = await answersOf(path, [ask, '{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///"}]}}']);
  expect(answered.stdout).toBe(`${asked}{"jsonrpc":"2.0","id":9,"result":{"content":[]}}\n`);
  expect(answered.stderr).toContain("answered differently than recorded: roots/list");
});

test("by method any call of a method is meant, and in order none that comes too early", async () => {
  using scratch = new Scratch();
  const path = scratch.write("a.parlance.jsonl", recorded(...session));
  const other = '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"count","arguments":{"x":1}}}';
  expect((await answersOf(path, [other], "--match", "method")).stdout).toContain('{"jsonrpc":"2.0","id":5,"result"');
  expect((await answersOf(path, [count], "--match", "order")).stdout).toContain('"code":-32602');
});

test("a server that fell over falls over again, and what it wrote beside the protocol is written", async () => {
  using scratch = new Scratch();
  const entries: readonly Entry[] = [
    stdioFrame(1, '→ {"jsonrpc":"2.0","id":1,"method":"ping"}'),
    stdioFrame(2, "← about to crash"),
    { k: "e", n: 3, s: "1", t: 3, raw: "panic\n" },
    { k: "l", n: 4, s: "1", t: 4, ev: "exit", code: 3, sig: null },
  ];
  const path = scratch.write("a.parlance.jsonl", entries);
  expect(await answersOf(path, ['{"jsonrpc":"2.0","id":1,"method":"ping"}'])).toEqual({
    code: 3,
    stdout: "about to crash\n",
    stderr: "panic\n",
  });
});

test("a live server that is driven by a recording is held against it, and recorded", async () => {
  using scratch = new Scratch();
  const path = scratch.write(
    "a.parlance.jsonl",
    recorded(
      ...opening(version, { server: { tools: { listChanged: true } } }),
      '→ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}',
      '← {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"6"}],"structuredContent":{"sum":6}}}',
    ),
  );
  const again = scratch.at("again.parlance.jsonl");
  const args = ["replay", path, "--as", "client", "--strict", "--record", again, ...toolsServer];
  const { code, stdout } = await parlance(args);
  expect(stdout).toContain('~ → tools/call add {"a":2,"b":3}');
  expect(stdout).toContain("/result/structuredContent/sum  6 → 5");
  expect(code).toBe(2);
  expect(readFileSync(again, "utf8")).toContain('"parent":"test"');
  const same = await parlance(["replay", again, "--as", "client", "--strict", ...toolsServer]);
  expect(same.stdout).toContain("✔ no difference");
  expect(same.code).toBe(0);
});

describe("a server that does not answer the recorded client at all", () => {
  const call: readonly Said[] = [...opening(version), '→ {"jsonrpc":"2.0","id":1,"method":"tools/list"}'];

  test.concurrent("has ended: 3, with its exit code and stderr", async () => {
    using scratch = new Scratch();
    const path = scratch.write("a.parlance.jsonl", recorded(...call));
    const program = 'console.error("no database"); process.exit(7)';
    const { code, stdout, stderr } = await parlance(["replay", path, "--as", "client", "--", "node", "-e", program]);
    expect(stderr).toContain('✖ "node" exited with code 7; its last lines on stderr:\n  │ no database\n');
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test.concurrent("cannot be started: 3", async () => {
    using scratch = new Scratch();
    const path = scratch.write("a.parlance.jsonl", recorded(...call));
    const { code, stdout, stderr } = await parlance(["replay", path, "--as", "client", "--", "no-such-command"]);
    expect(stderr).toContain('✖ "no-such-command" could not be started: no such command');
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test.concurrent("refuses it over HTTP: 3, with the remedy of the status", async () => {
    using scratch = new Scratch();
    const path = scratch.write("a.parlance.jsonl", recorded(...call));
    await using http = await serveHttp(createServer({ name: "notes", version: "1" }), { auth: () => undefined });
    const { code, stdout, stderr } = await parlance(["replay", path, "--as", "client", http.url]);
    expect(stderr).toContain("✖ the server refuses the request: HTTP 401 Unauthorized\n  │ ");
    expect(stderr).toContain("  → authenticate: --bearer-env TOKEN sends the key or token in that variable");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test.concurrent("closes its WebSocket, or has none: 3", async () => {
    using scratch = new Scratch();
    const path = scratch.write("a.parlance.jsonl", recorded(...call));
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    server.on("connection", (socket) => socket.on("message", () => socket.close(1000)));
    await once(server, "listening");
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const closed = await parlance(["replay", path, "--as", "client", url]);
    await new Promise((resolve) => server.close(resolve));
    const gone = await parlance(["replay", path, "--as", "client", url]);
    expect(closed.stderr).toMatch(/^✖ .*clos/);
    expect(gone.stderr).toMatch(/^✖ .*ECONNREFUSED.*\n {2}→ nothing listens there/s);
    for (const { code, stdout } of [closed, gone]) expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test.concurrent("cannot be reached: 3", async () => {
    using scratch = new Scratch();
    const path = scratch.write("a.parlance.jsonl", recorded(...call));
    const http = await serveHttp(createServer({ name: "notes", version: "1" }));
    await http.close();
    const { code, stdout, stderr } = await parlance(["replay", path, "--as", "client", http.url]);
    expect(stderr).toContain("ECONNREFUSED");
    expect(stderr).toContain("  → nothing listens there");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });
});

test("a server that refuses what it refused in the recording is compared, as any other", async () => {
  using scratch = new Scratch();
  const path = scratch.at("refused.parlance.jsonl");
  await using http = await serveHttp(createServer({ name: "notes", version: "1" }), { auth: () => undefined });
  await parlance(["run", "--once", "--record", path, http.url]);
  const { code, stdout } = await parlance(["replay", path, "--as", "client", "--strict", http.url]);
  expect(stdout).toContain("✔ no difference");
  expect(code).toBe(0);
});

test("a fault that shows only in the order of the messages is still there in a replay", async () => {
  using scratch = new Scratch();
  const answering = `
    let slow;
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id = null, method, params } = JSON.parse(line);
      const serverInfo = { name: "answers", version: "1" };
      const opened = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
      const result = method === "ping" ? {} : method === "tools/call" ? { content: [] } : opened;
      const error = { code: -32601, message: "Method not found" };
      if (method === "notifications/initialized") return;
      const answer = { jsonrpc: "2.0", id, ...(method === "notifications/cancelled" ? { error } : { result }) };
      if (method === "tools/call") slow = answer; // Answered after the ping.
      else console.log(JSON.stringify(answer));
      if (method === "ping") console.log(JSON.stringify(slow));
    });`;
  const path = scratch.write(
    "order.parlance.jsonl",
    recorded(
      ...opening(version, { server: { tools: {} } }),
      '→ {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}',
      '→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}',
      '← {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}',
      '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
      '← {"jsonrpc":"2.0","id":1,"result":{}}',
      '← {"jsonrpc":"2.0","id":5,"result":{"content":[]}}',
    ),
  );
  const again = scratch.at("again.parlance.jsonl");
  const args = ["replay", path, "--as", "client", "--record", again, "--", process.execPath, "-e", answering];
  const { stdout } = await parlance(args);
  expect(stdout).not.toContain("R-7 → no violation");
  expect((await parlance(["check", again])).stdout).toContain("R-7");
  const mended = answering.replace("return;", "return;\n if (id === null) return;");
  const after = await parlance([...args.slice(0, -1), mended].filter((word) => word !== "--record" && word !== again));
  expect(after.stdout).toContain("only in the first");
});

test("a response with the id of another call is waited for", async () => {
  using scratch = new Scratch();
  const mixing = `
    let current;
    let isLate = false;
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
      const serverInfo = { name: "mixes", version: "1" };
      const opened = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
      if (method === "initialize") send({ id, result: opened });
      else if (method === "ping") send({ id, result: isLate ? {} : { early: true } });
      else if (method === "tools/call") {
        current = id;
        if (params.name === "quick") send({ id, result: { content: [] } });
      } else if (method === "notifications/roots/list_changed")
        setImmediate(() => {
          isLate = true; // After a ping that was sent together with the notification.
          send({ id: current, result: { content: [] } });
        });
    });`;
  const path = scratch.write(
    "mixed.parlance.jsonl",
    recorded(
      ...opening(version, { server: { tools: {} } }),
      '→ {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}',
      '→ {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"quick"}}',
      '← {"jsonrpc":"2.0","id":6,"result":{"content":[]}}',
      '→ {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
      '← {"jsonrpc":"2.0","id":6,"result":{"content":[]}}',
      '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
      '← {"jsonrpc":"2.0","id":1,"result":{}}',
    ),
  );
  const { stdout } = await parlance(["replay", path, "--as", "client", "--", process.execPath, "-e", mixing]);
  expect(stdout).not.toContain("early");
  expect(stdout).toContain("7 messages alike");
  expect(stdout).toContain("! still no answer: tools/call slow");
});

test("a call is cancelled as late as in the recording, also if it was answered after that", async () => {
  using scratch = new Scratch();
  const late = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
      const serverInfo = { name: "late", version: "1" };
      const opened = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
      if (method === "initialize") send({ id, result: opened });
      else if (method === "tools/call") send({ id, result: { content: [] } });
    });`;
  const entries = recorded(
    ...opening(version, { server: { tools: {} } }),
    '→ {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}',
    '→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}',
    '← {"jsonrpc":"2.0","id":5,"result":{"content":[]}}',
  );
  const path = scratch.write(
    "late.parlance.jsonl",
    entries.map((entry, index) => (index < 4 ? entry : { ...entry, t: 60_000 + index })),
  );
  const { stdout } = await parlance(["replay", path, "--as", "client", "--", process.execPath, "-e", late]);
  expect(stdout).toContain("notifications/cancelled");
  expect(stdout).toContain("only in the first");
});

test("the recorded client is played at the recorded speed, or at a factor of it", async () => {
  using scratch = new Scratch();
  const said = recorded(
    ...opening(version),
    '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
    '← {"jsonrpc":"2.0","id":1,"result":{}}',
  );
  const path = scratch.write(
    "slow.parlance.jsonl",
    said.map((entry, index) => (entry.k === "f" && index > 2 ? { ...entry, t: entry.t + 4_000 } : entry)),
  );
  const again = scratch.at("again.parlance.jsonl");
  const args = ["replay", path, "--as", "client", "--speed", "10", "--record", again, ...toolsServer];
  expect((await parlance(args)).code).toBe(0);
  const frames = readFileSync(again, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);
  const [, , initialized, ping] = frames.filter((entry) => entry.k === "f");
  expect((ping?.t ?? 0) - (initialized?.t ?? 0)).toBeGreaterThan(390);
});

describe("a call that the recorded client gave up", () => {
  const call = '→ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"n":1}}}';
  const cancel = '→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';

  /** A recording in which the client cancels the call, or leaves, after some milliseconds. */
  function givenUp(scratch: Scratch, after: number, end: readonly Said[] = [cancel]): string {
    const said = recorded(...opening(version, { server: { tools: {} } }), call, ...end);
    const late = (entry: Entry, index: number): Entry =>
      index === said.length - 1 && entry.k === "f" ? { ...entry, t: entry.t + after } : entry;
    return scratch.write("given-up.parlance.jsonl", said.map(late));
  }

  /** A server whose calls take some milliseconds, unless they are cancelled before. */
  function slowServer(milliseconds: number): readonly string[] {
    const program = `const open = new Map(), { log } = console;
      const send = (id, result) => log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === "initialize")
          send(id, { protocolVersion: "${version}", capabilities: { tools: {} }, serverInfo: { name: "peer", version: "1" } });
        if (method === "tools/call") open.set(id, setTimeout(send, ${milliseconds}, id, { content: [] }));
        if (method === "notifications/cancelled") clearTimeout(open.get(params.requestId));
      });`;
    return ["--", process.execPath, "-e", program];
  }

  test.concurrent("is not cancelled if this server answers in the time that the client waited", async () => {
    using scratch = new Scratch();
    const path = givenUp(scratch, 3_600_000);
    const { code, stdout } = await parlance(["replay", path, "--as", "client", ...slowServer(300)]);
    expect(stdout).toContain('✔ → tools/call slow {"n":1}  no answer → ok\n');
    expect(stdout).toContain("- → notifications/cancelled  only in the first");
    expect(stdout).not.toContain("still no answer");
    expect(code).toBe(0);
  });

  test.concurrent("is waited for as long as the client stayed that cancelled nothing", async () => {
    using scratch = new Scratch();
    const path = givenUp(scratch, 3_600_000, ["← not JSON"]);
    const { code, stdout } = await parlance(["replay", path, "--as", "client", ...slowServer(600)]);
    expect(stdout).toContain('✔ → tools/call slow {"n":1}  no answer → ok\n');
    expect(code).toBe(0);
  });

  test.concurrent("is cancelled after that time, and named if there is still no answer", async () => {
    using scratch = new Scratch();
    const again = scratch.at("again.parlance.jsonl");
    const args = ["replay", givenUp(scratch, 300), "--as", "client", "--record", again, ...slowServer(3_600_000)];
    const { code, stdout } = await parlance(args);
    expect(stdout).toMatch(/! still no answer: tools\/call slow \{"n":1\}\n$/);
    expect(readFileSync(again, "utf8")).toContain("notifications/cancelled");
    expect(code).toBe(0);
    expect((await parlance(["replay", again, "--as", "client", "--strict", ...slowServer(3_600_000)])).code).toBe(2);
  });
});

test("a recorded pause of an hour ends with Ctrl-C", async () => {
  using scratch = new Scratch();
  const said = recorded(...opening(version), '→ {"jsonrpc":"2.0","id":1,"method":"ping"}');
  const path = scratch.write(
    "hour.parlance.jsonl",
    said.map((entry, index) => (entry.k === "f" && index > 2 ? { ...entry, t: 3_600_000 } : entry)),
  );
  const again = scratch.at("again.parlance.jsonl");
  const replaying = start(["replay", path, "--as", "client", "--speed", "1", "--record", again, ...toolsServer]);
  await expect
    .poll(() => existsSync(again) && readFileSync(again, "utf8"), { timeout: 20_000 })
    .toContain("notifications/initialized");
  replaying.interrupt();
  const { code, stderr } = await replaying.ended;
  expect(stderr).toContain("ended before everything was sent");
  expect(code).toBe(0);
});

test("a recorded server has no page of its own: run shows it", async () => {
  using scratch = new Scratch();
  const path = scratch.write("a.parlance.jsonl", recorded(...session));
  const { code, stderr } = await parlance(["replay", path, "--as", "server", "--ui"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`parlance run --ui -- parlance replay ${path} --as server`);
});

test("a cancelled call that is answered no more is no loss, and is not waited for", async () => {
  using scratch = new Scratch();
  const obeying = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const serverInfo = { name: "peer", version: "1" };
      const opened = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
      const result = method === "initialize" ? opened : {};
      if (id !== undefined && method !== "tools/call") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;
  const path = scratch.write(
    "answered.parlance.jsonl",
    recorded(
      ...opening(version, { server: { tools: {} } }),
      '→ {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}',
      '→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}',
      '← {"jsonrpc":"2.0","id":5,"result":{"content":[]}}',
    ),
  );
  const args = ["replay", path, "--as", "client", "--timeout", "10m", "--", process.execPath, "-e", obeying];
  const { stdout } = await parlance(args);
  expect(stdout).toContain("~ → tools/call slow  ok after its cancellation → no answer");
});
