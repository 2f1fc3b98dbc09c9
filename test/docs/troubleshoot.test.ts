import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { connectStdio, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";

// The texts on the pages on troubleshooting that are ours are made here, in real runs. A text has `…` where it differs.

const folder = join(import.meta.dirname, "../../docs/troubleshoot");
const pages = await Promise.all(
  ["index.md", "http.md", "typescript.md"].map((name) => readFile(join(folder, name), "utf8")),
);
/** The texts of the headings: several may share one. */
const texts = pages.flatMap((page) =>
  [...page.matchAll(/^### (?<heading>.*)$/gm)].flatMap(({ groups }) =>
    [...(groups?.heading ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
  ),
);

/** Whether a message has the text of a page. */
function has(message: string, text: string): boolean {
  const parts = text.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join("[^]*")).test(message);
}

/** The message of the error that a call rejects with. */
async function messageOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error("it did not fail");
}

function createFaulty() {
  const server = createServer({ name: "faulty", version: "1.0.0" });
  server.tool("fail", {}, () => {
    throw new Error("secret");
  });
  server.tool("add", { inputSchema: z.object({ a: z.number() }) }, ({ a }) => `${a}`);
  server.tool("ask", {}, async (_args, ctx) => (await ctx.elicit("Who?", z.object({ name: z.string() }))).action);
  server.tool(
    "wait",
    {},
    (_args, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => resolve("late"));
      }),
  );
  return server;
}

const quiet = { report: () => undefined };

/** The error of a client for a call to the faulty server. */
function calling(name: string, args?: Record<string, unknown>, options?: { readonly timeout: number }) {
  return async () => {
    await using client = await connect(createFaulty(), quiet);
    const result = await client.tools.call(name, args, options);
    throw new Error(JSON.stringify(result.content));
  };
}

/** The error of a client for a program. */
function starting(code: string) {
  return async () => {
    const target = { command: process.execPath, args: ["-e", code], stderr: "pipe" } as const;
    await using _client = await connectStdio(target, { ...quiet, timeout: 1_000, probeTimeout: 500 });
  };
}

/** The response of the faulty server over HTTP. */
function posting(headers: Readonly<Record<string, string>>, body: unknown, url = "http://localhost/mcp") {
  return async () => {
    const request = new Request(url, {
      method: "POST",
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    throw new Error(((await (await httpHandler(createFaulty())(request)).json()) as { error: Error }).error.message);
  };
}

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const stateless = (version: string): object => ({
  ...list,
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

async function serving(options: object): Promise<void> {
  const http = await serveHttp(createFaulty(), { port: 0, ...options });
  await http.close();
}

const ours: Readonly<Record<string, () => unknown>> = {
  '"…" could not be started: no such command: check the name and PATH': () =>
    connectStdio({ command: "no-such-command" }, quiet),
  '"…" exited with code 1; its last lines on stderr:': starting("console.error('no DATABASE_URL'); process.exit(1)"),
  "a frame must be JSON (Unexpected token …": starting(
    "console.log('Starting'); process.stdin.resume().on('end', () => process.exit())",
  ),
  "no response or notification for … ms": calling("wait", {}, { timeout: 100 }),
  async "the connection is closed"() {
    const client = await connect(createFaulty(), quiet);
    await client.close();
    await client.tools.call("add");
  },
  "Internal error": calling("fail"),
  async "Method not found"() {
    await using client = await connect(createFaulty(), quiet);
    await client.call("acme/gone");
  },
  "Unknown tool: …": calling("gone"),
  "Invalid arguments for tool …:": calling("add", { a: "two" }),
  async "…: the server has not advertised the capability …"() {
    await using client = await connect(createFaulty(), quiet);
    await client.prompts.list().all();
  },
  "Missing required client capability: elicitation.form": calling("ask"),
  "Unsupported protocol version": posting(
    { "mcp-protocol-version": "1900-01-01", "mcp-method": "tools/list" },
    stateless("1900-01-01"),
  ),
  '…: unknown member "…": did you mean …?': () => serving({ prot: 1 }),
  "… was given a server of the official SDK": () =>
    Reflect.apply(serveHttp, undefined, [{ connect: serveHttp, registerTool: serveHttp }, { port: 0 }]),
  'Unknown protocol revision "…": use one of …': () => connect(createFaulty(), { revision: "2024-10-07" }),
  "connect cannot reach such an object: connectStdio of @parlance/mcp/node starts commands": () =>
    Reflect.apply(connect, undefined, [{ command: "node" }]),
  async "… is in use: choose another address, or end what listens there"() {
    const http = await serveHttp(createFaulty(), { port: 0 });
    try {
      await serving({ port: Number(new URL(http.url).port) });
    } finally {
      await http.close();
    }
  },
  "Any machine that can reach … could call this server without authentication": () => serving({ host: "0.0.0.0" }),
  "… cannot be reached: …": () => connect("http://127.0.0.1:1/mcp", quiet),
  async "not found: the server is at …"() {
    const http = await serveHttp(createFaulty(), { port: 0 });
    try {
      await connect(new URL("/other", http.url), quiet);
    } finally {
      await http.close();
    }
  },
  'Host "…" is not served here: name it in allowedHosts': posting(
    { host: "evil.example" },
    list,
    "http://evil.example/mcp",
  ),
  'pages of "…" may not call: name it in allowedOrigins': posting(
    { host: "localhost", origin: "https://evil.example" },
    list,
  ),
  "Accept must have application/json and text/event-stream": posting({ accept: "application/json" }, list),
  "Content-Type is not application/json": posting({ "content-type": "text/plain" }, list),
  "Header mismatch": posting(
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" },
    stateless("2026-07-28"),
  ),
  "Parse error": posting({}, "{"),
  "Mcp-Session-Id is missing: open a session with initialize": posting({}, list),
  "there is no such session: open one with initialize": posting({ "mcp-session-id": "gone" }, list),
};

test.each(Object.entries(ours))("a run prints %s", async (text, run) => {
  expect(texts).toContain(text);
  const message = await messageOf(run);
  expect(has(message, text), message).toBe(true);
});

/** Texts of ours that a run here cannot make: those of an older runtime, and of another version of a package. */
const inSource: Readonly<Record<string, string>> = {
  "@parlance/mcp needs Node.js 20.19 or newer": "base/runtime.ts",
  "zod 3 describes its schemas with another package": "schema/converters.ts",
  "this version of zod does not support Standard Schema": "schema/compile.ts",
};

test.each(Object.entries(inSource))("the source has %s", async (text, file) => {
  expect(texts).toContain(text);
  expect(await readFile(join(import.meta.dirname, "../../packages/mcp/src", file), "utf8")).toContain(text);
});

describe("texts of Node", () => {
  test("of JSON.parse", async () => {
    expect(await messageOf(() => JSON.parse("Starting server"))).toBe(
      `Unexpected token 'S', "Starting server" is not valid JSON`,
    );
    expect(texts).toContain(`Unexpected token 'S', "Starting server" is not valid JSON`);
  });
  test("of fetch", async () => {
    expect(await messageOf(() => fetch("http://127.0.0.1:1"))).toBe("fetch failed");
    expect(texts).toContain("fetch failed");
  });
});

const sdk = join(import.meta.dirname, "../interop/node_modules/@modelcontextprotocol/sdk/dist/esm");

/** Texts of version 1 of the official SDK, and its files that have them. Its examples are not its library. */
const ofSdk: Readonly<Record<string, string>> = {
  "MCP error -32000: Connection closed": "shared/protocol.js",
  "MCP error -32001: Request timed out": "shared/protocol.js",
  "Server does not support …": "server/index.js",
  "Client does not support …": "server/index.js",
  "Structured content does not match the tool's output schema: …": "client/index.js",
  "Received a progress notification for an unknown token: …": "shared/protocol.js",
  "Tool … has an output schema but no structured content was provided": "server/mcp.js",
  "Stateless transport cannot be reused across requests": "server/webStandardStreamableHttp.js",
  "Invalid Host: …": "server/middleware/hostHeaderValidation.js",
  "Invalid Host header: …": "server/webStandardStreamableHttp.js",
  "Not Acceptable: Client must accept both application/json and text/event-stream":
    "server/webStandardStreamableHttp.js",
  "Session not found": "server/webStandardStreamableHttp.js",
  "Bad Request: Server not initialized": "server/webStandardStreamableHttp.js",
  "Bad Request: No valid session ID provided": "examples/server/simpleStreamableHttp.js",
  "Conflict: Only one SSE stream is allowed per session": "server/webStandardStreamableHttp.js",
  "SSE stream disconnected: TypeError: terminated": "client/streamableHttp.js",
};

// Installed by `npm ci --prefix test/interop`.
test.skipIf(!existsSync(sdk)).each(Object.entries(ofSdk))("the official SDK has %s", async (text, file) => {
  expect(texts).toContain(text);
  // It writes `MCP error`, the code and the names of what differs separately.
  const written = text.replace(/^MCP error -\d+: /, "").replace(/: TypeError: terminated$/, ": …");
  expect(has(await readFile(join(sdk, file), "utf8"), written)).toBe(true);
});

test("no text has two entries", () => {
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
});
