import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { connect } from "@parlance/mcp/client";
import { afterEach, expect, test } from "vitest";
import { main, parlance, startInForm } from "../run.js";

type Value = Readonly<Record<string, unknown>>;

const packages = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const running: ChildProcess[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder with a server in `server.js` that greets as `greeting.js` says. */
function project(greeting = "hello"): {
  readonly write: (name: string, text: string) => void;
  readonly folder: string;
} {
  const folder = mkdtempSync(join(tmpdir(), "parlance-serve-"));
  folders.push(folder);
  symlinkSync(packages, join(folder, "node_modules"));
  const write = (name: string, text: string): void => {
    // As editors do: a new file in place of the old one.
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  write("package.json", '{ "type": "module" }');
  write("server.js", serverText);
  write("greeting.js", greetingText(greeting));
  return { folder, write };
}

function greetingText(greeting: string): string {
  return `export const greeting = ${JSON.stringify(greeting)};\n`;
}

const serverText = `import { createServer } from "@parlance/mcp/server";
import { greeting } from "./greeting.js";
console.log("noise of the module");
const server = createServer({ name: "greeter", version: "1.0.0" });
server.tool("greet", {}, () => greeting);
server.tool("hang", {}, () => new Promise(() => undefined));
export default server;
`;

/** Lines of JSON, one after the other. */
class JsonLines {
  readonly #lines: AsyncIterator<string>;
  readonly seen: Value[] = [];

  constructor(stream: Readable) {
    this.#lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  }

  /** The next one that has these members. */
  async next(wanted: Value): Promise<Value> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`no ${JSON.stringify(wanted)} in ${JSON.stringify(this.seen)}`);
      const line = JSON.parse(value) as Value;
      this.seen.push(line);
      if (Object.entries(wanted).every(([name, member]) => line[name] === member)) return line;
    }
  }
}

function serve(folder: string, ...flags: readonly string[]): { readonly child: ChildProcess; readonly out: JsonLines } {
  const child = spawn(process.execPath, [main, "serve", "server.js", ...flags], {
    cwd: folder,
    env: { ...process.env, PARLANCE_RECORDINGS: join(folder, "recordings") },
  });
  running.push(child);
  child.stderr.resume();
  return { child, out: new JsonLines(child.stdout) };
}

async function serveHttp(
  folder: string,
): Promise<{ readonly child: ChildProcess; readonly out: JsonLines; url: string }> {
  const { child, out } = serve(folder, "--http", "0", "--watch", "--json");
  const { http } = await out.next({ kind: "ready" });
  return { child, out, url: (http as { readonly url: string }).url };
}

test("a client over HTTP goes on when the module changes", async () => {
  const { folder, write } = project();
  const { child, out, url } = await serveHttp(folder);
  await using client = await connect(url, { revision: "2026-07-28" });
  expect(await client.tools.call("greet", {})).toMatchObject({ content: [{ text: "hello" }] });
  write("greeting.js", greetingText("good evening"));
  expect(await out.next({ kind: "changed" })).toEqual({ kind: "changed", file: join(folder, "greeting.js") });
  expect(await out.next({ kind: "ready" })).toMatchObject({ http: { url } });
  expect(await client.tools.call("greet", {})).toMatchObject({ content: [{ text: "good evening" }] });
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a module that does not load is said so with its place, and the next change is waited for", async () => {
  const { folder, write } = project();
  const { out, url } = await serveHttp(folder);
  write("greeting.js", "export const greeting = ;\n");
  const failed = await out.next({ kind: "failed" });
  expect(failed.message).toBe("server.js cannot be imported: Unexpected token ';'");
  expect(failed.seen).toEqual(["at greeting.js:1", "export const greeting = ;", "                        ^"]);
  write("greeting.js", '\nthrow new Error("no greeting today");\nexport const greeting = "";');
  expect(await out.next({ kind: "failed" })).toMatchObject({
    message: "server.js cannot be imported: no greeting today",
    seen: ["at greeting.js:2:7"],
  });
  rmSync(join(folder, "greeting.js"));
  expect((await out.next({ kind: "failed" })).message).toContain("Cannot find module");
  write("greeting.js", greetingText("back"));
  await out.next({ kind: "ready" });
  await using client = await connect(url);
  expect(await client.tools.call("greet", {})).toMatchObject({ content: [{ text: "back" }] });
});

test("the exit of a server is reported, and it is started again when its module changes", async () => {
  const { folder, write } = project();
  const { out, url } = await serveHttp(folder);
  write("server.js", `${serverText}server.tool("exit", {}, () => process.exit(7));\n`);
  await out.next({ kind: "ready" });
  await using client = await connect(url, { revision: "2026-07-28" });
  await expect(client.tools.call("exit", {})).rejects.toThrow();
  expect(await out.next({ kind: "exited" })).toEqual({ kind: "exited", how: "exited with code 7" });
  write("server.js", serverText);
  await out.next({ kind: "ready" });
});

test("after a command is killed, no server process is left", async () => {
  const { folder } = project();
  const { child } = await serveHttp(folder);
  child.kill("SIGKILL");
  await once(child, "close"); // When nobody holds its pipes any more.
});

/** Speaks as a host on stdio, in a revision that begins with a handshake. */
async function host(folder: string, ...flags: readonly string[]) {
  const { child, out } = serve(folder, ...flags);
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "host", version: "1" } };
  send({ id: 1, method: "initialize", params });
  await out.next({ id: 1 });
  send({ method: "notifications/initialized" });
  const call = (id: number, name: string): void => send({ id, method: "tools/call", params: { name, arguments: {} } });
  return { child, out, call };
}

test("on stdio, the conversation of a host goes on when the module changes", async () => {
  const { folder, write } = project();
  const { child, out, call } = await host(folder, "--watch");
  call(2, "hang");
  call(3, "greet");
  expect(await out.next({ id: 3 })).toMatchObject({ result: { content: [{ text: "hello" }] } });
  write("greeting.js", greetingText("good evening"));
  expect(await out.next({ id: 2 })).toMatchObject({
    error: { code: -32603, message: "server.js has changed and is reloaded: this call was lost" },
  });
  await out.next({ method: "notifications/tools/list_changed" });
  call(4, "greet");
  expect(await out.next({ id: 4 })).toMatchObject({ result: { content: [{ text: "good evening" }] } });
  expect(out.seen.filter(({ id }) => id === 1)).toHaveLength(1);
  child.stdin?.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("on stdio, a host is answered while the module does not load", async () => {
  const { folder, write } = project();
  const { child, out, call } = await host(folder, "--watch");
  call(2, "hang");
  write("greeting.js", "export {};");
  await out.next({ id: 2 });
  call(3, "greet");
  const { error } = await out.next({ id: 3 });
  expect(error).toMatchObject({ code: -32603, message: expect.stringContaining("does not provide an export named") });
  write("greeting.js", greetingText("back"));
  await out.next({ method: "notifications/tools/list_changed" });
  call(4, "greet");
  expect(await out.next({ id: 4 })).toMatchObject({ result: { content: [{ text: "back" }] } });
  child.stdin?.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("on stdio without --watch, nothing but messages is on stdout, and the end of stdin ends it", async () => {
  const { folder } = project();
  const { child, out, call } = await host(folder);
  call(2, "greet");
  await out.next({ id: 2 });
  child.stdin?.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(out.seen.map(({ id }) => id)).toEqual([1, 2]);
});

test("for a person, the address and the configuration for a host are printed", async () => {
  const { folder } = project();
  const child = spawn(process.execPath, [main, "serve", "server.js", "--http", "0"], { cwd: folder });
  running.push(child);
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    text += chunk;
    if (text.includes("Ctrl-C ends it")) break;
  }
  const [, url = ""] = /^✔ greeter 1\.0\.0 at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n/.exec(text) ?? [];
  expect(text).toContain(`.vscode/mcp.json  {"servers":{"greeter":{"type":"http","url":"${url}"}}}\n`);
  expect(text).toContain(`.cursor/mcp.json   {"mcpServers":{"greeter":{"type":"http","url":"${url}"}}}\n`);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("the traffic of clients over HTTP is shown and recorded, also after a change", async () => {
  const { folder, write } = project();
  const { child, out } = serve(folder, "--http", "0", "--watch", "--json", "--traffic");
  const { http } = await out.next({ kind: "ready" });
  const { url } = http as { readonly url: string };
  for (const [greeting, revision] of [
    ["hello", "2026-07-28"],
    ["good day", "2025-11-25"],
  ] as const) {
    if (greeting !== "hello") {
      write("greeting.js", greetingText(greeting));
      expect(await out.next({ kind: "ready" })).toMatchObject({ http: { url } });
    }
    await using client = await connect(url, { revision });
    expect(await client.tools.call("greet")).toMatchObject({ content: [{ text: greeting }] });
    await out.next({ method: "tools/call", kind: "req" });
  }
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const args = ["serve", join(folder, "server.js"), "--http", String(port), "--traffic"];
  const refused = await startInForm(args, { PARLANCE_RECORDINGS: join(folder, "recordings") }).ended;
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining(`port ${port} is not available: `) });
  expect((await startInForm(["serve", join(folder, "server.js"), "--traffic"]).ended).code).toBe(1);
});

test("for a person, traffic ends with the place of its recording", async () => {
  const { folder } = project();
  const PARLANCE_RECORDINGS = join(folder, "recordings");
  const args = ["serve", join(folder, "server.js"), "--http", "0", "--traffic"];
  const running = startInForm(args, { PARLANCE_RECORDINGS });
  await running.until("Ctrl-C ends it");
  running.interrupt();
  expect((await running.ended).stdout).toContain(`recorded to ${PARLANCE_RECORDINGS}/`);
});

test("an interrupt ends the command while its module is loaded", async () => {
  const { folder, write } = project();
  write("server.js", 'console.error("loading");\nawait new Promise(() => undefined);\n');
  const { child } = serve(folder, "--http", "0");
  await once(child.stderr as Readable, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("what cannot be served is refused, with the remedy", async () => {
  const { folder } = project();
  const serveIt = (name: string, ...flags: readonly string[]) =>
    startInForm(["serve", join(folder, name), ...flags]).ended;
  expect(await serveIt("none.js")).toMatchObject({ code: 3, stderr: expect.stringContaining("there is no file ") });
  expect(await serveIt("greeting.js")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("exports no server, neither as `server` nor as default"),
  });
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const refused = await serveIt("server.js", "--http", String(port), "--no-watch");
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining(`port ${port} is not available: `) });
  expect(refused.stderr).toContain("--http <port>");
  expect((await serveIt("server.js", "--http", "65536")).code).toBe(1);
  expect((await startInForm(["serve", "server.js", "--", "node"]).ended).code).toBe(1);
});

test("a TypeScript module is loaded with the tsx of its project, and reloaded with what it imports", async () => {
  const { folder, write } = project();
  write("server.ts", serverText.replace("greeting.js", "greeting.ts"));
  write("greeting.ts", "export const greeting: string = 'hello';");
  const child = spawn(process.execPath, [main, "serve", "server.ts", "--http", "0", "--watch", "--json"], {
    cwd: folder,
  });
  running.push(child);
  child.stderr.resume();
  const out = new JsonLines(child.stdout);
  const { http } = await out.next({ kind: "ready" });
  await using client = await connect((http as { readonly url: string }).url, { revision: "2026-07-28" });
  expect(await client.tools.call("greet", {})).toMatchObject({ content: [{ text: "hello" }] });
  write("greeting.ts", "export const greeting: string = 'good evening';");
  expect(await out.next({ kind: "changed" })).toEqual({ kind: "changed", file: join(folder, "greeting.ts") });
  await out.next({ kind: "ready" });
  expect(await client.tools.call("greet", {})).toMatchObject({ content: [{ text: "good evening" }] });
});

const stripsTypes = "typescript" in process.features && Boolean(process.features.typescript);

test.skipIf(stripsTypes)("without tsx, a TypeScript module is refused, with the remedy", async () => {
  const { folder, write } = project();
  write("server.ts", serverText);
  rmSync(join(folder, "node_modules"));
  const { code, stderr } = await parlance(["serve", join(folder, "server.ts")]);
  expect(code).toBe(3);
  expect(stderr).toContain("npm install --save-dev tsx");
});
