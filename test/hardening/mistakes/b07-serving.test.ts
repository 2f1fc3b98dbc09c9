import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connect } from "@parlance/mcp/client";
import { serveHttp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";

function server(): ReturnType<typeof createServer> {
  const made = createServer({ name: "served", version: "1" });
  made.tool("ping", {}, () => "pong");
  return made;
}

const listeners = {
  serveHttp: async () => {
    const serving = await serveHttp(server());
    return [serving, () => connect(serving.url)] as const;
  },
  serveTcp: async () => {
    const serving = await serveTcp(server(), { port: 0 });
    return [serving, () => connect(() => tcpChannel(serving.address))] as const;
  },
  serveWebSocket: async () => {
    const serving = await serveWebSocket(server());
    return [serving, () => connect(() => nodeWebSocketChannel(serving.url))] as const;
  },
};

describe.each(Object.entries(listeners))("B7: %s resolves when it serves", (_name, serve) => {
  test.each(["close", "drain"] as const)("and closed resolves behind %s", async (how) => {
    const [serving, open] = await serve();
    const client = await open();
    expect((await client.tools.call("ping")).content).toEqual([{ type: "text", text: "pong" }]);
    await client.close();
    let isOver = false;
    const over = serving.closed.then((closed) => {
      isOver = true;
      return closed;
    });
    expect(isOver).toBe(false);
    await serving[how]();
    expect(await over).toEqual({ reason: "closed" });
  });
});

/** A program that serves on stdio, and what stands behind that. */
function run(behind: string): {
  readonly child: ReturnType<typeof spawn>;
  next(): Promise<unknown>;
  readonly code: Promise<unknown>;
} {
  const source = `
    import { createServer } from "@parlance/mcp/server";
    import { serveStdio } from "@parlance/mcp/node";
    const server = createServer({ name: "stdio", version: "1" });
    const serving = await serveStdio(server);
    ${behind}
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const code = once(child, "close").then(([status]: unknown[]) => status);
  return { child, code, next: async () => (await lines.next()).value };
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

describe("B7: serveStdio resolves when it serves", () => {
  test("a module that ends with it serves until stdin ends, and exits with 0", async () => {
    const { child, next, code } = run("");
    child.stdin?.write(ping);
    expect(JSON.parse(String(await next()))).toMatchObject({ id: 1, result: {} });
    child.stdin?.end();
    expect(await code).toBe(0);
  });

  test("code after it runs at once, and code after closed at the end", async () => {
    const { child, next, code } = run(`
      process.stdout.write("serving\\n");
      const { reason } = await serving.closed;
      process.stdout.write(reason + "\\n");
      process.exitCode = 7;
    `);
    expect(await next()).toBe("serving");
    child.stdin?.write(ping);
    expect(JSON.parse(String(await next()))).toMatchObject({ id: 1 });
    child.stdin?.end();
    expect(await next()).toBe("ended");
    expect(await code).toBe(7);
  });

  test.each(["close", "drain"])("%s ends it, and closed resolves", async (how) => {
    const { next, code } = run(`
      await serving.${how}();
      process.stdout.write((await serving.closed).reason + "\\n");
      process.stdin.destroy();
    `);
    expect(await next()).toBe("closed");
    expect(await code).toBe(0);
  });
});
