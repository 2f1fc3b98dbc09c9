import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mistakes } from "./beginners-table.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const interop = fileURLToPath(new URL("../../interop/", import.meta.url));

const prelude = `
import { connect } from "@parlance/mcp/client";
import { bearerAuth, devAuth, jwtAuth } from "@parlance/mcp/auth";
import { httpHandler, rpcHandler } from "@parlance/mcp/http";
import { acceptTcp, childChannel, nodeRpcHandler, serveHttp, serveStdio, tcpChannel } from "@parlance/mcp/node";
import { createServer, tool, ToolError } from "@parlance/mcp/server";
import { createService, memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks, pair } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import * as v from "valibot";
import * as z from "zod";
import { z as zod3 } from "zod3";
const server = createServer({ name: "shop", version: "1.0.0" });
const textOf = (result) => JSON.stringify(result.content);
const call = async (name, args) => {
  const client = await connect(server);
  return textOf(await client.tools.call(name, args));
};
`;
const typed = prelude
  .replace("(result)", "(result: import('@parlance/mcp').CallToolResult): string")
  .replace("async (name, args)", "async (name: string, args: Record<string, unknown> = {}): Promise<string>");

const sdkPrelude = `
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { Client } from "@modelcontextprotocol/client";
import * as z from "zod";
const server = new McpServer({ name: "shop", version: "1.0.0" });
const call = async (name, args, options) => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  return JSON.stringify(await client.callTool({ name, arguments: args }, options));
};
`;

/** Runs every module of a folder in one process, and prints what each has said: a result, an error, lines on stderr. */
const runner = `
const said = {};
process.on("unhandledRejection", (error) => console.error(error));
const write = process.stderr.write;
for (const name of process.argv.slice(2)) {
  const lines = [];
  process.stderr.write = (text) => lines.push(String(text)) > 0;
  try {
    lines.unshift(String((await (await import("./" + name)).run()) ?? ""));
  } catch (error) {
    lines.unshift(String(error?.message ?? error));
  }
  process.stderr.write = write;
  said[name] = lines.join("\\n");
}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
`;

const folders: string[] = [];

/** A folder of a program that has installed what a folder of ours has. */
function newProgram(modules: string): string {
  const folder = mkdtempSync(join(tmpdir(), "beginners-"));
  folders.push(folder);
  symlinkSync(join(modules, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "runner.js"), runner);
  return folder;
}

function nameOf(index: number): string {
  return `mistake-${index}`;
}

async function runAll(folder: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await run(process.execPath, ["runner.js", ...names], { cwd: folder, timeout: 60_000 });
  return JSON.parse(stdout) as Record<string, string>;
}

const compiling = new Set<number>();
let said: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const folder = newProgram(root);
  mistakes.forEach(({ code }, index) => {
    writeFileSync(join(folder, `${nameOf(index)}.js`), `${prelude}\nexport async function run() { ${code} }\n`);
    writeFileSync(join(folder, `${nameOf(index)}-typed.ts`), `${typed}\nexport async function run() { ${code} }\n`);
  });
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "esnext.disposable", "dom"],
    types: [],
    noEmit: true,
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const compile = run(process.execPath, [tsc, "-p", folder, "--pretty", "false"]).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
  const [errors, results] = await Promise.all([
    compile,
    runAll(
      folder,
      mistakes.map((_, index) => `${nameOf(index)}.js`),
    ),
  ]);
  said = results;
  mistakes.forEach((_, index) => {
    if (!errors.includes(`${nameOf(index)}-typed.ts(`)) compiling.add(index);
  });
});

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe("B1 to B9: every mistake of a beginner", () => {
  const rows = mistakes.map((mistake, index) => [`${mistake.item}: ${mistake.title}`, mistake, index] as const);

  test.each(rows)("%s, in TypeScript", (_name, { compiles }, index) => {
    expect(compiling.has(index)).toBe(compiles);
  });

  test.each(rows)("%s, in JavaScript", (_name, { says }, index) => {
    const message = said[`${nameOf(index)}.js`] ?? "";
    for (const part of says) expect(message).toContain(part);
    if (says.length === 0) expect(message).toMatch(/^\[{"type":"(text|image)"/);
  });
});

/** For comparison: nothing is asserted of what others say. */
test.skipIf(!existsSync(join(interop, "node_modules/@modelcontextprotocol/server")))(
  "what the official SDK says",
  async () => {
    const folder = newProgram(interop);
    const rows = mistakes.flatMap((mistake, index) => (mistake.sdk === undefined ? [] : [{ ...mistake, index }]));
    for (const { sdk, index } of rows) {
      writeFileSync(join(folder, `${nameOf(index)}.js`), `${sdkPrelude}\nexport async function run() { ${sdk} }\n`);
    }
    const theirs = await runAll(
      folder,
      rows.map(({ index }) => `${nameOf(index)}.js`),
    );
    const table = rows.map(({ item, title, index }) => {
      const line = (text = ""): string => text.replaceAll("\n", " ").slice(0, 160);
      const name = `${nameOf(index)}.js`;
      return `${item} ${title}\n  Parlance: ${line(said[name])}\n  SDK v2:   ${line(theirs[name])}`;
    });
    console.log(table.join("\n"));
    expect(Object.keys(theirs)).toHaveLength(rows.length);
  },
);
