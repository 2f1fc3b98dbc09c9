import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { type Entry, encodeEntry } from "@parlance/wire";
import { expect, test } from "vitest";
import { header, opening, recorded } from "../../../wire/recording/recorded.js";
import { RecordingFolder } from "../../../wire/recording/recording-folder.js";
import { main, parlance, type Ran } from "../../run.js";
import { ask, bodyOf, proxied } from "../proxy/proxied.js";

/** A server on stdio that greets, lists a tool, and does with a call what `onCall` says. */
function serverThat(onCall: string): string {
  return `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      const serverInfo = { name: "planted", version: "1" };
      if (method === "initialize") answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
      if (method === "tools/list") answer({ tools: [{ name: "work", inputSchema: { type: "object" } }] });
      if (method === "tools/call") { ${onCall} }
    });`;
}

const [initialize = "", , initialized = ""] = opening("2025-11-25").map((line) => line.slice(2));
const call = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work","arguments":{}}}';
const list = '{"jsonrpc":"2.0","id":8,"method":"tools/list"}';

/** Starts a server behind a tap, and speaks to it: a line goes out when the text before it has come on stdout. */
async function tapped(
  folder: RecordingFolder,
  script: string,
  said: readonly (readonly [after: string, line: string])[],
): Promise<Ran> {
  const args = [main, "tap", "--name", "planted", "--", process.execPath, "-e", script];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...folder.env } });
  child.stdin.on("error", () => undefined); // A server that crashes closes it.
  const rest = [...said];
  let stdout = "";
  const speak = (): void => {
    for (let [next] = rest; next !== undefined && stdout.includes(next[0]); [next] = rest) {
      rest.shift();
      if (next[1] === leave) child.stdin.end();
      else child.stdin.write(`${next[1]}\n`);
    }
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    speak();
  });
  child.stdout.on("end", () => child.stdin.end());
  speak();
  await once(child, "close");
  return check(folder);
}

function check(folder: RecordingFolder, ...flags: readonly string[]): Promise<Ran> {
  return parlance(["check", "last", ...flags], folder.env);
}

/** In the place of a line: stdin ends. */
const leave = "";
const greeted = [
  ["", initialize],
  ['"id":0', initialized],
] as const;

test("check fails on a server that crashes in the middle of a call, and says in which", async () => {
  using folder = new RecordingFolder();
  const { code, stdout } = await tapped(folder, serverThat("process.exit(3)"), [...greeted, ["", call]]);
  expect(stdout).toMatch(/^✔ no violations · ✖ 1 crash · ✖ 1 request unanswered · 4 frames · 0 lost\n/);
  expect(stdout).toMatch(
    /\nCrashed\n .*:\d+ {2}the server exited with code 3 in the middle of tools\/call work \(frame \d+\)\n/,
  );
  expect(stdout).toMatch(
    /\nUnanswered\n .* frame \d+, id 7, tools\/call work: no response: the server exited with code 3\n/,
  );
  expect(code).toBe(2);
  const lenient = await check(folder, "--allow-unanswered");
  expect(lenient.code, "a crash stays one").toBe(2);
  expect((await check(folder, "--fail-on", "must,damage")).code).toBe(0);
});

test("check fails on a server that is ended by a signal of its own", async () => {
  using folder = new RecordingFolder();
  const script = serverThat('process.kill(process.pid, "SIGKILL")');
  const { code, stdout } = await tapped(folder, script, [...greeted, ["", call]]);
  expect(stdout).toContain("the server was ended by SIGKILL in the middle of tools/call work");
  expect(code).toBe(2);
});

test("check fails on a request that is never answered, unless that is allowed", async () => {
  using folder = new RecordingFolder();
  const { code, stdout } = await tapped(folder, serverThat(""), [
    ...greeted,
    ["", call],
    ["", list],
    ['"id":8', leave],
  ]);
  expect(stdout).toMatch(/^✔ no violations · ✖ 1 request unanswered · 6 frames · 0 lost\n/);
  expect(stdout).toMatch(
    /\nUnanswered\n .* id 7, tools\/call work: no response: the server exited with code 0 after the client closed its side\n/,
  );
  expect(code).toBe(2);
  expect((await check(folder, "--allow-unanswered")).code).toBe(0);
});

test("a server that ends because its client has left has not crashed", async () => {
  using folder = new RecordingFolder();
  const script = `${serverThat("")} process.stdin.on("end", () => process.exit(1));`;
  const { code, stdout } = await tapped(folder, script, [...greeted, ["", list], ['"id":8', leave]]);
  expect(stdout).toBe("✔ no violations · 5 frames · 0 lost\n");
  expect(code).toBe(0);
});

test("a server that a host ends with a signal has not crashed", async () => {
  using folder = new RecordingFolder();
  const args = [main, "tap", "--", process.execPath, "-e", serverThat("")];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...folder.env } });
  child.stdin.write(`${initialize}\n`);
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  await once(child, "close");
  const { code, stdout } = await check(folder);
  expect(stdout).toBe("✔ no violations · 2 frames · 0 lost\n");
  expect(code).toBe(0);
});

test("check fails on a recording with no frame, and says why there is none", async () => {
  using folder = new RecordingFolder();
  const { code, stdout } = await tapped(folder, "process.exit(1)", []);
  expect(stdout).toMatch(
    /^✔ no violations · ✖ 1 crash · ✖ no frame was recorded: neither side has sent anything · 0 lost\n/,
  );
  expect(stdout).toContain("the server exited with code 1\n");
  expect(code).toBe(2);
  await parlance(["tap", "--", "no-such-command"], folder.env);
  const missing = await check(folder);
  expect(missing.stdout).toMatch(/\nCrashed\n .*the server could not be started: .*ENOENT/);
  expect(missing.code).toBe(2);
});

/** A server on stdio with a tool that only reads. */
const reading = `
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const progress = (token) => send({ method: "notifications/progress", params: { progressToken: token, progress: 1 } });
  const serve = ({ id, method, params }) => {
    const serverInfo = { name: "planted", version: "1" };
    const tool = { name: "now", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
    if (method === "initialize") send({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
    else if (method === "tools/list") send({ id, result: { tools: [tool, { name: "strict", inputSchema: { type: "object", required: ["x"] } }] } });
    else if (method === "ping") send({ id, result: {} });
    else if (method === "tools/call" && params.name === "now") call(id, params._meta?.progressToken);
    else if (method === "tools/call") send({ id, error: { code: -32602, message: "Unknown tool" } });
    else if (method === "notifications/cancelled") cancelled(params.requestId);
    else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  };
  const call = (id, token) => { BEFORE; send({ id, result: { content: [] } }); AFTER; };
  const cancelled = (id) => { CANCELLED; };
  const receive = (line) => {
    let message;
    try { message = JSON.parse(line); } catch { return send({ id: null, error: { code: -32700, message: "Parse error" } }); }
    if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0" || typeof message.method !== "string")
      return send({ id: null, error: { code: -32600, message: "Invalid Request" } });
    serve(message);
  };`;
const byLine = 'require("node:readline").createInterface({ input: process.stdin }).on("line", receive);';
const byChunk = `
  let held = "";
  process.stdin.on("data", (chunk) => {
    const lines = (held + chunk.toString()).split("\\n");
    held = lines.pop();
    for (const line of lines) receive(line);
  }).on("end", () => process.exit());`;

test.each([
  ["sends the progress token as another type", { BEFORE: "progress(String(token))" }, byLine, ["P-1"]],
  ["takes the id for the progress token", { BEFORE: "progress(id)" }, byLine, ["P-1"]],
  ["sends progress after the result", { AFTER: "progress(token)" }, byLine, ["P-4"]],
  ["decodes each chunk of stdin by itself", {}, byChunk, ["R-5", "XM-13"]],
  ["answers a cancellation", { CANCELLED: "send({ id, result: {} })" }, byLine, ["R-7", "XM-10"]],
  ["does all that right", {}, byLine, []],
])("check -- of a server that %s", async (_what, faults, reads, findings) => {
  const script = Object.entries({ BEFORE: "", AFTER: "", CANCELLED: "", ...faults }).reduce(
    (text, [place, fault]) => text.replace(place, fault),
    `${reading}${reads}`,
  );
  using folder = new RecordingFolder();
  const flags = ["--revision", "2025-11-25", "--timeout", "2"];
  const { code, stdout } = await parlance(["check", ...flags, "--", process.execPath, "-e", script], folder.env);
  const failed = [...stdout.matchAll(/^ *[✖!] ([A-Z]+-\d+) /gmu)].map(([, id]) => id).filter((id) => id !== "XF-5");
  expect(failed.toSorted()).toEqual(findings);
  for (const must of findings.filter((id) => id !== "XM-10"))
    expect(stdout).toMatch(new RegExp(`parlance explain (?:[A-Z]+-\\d+ )*${must} .*says how to mend`));
  expect(code).toBe(findings.length === 0 ? 0 : 2);
});

test("check --call of one of two tools asks for its progress with tokens of both types", async () => {
  const script = reading
    .replace("BEFORE", "progress(String(token))")
    .replace("AFTER", "")
    .replace("CANCELLED", "")
    .replace("readOnlyHint: true", "readOnlyHint: false");
  const flags = ["--revision", "2025-11-25", "--timeout", "2", "--call", "now"];
  const { code, stdout } = await parlance(["check", ...flags, "--", process.execPath, "-e", `${script}${byLine}`]);
  expect(stdout).toMatch(/^ *✖ P-1 /mu);
  expect(code).toBe(2);
});

test("check --call notes a call that is lost beside another of the same tool, and --fail-on pending lists it", async () => {
  // The first two calls are made at the same time.
  const program = reading
    .replace("BEFORE;", "calls += 1; if (calls === 2) return;")
    .replace("AFTER", "")
    .replace("CANCELLED", "")
    .replace("readOnlyHint: true", "readOnlyHint: false");
  const script = `let calls = 0; ${program}${byLine}`;
  const flags = ["--revision", "2025-11-25", "--timeout", "2", "--call", "now"];
  const noted = await parlance(["check", ...flags, "--", process.execPath, "-e", script]);
  expect(noted.stdout.replaceAll(/\s+/g, " ")).toContain(
    'of two calls of "now" at the same time, not both got a response',
  );
  const failing = ["--fail-on", "must,pending"];
  const listed = await parlance(["check", ...flags, ...failing, "--", process.execPath, "-e", script]);
  expect(listed.stdout).toMatch(/\nUnanswered\n[\s\S]*, tools\/call now: no response/);
  expect(listed.stdout).toMatch(/ · \d+ requests? unanswered\n/);
  expect(listed.code).toBe(2);
});

test("check --call makes every named call, also after one that has failed", async () => {
  using folder = new RecordingFolder();
  const answer = "send({ id, result: { content: [], isError: params.arguments.n == 1 } })";
  const script = `${reading.replace("CANCELLED", "").replace('=== "now") call(id, params._meta?.progressToken)', `=== "now") ${answer}`)}${byLine}`;
  const record = join(folder.path, "calls.parlance.jsonl");
  const calls = ["--call", "now n=1", "--call", "now n=2", "--record", record];
  const flags = ["--revision", "2025-11-25", "--timeout", "2", ...calls];
  const { stdout } = await parlance(["check", ...flags, "--", process.execPath, "-e", script]);
  expect(stdout).toContain('"now": the tool failed');
  expect(readFileSync(record, "utf8").match(/\{\\"n\\":\\?"?2/g)).toHaveLength(3);
});

test("a server of another revision is named with the option that examines it", async () => {
  const script = `${reading.replace("BEFORE", "").replace("AFTER", "").replace("CANCELLED", "")}${byLine}`;
  const { stderr } = await parlance(["check", "--revision", "2025-06-18", "--", process.execPath, "-e", script]);
  expect(stderr).toContain('it settles on "2025-11-25"\n  → --revision 2025-11-25 examines what it speaks\n');
});

test("what still waits when a recording breaks off is not held against anyone", async () => {
  using folder = new RecordingFolder();
  const live: readonly Entry[] = recorded(...opening("2025-11-25", { server: { tools: {} } }), `→ ${call}`);
  await writeFile(join(folder.path, "live.parlance.jsonl"), [header, ...live].map(encodeEntry).join(""));
  const { code, stdout } = await check(folder);
  expect(stdout).toMatch(
    /^✔ no violations · 4 frames · 0 lost\n\nOpen when the recording ends\n .*: waiting 0\.0 s\n$/,
  );
  expect(code).toBe(0);
  const { stdout: json } = await check(folder, "--json");
  expect(JSON.parse(json)).toMatchObject({ passed: true, pending: [{ id: "7", state: "unknown" }], crashes: [] });
});

const http = {
  method: "POST",
  headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
};

test("over HTTP, a request that was refused with 401 has its answer", async () => {
  await using proxy = await proxied((_, response) => response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end());
  await ask(`${proxy.near}/mcp`, http, [Buffer.from(initialize)]);
  const { code, stdout } = await checked(await proxy.recorded());
  expect(stdout).toBe("✔ no violations · 1 frame · 0 lost\n");
  expect(code).toBe(0);
});

test("over HTTP, what is under way when the proxy is stopped is not held against anyone", async () => {
  let reached: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    reached = resolve;
  });
  await using proxy = await proxied(async (request) => {
    await bodyOf(request as IncomingMessage);
    reached();
  });
  const asked = ask(`${proxy.near}/mcp`, http, [Buffer.from(call)]).catch((error: unknown) => error);
  await arrived;
  const entries = await proxy.recorded();
  await asked;
  expect(entries.findLast(({ k }) => k === "h")).toMatchObject({
    ph: "abort",
    by: "recorder",
    why: "the proxy was stopped",
  });
  const { code, stdout } = await checked(entries, "--fail-on", "pending");
  expect(stdout).toContain("\nOpen when the recording ends\n");
  expect(code).toBe(0);
});

/** Checks a recording that was read before. */
async function checked(entries: readonly Entry[], ...flags: readonly string[]): Promise<Ran> {
  using folder = new RecordingFolder();
  await writeFile(join(folder.path, "one.parlance.jsonl"), entries.map(encodeEntry).join(""));
  return await check(folder, ...flags); // Before the folder is gone.
}

test("a server that writes no line feeds speaks no revision, which is said with the remedy", async () => {
  const program = `process.stdin.on("data", (chunk) => {
    const { id } = JSON.parse(String(chunk).split("\\n")[0]);
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
  });`;
  const flags = ["--revision", "2025-11-25", "--timeout", "800ms"]; // A start may take six times as long.
  const { code, stderr } = await parlance(["check", ...flags, "--", process.execPath, "-e", program]);
  expect(stderr).toContain("initialize was not answered: an answer without a line feed\n");
  expect(stderr).toContain("  → write a line feed after each message, as console.log does: parlance explain S-1\n");
  expect(code).toBe(4);
});
