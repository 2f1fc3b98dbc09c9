import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { latest, latestHandshake } from "@parlance/mcp";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import type { Entry } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { RecordingFolder } from "../../wire/recording/recording-folder.js";
import { fixture, jsonLines, main, misbehaving, parlance, toolsServer } from "../run.js";

function methodsOf(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry) => {
    if (entry.k !== "f" || entry.d !== "c2s") return [];
    return [(JSON.parse(entry.raw ?? "") as { method?: string }).method];
  });
}

const said = ["initialize", "notifications/initialized", "tools/list", "tools/call", "tools/call"];

test("a revision that is given twice is a mistake: the second would win silently", async () => {
  const twice = ["--revision", "2025-11-25", "--revision", "2026-07-28"];
  const { code, stderr } = await parlance(["run", "--once", ...twice, ...toolsServer]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("parlance talk and check take several"),
  });
});

test("a run of a command records what crosses, and shows it", async () => {
  using folder = new RecordingFolder();
  const { code, stdout } = await parlance(["run", "--once", "--revision", "2025-11-25", ...toolsServer], folder.env);
  expect(code).toBe(0);
  expect(stdout).toContain("tools/call: hello hello");
  expect(stdout).toContain("✔ no violations · ");
  const [entries = []] = folder.read();
  expect(entries[0]).toMatchObject({ k: "hdr", mode: "launch", server: { cmd: process.execPath } });
  expect(methodsOf(entries)).toEqual(said);
  expect(entries.at(-1)).toMatchObject({ k: "end" });
});

test("a run of a URL records what crosses, and shows it", async () => {
  const server = createServer({ name: "greeter", version: "1.0.0" });
  for (const name of ["hello", "goodbye"]) server.tool(name, { annotations: { readOnlyHint: true } }, () => name);
  await using http = await serveHttp(server);
  using folder = new RecordingFolder();
  const record = join(folder.path, "mine.parlance.jsonl");
  const args = ["run", "--once", "--json", "--revision", "2025-11-25", "--record", record, http.url];
  const { code, stdout, stderr } = await parlance(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`{"recording":${JSON.stringify(record)},"violations":0,"failedFor":[]}`);
  const [entries = []] = folder.read();
  expect(entries[0]).toMatchObject({ k: "hdr", mode: "launch", server: { url: http.url } });
  expect(methodsOf(entries)).toEqual(said);
});

test("a URL at which nothing listens fails as it does without a recording", async () => {
  using folder = new RecordingFolder();
  const { code, stderr } = await parlance(["run", "--once", "http://127.0.0.1:1/mcp"], folder.env);
  expect(stderr).toContain("connect ECONNREFUSED 127.0.0.1:1\n  → nothing listens there");
  expect(stderr).not.toContain("502");
  expect(code).toBe(3);
});

test("a server cannot speak for the proxy", async () => {
  const headers = { "proxy-status": "parlance; error=destination_unavailable" };
  const server = createHttpServer((_request, response) => {
    response.writeHead(502, headers).end("parlance proxy: it cannot be reached: says the server");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  using folder = new RecordingFolder();
  const { port } = server.address() as AddressInfo;
  const { stderr } = await parlance(["run", "--once", `http://127.0.0.1:${port}/mcp`], folder.env);
  server.close();
  expect(stderr).toContain("the server responded with status 502");
});

test("the calls are made, and the other lists printed, when one list gets no valid response", async () => {
  using folder = new RecordingFolder();
  const server = join(folder.path, "broken-list.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
const answer = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "lists", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object", properties: { day: { type: "string" } }, required: ["days"] } }] }),
  "resources/list": () => ({ resources: [] }),
  "tools/call": () => ({ content: [{ type: "text", text: "added" }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const outcome = method in answer ? { result: answer[method](params) } : { error: { code: "E_METHOD", message: "no" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
});
`,
  );
  const command = ["--revision", "2025-11-25", "--", process.execPath, server];
  const ran = await parlance(["run", "--once", "--call", "add days=mon", ...command], folder.env);
  expect(ran.stdout).toContain("tools/call: add added");
  expect(ran.stderr).toContain("resources/templates/list (id 4): the answer is not a response at /error/code");
  expect(ran.code).toBe(2);
  const listed = await parlance(["list", ...command], folder.env);
  expect(listed.stdout).toContain("add       day?: string, days: required, and not in properties\n");
  expect(listed.stdout).toMatch(/0 templates\n {2}✖ resources\/templates\/list \(id 4\): the answer is not a response/);
  expect(listed.code).toBe(2);
});

test("the calls after a response that is cut off are made over HTTP, and the cut is explained", async () => {
  const tools = ["cut", "whole"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "cut", version: "1" },
    },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "4 °C" }] },
  };
  const server = createHttpServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method, params } = JSON.parse(text || "{}") as {
        id?: number;
        method?: string;
        params?: { name?: string };
      };
      if (request.method !== "POST") return response.writeHead(405).end();
      if (id === undefined) return response.writeHead(202).end();
      const body = JSON.stringify({ jsonrpc: "2.0", id, result: results[method ?? ""] ?? {} });
      const length = params?.name === "cut" ? body.length : Buffer.byteLength(body);
      return response.writeHead(200, { "content-type": "application/json", "content-length": length }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  using folder = new RecordingFolder();
  const { port } = server.address() as AddressInfo;
  const target = `http://127.0.0.1:${port}/mcp`;
  const calls = ["--call", "cut", "--call", "whole"];
  const { code, stdout, stderr } = await parlance(
    ["run", "--once", "--revision", "2025-11-25", ...calls, target],
    folder.env,
  );
  server.close();
  expect(stdout).toContain("tools/call: whole 4 °C");
  expect(stdout).toMatch(/server ← frag .*\n.* server +http +broken off: more bytes came than its Content-Length has/);
  expect(stderr).toMatch(/ended without a JSON-RPC response; before that, .*\n {2}→ the response is cut off: /);
  expect(code).toBe(3);
});

test("a tool that a call adds is listed again and called, and the missing notification is noted", async () => {
  using folder = new RecordingFolder();
  const server = join(folder.path, "growing.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
const tools = [{ name: "grow", inputSchema: { type: "object" } }];
const answer = { initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "growing", version: "1" } }),
  "tools/list": () => ({ tools }), "tools/call": ({ name }) => {
    if (name === "grow") tools.push({ name: "added", inputSchema: { type: "object" } });
    return { content: [{ type: "text", text: name }] };
  } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer[method](params) }));
});
`,
  );
  const revision = ["--revision", "2025-11-25"];
  const grown = await parlance(
    ["run", "--once", ...revision, "--call", "grow", "--call", "added", "--", "node", server],
    folder.env,
  );
  expect(grown, grown.stderr).toMatchObject({ code: 0 });
  expect(grown.stdout).toMatch(/tools\/call: added added/);
  expect(grown.stdout.replaceAll(/\s+/g, " ")).toMatch(
    /C-6 \/result\/tools "added" was added since frame \d+, without notifications\/tools\/list_changed/,
  );

  const wrong = await parlance(
    ["run", "--once", ...revision, "--call", "grow", "--call", "add", "--", "node", server],
    folder.env,
  );
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the server has no tool add: it offers grow, added") as unknown,
  });
});

test("a run of a module serves it as a program", async () => {
  using folder = new RecordingFolder();
  const { code } = await parlance(["run", "--once", "--call", "add a:=2 b:=3", fixture("tools-server.js")], folder.env);
  expect(code).toBe(0);
  expect(folder.text).toContain("sum");
});

test("a run in which the server breaks a rule says which, and ends with 2", async () => {
  using folder = new RecordingFolder();
  const noisy = `console.log("listening"); import(${JSON.stringify(fixture("tools-server.js"))}).then(({ server }) =>
    import("@parlance/mcp/node").then(({ serveStdio }) => serveStdio(server)))`;
  const { code, stdout } = await parlance(["run", "--once", "--", process.execPath, "-e", noisy], folder.env);
  expect(stdout).toContain("S-2");
  expect(stdout).toContain("1 violation");
  expect(code).toBe(2);
});

test("a server that cannot be started leaves its recordings all the same", async () => {
  using folder = new RecordingFolder();
  const { code, stdout, stderr } = await parlance(["run", "--once", "--", "no-such-command"], folder.env);
  expect(code).toBe(3);
  expect(stderr).toContain('"no-such-command" could not be started');
  expect(stdout).toContain("recorded to");
  expect(folder.text).toContain("ENOENT");
});

test("after a failure a run gives one account: one table, the numbers of the recording, and its verdicts", async () => {
  using folder = new RecordingFolder();
  const args = ["run", "--once", "--revision", "2025-11-25", "--timeout", "5s", "--call", "wait"];
  const { code, stdout, stderr } = await parlance([...args, ...misbehaving("hangs")], folder.env);
  expect(stdout.match(/method, or what it answers/g)).toHaveLength(1);
  expect(stdout).toMatch(
    /✖ 1 violation \(S-2 ×1\) · ✖ 1 request unanswered · 8 frames · 0 lost\n {2}parlance explain S-2 says how to mend it\nrecorded to /,
  );
  expect(stderr).toMatch(
    /^(?:still starting.*\n)?✖ tools\/call \(id 3\): no response .* this side received "still thinking".*\n {2}→ .*\n$/,
  );
  expect(stderr, "waiting longer is of no use").not.toContain("--timeout");
  expect(code).toBe(4);
  const check = await parlance(["check", "last"], folder.env);
  expect(stdout).toContain(check.stdout.split("\n")[0]);
});

test("a run of a server that crashes says so once, with its last words and what to do", async () => {
  using folder = new RecordingFolder();
  const args = ["run", "--once", "--json", "--revision", "2025-11-25"];
  const { code, stdout, stderr } = await parlance([...args, ...misbehaving("breaks")], folder.env);
  expect(stderr.match(/✖/g)).toHaveLength(1);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ violations: 1, failedFor: ["must", "pending", "crash"] });
  expect(code).toBe(3);
});

test("a server that crashes after a line that is not a message has crashed", async () => {
  using folder = new RecordingFolder();
  const server = join(folder.path, "noise-and-crash.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "a", inputSchema: { type: "object" } }] } });
  else if (id !== undefined) {
    console.log("looking it up");
    throw new RangeError("unlucky row");
  }
});
`,
  );
  const args = ["run", "--once", "--revision", "2025-11-25", "--call", "a", "--", process.execPath, server];
  const { code, stderr } = await parlance(args, folder.env);
  expect(code).toBe(3);
  expect(stderr).toContain("RangeError: unlucky row");
  expect(stderr).toContain("  → the server crashed: its output on stderr gives the reason\n");
});

test("a call whose response is invalid fails the run, and later calls are still made", async () => {
  using folder = new RecordingFolder();
  const server = join(folder.path, "string-ids.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const inputSchema = { type: "object" };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "a", inputSchema }, { name: "b", inputSchema }] } });
  else if (id !== undefined) send({ id: params.name === "a" ? String(id) : id, result: { content: [] } });
});
`,
  );
  const calls = ["--call", "a", "--call", "b"];
  const args = ["run", "--once", "--revision", "2025-11-25", ...calls, "--", process.execPath, server];
  const { code, stdout, stderr } = await parlance(args, folder.env);
  expect(code).toBe(2);
  expect(stdout).toContain("R-5");
  expect(stderr).toContain("the answer is not a response");
  const [entries = []] = folder.read();
  expect(methodsOf(entries)).toEqual(said);
});

test("calls after a tool that was added are made after an invalid response, too", async () => {
  using folder = new RecordingFolder();
  const server = join(folder.path, "growing-string-ids.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const tools = [{ name: "grow", inputSchema: { type: "object" } }, { name: "last", inputSchema: { type: "object" } }];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools } });
  else if (id !== undefined) {
    if (params.name === "grow") tools.push({ name: "added", inputSchema: { type: "object" } });
    send({ id: params.name === "added" ? String(id) : id, result: { content: [{ type: "text", text: params.name }] } });
  }
});
`,
  );
  const calls = ["--call", "grow", "--call", "added", "--call", "last"];
  const args = ["run", "--once", "--revision", "2025-11-25", ...calls, "--", process.execPath, server];
  const { code, stdout, stderr } = await parlance(args, folder.env);
  expect(code).toBe(2);
  expect(stderr).toContain("the answer is not a response");
  expect(stdout).toContain("tools/call: last last");
});

test("a device or a folder is no file to record to", async () => {
  for (const path of ["/dev/null", tmpdir()]) {
    const { code, stdout, stderr } = await parlance(["run", "--once", "--record", path, ...toolsServer]);
    expect(stderr).toBe(`✖ --record: ${path} is not a file\n  → name a new file, or leave the option out\n`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  }
});

test.each([latestHandshake.version, latest.version])(
  "in %s, a tool that asks a client without answers is named, with the option that answers it",
  async (revision) => {
    const server = createServer({ name: "asks", version: "1" });
    server.tool("borrow", {}, async (_args, ctx) => (await ctx.elicit("Which?", z.object({}))).action);
    const user = { role: "user" as const, content: { type: "text" as const, text: "?" } };
    server.tool("rhyme", {}, async (_args, ctx) => (await ctx.sample({ messages: [user], maxTokens: 9 })).model);
    server.tool("where", {}, async (_args, ctx) => String((await ctx.listRoots()).length));
    await using http = await serveHttp(server, { port: 0 });
    const calls = ["borrow", "rhyme", "where"].flatMap((tool) => ["--call", tool]);
    using folder = new RecordingFolder();
    for (const command of ["run", "talk"]) {
      const args = [command, "--once", "--revision", revision, ...calls, http.url];
      const { code, stdout, stderr } = await parlance(args, { ...folder.env, COLUMNS: "120" });
      const said = `${stdout}${stderr}`;
      expect(said).toContain(
        `did not run without elicitation: borrow   (--answer '{"name":"value"}' or --answer accept)\n`,
      );
      expect(said).toContain("did not run without sampling: rhyme   (--answer sampling=text)\n");
      expect(said).toContain("did not run without roots: where   (--roots folder)\n");
      expect(code).toBe(0);
    }
  },
);

test.each([latestHandshake.version, latest.version])(
  "in %s, a question stands between the frame that asks and the frame that answers, in one file for both outputs",
  async (revision) => {
    const folder = mkdtempSync(join(tmpdir(), "parlance-order-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const server = createServer({ name: "asks", version: "1" });
    server.tool("borrow", {}, async (_args, ctx) => (await ctx.elicit("Which?", z.object({}))).action);
    await using http = await serveHttp(server, { port: 0 });
    for (const target of [[http.url], ["--", process.execPath, fixture("acting-server.js")]]) {
      const path = join(folder, `${target.length}.txt`);
      const file = openSync(path, "w");
      const asked = ["--call", "borrow", "--answer", "decline", "--record", `${path}.parlance.jsonl`];
      const args = [main, "run", "--once", "--revision", revision, ...asked, ...target];
      await once(spawn(process.execPath, args, { stdio: ["ignore", file, file] }), "close");
      closeSync(file);
      const lines = readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => !line.includes(" http "));
      const question = lines.findIndex((line) => line.startsWith("the server asks: "));
      expect(lines[question - 1], lines.join("\n")).toMatch(/server ← .*elicitation\/create/);
      expect(lines[question + 2]).toMatch(/client → /);
    }
  },
);
