import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { connect } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "../../http/client/opened.js";
import { type Asked, json, result, said, stream } from "../../http/client/played-server.js";
import { methodsOf, playSession } from "../../http/client/played-session.js";

const everything = fileURLToPath(
  new URL(`../../interop/node_modules/@modelcontextprotocol/${"server-everything"}/dist/index.js`, import.meta.url),
);

/** A refusal as some server words it. */
function refusal(status: number, code: number, message: string): (asked: Asked) => void {
  return (asked) => json(asked, status, { jsonrpc: "2.0", error: { code, message }, id: null });
}

function plain(status: number, text: string): (asked: Asked) => void {
  return ({ response }) => response.writeHead(status, { "content-type": "text/plain" }).end(text);
}

describe("C9: a session that is forgotten with 400 is begun anew, and the call is made again:", () => {
  test.each<[string, (asked: Asked) => void]>([
    ["the official everything server", refusal(400, -32_000, "Bad Request: No valid session ID provided")],
    ["a restarted official transport", refusal(400, -32_000, "Bad Request: Server not initialized")],
    ["the official example in plain text", plain(400, "Invalid or missing session ID")],
    ["with the code of 404", refusal(400, -32_001, "Session not found")],
    ["as an invalid request", refusal(400, -32_600, "Bad Request: unknown session")],
    ["as an expired one", refusal(400, -32_000, "Your session has expired")],
  ])("%s", async (_, refuse) => {
    await using server = await playSession();
    await using opened = await open(server);
    const call = opened.client.tools.call("a");
    const first = await server.next();
    expect(first.headers["mcp-session-id"]).toBe("s1");
    refuse(first);
    const again = await server.next();
    expect(again.headers["mcp-session-id"]).toBe("s2");
    result(again, said("ok"));
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
    expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(2);
  });
});

describe("C9: a 400 that is not about the session fails the one call, and nothing is made again:", () => {
  test.each<[string, (asked: Asked) => void, object]>([
    ["an invalid request", refusal(400, -32_600, "Invalid Request"), { code: -32_600 }],
    ["arguments that speak of a session", refusal(400, -32_602, "Invalid session argument"), { code: -32_602 }],
    ["a tool's own code", refusal(400, 17, "no valid session at the bank"), { code: 17 }],
    ["a page", plain(400, "Bad Request"), { status: 400 }],
    ["a long page", plain(400, `no valid session ${"x".repeat(5_000)}`), { status: 400 }],
    ["another status", refusal(500, -32_000, "No valid session ID provided"), { code: -32_000 }],
  ])("%s", async (_, refuse, expected) => {
    await using server = await playSession();
    await using opened = await open(server);
    const running = opened.client.tools.call("running");
    const held = await server.next();
    const call = errorOf(opened.client.tools.call("a"));
    refuse(await server.next());
    expect(await call).toMatchObject(expected);
    result(held, said("ok"));
    await running;
    expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(1);
  });
});

test("C9: what was already running is not made again", async () => {
  await using server = await playSession();
  await using opened = await open(server);
  const running = errorOf(opened.client.tools.call("running"));
  stream(await server.next());
  const call = opened.client.tools.call("a");
  refusal(400, -32_000, "Bad Request: No valid session ID provided")(await server.next());
  expect(await running).toMatchObject({ reason: "closed" });
  const again = await server.next();
  expect(again.message.params?.name).toBe("a");
  result(again, said("ok"));
  await call;
});

test("C9: a server that forgets every session fails the call, with its words", async () => {
  await using server = await playSession();
  await using opened = await open(server);
  const call = errorOf(opened.client.tools.call("a"));
  for (let times = 0; times < 2; times += 1) {
    refusal(400, -32_000, "Bad Request: No valid session ID provided")(await server.next());
  }
  expect(await call).toMatchObject({
    reason: "closed",
    message: expect.stringContaining("No valid session ID provided"),
  });
});

test.skipIf(!existsSync(everything))(
  "C9: the official everything server is spoken to again after its restart",
  async () => {
    const port = await freePort();
    const first = await startEverything(port);
    const client = await connect(`http://127.0.0.1:${port}/mcp`);
    await client.tools.call("echo", { message: "one" });
    await first.end();
    const second = await startEverything(port);
    expect((await client.tools.call("echo", { message: "two" })).content).toEqual([
      { type: "text", text: "Echo: two" },
    ]);
    await client.close();
    await second.end();
  },
);

async function startEverything(port: number): Promise<{ readonly end: () => Promise<void> }> {
  const child = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  await new Promise<void>((resolve) => {
    let text = "";
    const look = (chunk: Buffer): void => {
      text += String(chunk);
      if (/listening/i.test(text)) resolve();
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
  });
  return {
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
