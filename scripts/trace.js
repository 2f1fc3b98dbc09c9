/**
 * Prints every function of the library that one warm `tools/call` runs through, on stdio and over stateless HTTP, by the call counts
 * of V8, and how deep the stack is in the tool's handler.
 *
 *     npm run build && npm run trace               # both
 *     npm run trace -- stdio                       # or one of them
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { handshakeVersions, statelessVersions } from "@parlance/mcp";
import { serveHttp, serveStdio } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";

const warmUp = 200;
const library = fileURLToPath(new URL("../packages/mcp/", import.meta.url));
const number = { type: "number" };
const inputSchema = { type: "object", properties: { a: number, b: number }, required: ["a", "b"] };
const call = { name: "add", arguments: { a: 2, b: 3 } };
const meta = {
  "io.modelcontextprotocol/protocolVersion": statelessVersions[0],
  "io.modelcontextprotocol/clientInfo": { name: "trace", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const [mode, transport = ""] = process.argv.slice(2);
if (mode === "serve") await serve(transport);
else for (const each of mode === undefined ? ["stdio", "http"] : [mode]) await trace(each);

/** The server's process: it counts its calls from one message of its parent to the next, and sends them. */
async function serve(/** @type {string} */ over) {
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  let depth = 0;
  const server = createServer({ name: "trace", version: "1.0.0" });
  server.tool("add", { inputSchema }, ({ a, b }) => {
    depth = (new Error("how deep").stack ?? "").split("\n").filter((line) => line.includes("/packages/mcp/")).length;
    return `${Number(a) + Number(b)}`;
  });
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  process.on("message", async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage"); // Counts from here on.
    process.send?.({
      depth,
      scripts: result.filter(({ url }) => url.startsWith("file:") && url.includes("/packages/mcp/")),
    });
  });
  if (over === "stdio") await serveStdio(server);
  else process.send?.((await serveHttp(server, { port: 0 })).url);
}

async function trace(/** @type {string} */ over) {
  const child = fork(fileURLToPath(import.meta.url), ["serve", over], { stdio: ["pipe", "pipe", "inherit", "ipc"] });
  const counts = async () => {
    child.send("counts");
    return (await once(child, "message"))[0];
  };
  const send = over === "stdio" ? await overStdio(child) : overHttp((await once(child, "message"))[0]);
  for (let made = 0; made < warmUp; made += 1) await send();
  await counts();
  await send();
  const { depth, scripts } = await counts();
  child.kill();
  print(over, depth, scripts.flatMap(called));
}

/** @param {import("node:child_process").ChildProcess} child */
async function overStdio({ stdin, stdout }) {
  if (stdin === null || stdout === null) throw new Error("the server has no pipes");
  const send = async (/** @type {object} */ message) => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    if ("id" in message) await once(stdout, "data");
  };
  const params = {
    protocolVersion: handshakeVersions[0],
    capabilities: {},
    clientInfo: { name: "trace", version: "1.0.0" },
  };
  await send({ id: 0, method: "initialize", params });
  await send({ method: "notifications/initialized" });
  return () => send({ id: 1, method: "tools/call", params: call });
}

/** @param {string} url */
function overHttp(url) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...call, _meta: meta } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": statelessVersions[0],
    "mcp-method": "tools/call",
    "mcp-name": "add",
  };
  return async () => {
    const [response] = await once(request(url, { method: "POST", headers }).end(body), "response");
    for await (const _ of response);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  };
}

/** The functions of a script that ran, where they stand in the source. */
function called(
  /** @type {{ url: string, functions: import("node:inspector").Profiler.FunctionCoverage[] }} */ script,
) {
  const path = fileURLToPath(script.url);
  const text = readFileSync(path, "utf8");
  const map = existsSync(`${path}.map`) ? new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))) : undefined;
  return script.functions.flatMap(({ functionName, ranges: [range] }) => {
    if (range === undefined || range.count === 0) return [];
    if (functionName === "<instance_members_initializer>") return []; // The fields of a class: part of its constructor.
    const before = text.slice(0, range.startOffset).split("\n");
    const entry = map?.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
    const source = entry && "originalSource" in entry ? new URL(entry.originalSource, script.url) : new URL(script.url);
    const line = entry && "originalLine" in entry ? entry.originalLine + 1 : before.length;
    return [
      { file: relative(library, fileURLToPath(source)), line, name: functionName || "(anonymous)", count: range.count },
    ];
  });
}

/** @param {{ file: string, line: number, name: string, count: number }[]} functions */
function print(/** @type {string} */ over, /** @type {number} */ depth, functions) {
  const files = new Set(functions.map(({ file }) => file));
  for (const each of files) {
    console.log(each);
    for (const { line, name, count } of functions.filter(({ file }) => file === each))
      console.log(`  ${String(line).padStart(4)}  ${name}${count === 1 ? "" : `  × ${count}`}`);
  }
  console.log(`${over}: ${functions.length} functions in ${files.size} files, the handler ${depth} frames deep\n`);
}
