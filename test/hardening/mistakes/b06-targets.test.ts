import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "@parlance/mcp/client";
import { createService } from "@parlance/mcp/jsonrpc";
import { connectStdio, serveHttp, serveStdio, serveTcp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";

/** A program of JavaScript has no compiler that would have said so. */
const anything = (value: unknown): never => value as never;

const official = { connect: () => undefined, registerTool: () => undefined, server: {} };

describe("B6: connect says what it cannot reach, and what to give it", () => {
  test.each([
    ["a command, in the client entry", { command: "node" }, /connectStdio of @parlance\/mcp\/node starts commands/],
    ["undefined", undefined, /^connect cannot reach nothing: give it a URL/],
    ["null", null, /^connect cannot reach null: give it a URL/],
    ["a number", 3000, /^connect cannot reach a? ?number: give it a URL/],
    ["an object", {}, /^connect cannot reach such an object: give it a URL/],
    ["a server of the official SDK", official, /a server of the official SDK: make one with createServer/],
    ["a function that makes no channel", () => undefined, /a function that returns nothing, not a channel/],
    ["a function that makes a promise", async () => ({}), /a function that returns a promise, not a channel/],
  ])("%s", async (_what, target, message) => {
    await expect(connect(anything(target))).rejects.toThrow(message);
    if (!(typeof target === "object" && target !== null && "command" in target))
      await expect(connectStdio(anything(target))).rejects.toThrow(
        /^connectStdio needs a command, got .*connect of @parlance\/mcp\/client/,
      );
  });
});

describe("B6: the serve functions say that they need a server", () => {
  const serves = {
    serveStdio,
    serveHttp,
    serveTcp: (server: never) => serveTcp(server, { port: 0 }),
  };
  test.each(Object.entries(serves))("%s", async (name, serve) => {
    const remedy = "give it what createServer of @parlance/mcp/server returns";
    await expect(serve(anything(undefined))).rejects.toThrow(`${name} needs a server, got nothing: ${remedy}`);
    await expect(serve(anything(official))).rejects.toThrow(`${name} was given a server of the official SDK: make one`);
  });
});

test("B6: serveWebSocket, which serves plain JSON-RPC too, says how a service is given", async () => {
  await expect(serveWebSocket(anything(createService()))).rejects.toThrow(
    "serveWebSocket needs a server, got a service: write serveWebSocket((channel, caller) => openConnection(channel,",
  );
  await expect(serveHttp(anything(createService()))).rejects.toThrow(
    "got a service: write http.createServer(nodeRpcHandler(service.call))",
  );
});

test.each<[string, (port: number) => Promise<{ readonly port: number; close(): Promise<void> }>]>([
  ["serveHttp", (port) => serveHttp(createServer({ name: "http", version: "1" }), { port })],
  ["serveWebSocket", (port) => serveWebSocket(createServer({ name: "websocket", version: "1" }), { port })],
  [
    "serveTcp",
    async (port) => {
      const listener = await serveTcp(createServer({ name: "tcp", version: "1" }), { port });
      return { port: (listener.address as { readonly port: number }).port, close: () => listener.close() };
    },
  ],
])("B6: a port that is taken is named by %s, and the error has the code of Node", async (_name, serve) => {
  const { port, close } = await serve(0);
  await expect(serve(port)).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: expect.stringContaining(`127.0.0.1:${port} is in use: choose another address`),
  });
  await close();
});

/** Runs a program of an older Node: what it has not is taken away before anything is loaded. */
async function older(program: string): Promise<{ readonly code: unknown; readonly stderr: string }> {
  const source = `
    Reflect.deleteProperty(Array.prototype, "toReversed");
    Object.defineProperty(process.versions, "node", { value: "18.20.8" });
    Object.defineProperty(process, "version", { value: "v18.20.8" });
    ${program}
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [code] = await once(child, "close");
  return { code, stderr };
}

describe("B6: on an older Node, the error names the required version", () => {
  test.each(["server", "client", "node", "jsonrpc", "http"])("by the entry %s", async (entry) => {
    const { code, stderr } = await older(`await import("@parlance/mcp/${entry}");`);
    expect(stderr).toContain("@parlance/mcp needs Node.js 20.19 or newer");
    expect(stderr).not.toContain("is not a function");
    expect(code).toBe(1);
  });

  test("by the command", async () => {
    const main = new URL("../../../packages/cli/dist/parlance.js", import.meta.url).href;
    const { code, stderr } = await older(`await import(${JSON.stringify(main)});`);
    expect(stderr).toBe("parlance needs Node.js 20.19 or newer, and this is v18.20.8\n");
    expect(code).toBe(1);
  });
});
