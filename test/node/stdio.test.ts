import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { expectNobodyLeft } from "./conversations.js";

// These programs import the built package, as any program does: `npm test` builds it first.
const root = fileURLToPath(new URL("../..", import.meta.url));

const server = `
  import { createService, openConnection } from "@parlance/mcp/jsonrpc";
  import { stdioChannel } from "@parlance/mcp/node";
  const service = createService()
    .method("ping", () => "pong")
    .method("slow", () => new Promise((resolve) => setTimeout(resolve, 100, "done")));
  openConnection(stdioChannel(), { handle: service.call });
`;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program; `ended` resolves with what became of it. */
function start(source: string): { child: ChildProcessWithoutNullStreams; ended: Promise<Ended> } {
  const args = ["-c", 'ulimit -n 200; exec "$0" --input-type=module --eval "$1"', process.execPath, source];
  const child = spawn("/bin/sh", args, { cwd: root });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...said }));
  return { child, ended };
}

function request(id: number, method: string): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`;
}

function answer(id: number, result: string): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
}

describe("a server on stdin and stdout", () => {
  test("answers what was asked before the end of stdin, then exits by itself with code 0", async () => {
    const { child, ended } = start(server);
    child.stdin.end(request(1, "slow") + request(2, "slow") + request(3, "ping"));
    expect(await ended).toEqual({
      code: 0,
      signal: null,
      stdout: answer(3, "pong") + answer(1, "done") + answer(2, "done"),
      stderr: "",
    });
  });

  test("answers any number of requests that came at once", async () => {
    const { child, ended } = start(server);
    const ids = [...Array(10_000).keys()];
    child.stdin.end(ids.map((id) => request(id, "ping")).join(""));
    expect((await ended).stdout).toBe(ids.map((id) => answer(id, "pong")).join(""));
  });

  test("exits with code 0 in the middle of a line, and does not answer it", async () => {
    const { child, ended } = start(server);
    child.stdin.end('{"jsonrpc":"2.0","id":1,"meth');
    expect(await ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  });

  test("exits without a trace when its output is closed", async () => {
    const { child, ended } = start(server);
    child.stdout.destroy();
    child.stdin.write(request(1, "ping"));
    expect(await ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  });

  test("ends at SIGTERM, as any process does", async () => {
    const { child, ended } = start(server);
    child.stdin.write(request(1, "ping"));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: null, signal: "SIGTERM" });
  });
});

test("a program that exits without closing leaves no child that ignores the end of its input", async () => {
  const { ended } = start(`
    import { childChannel } from "@parlance/mcp/node";
    const channel = childChannel({ command: "/bin/sh", args: ["-c", "sleep 600 & sleep 600"] });
    process.stdout.write(String(channel.pid), () => process.exit(7));
  `);
  const { code, stdout } = await ended;
  expect(code).toBe(7);
  await expectNobodyLeft([Number(stdout)]);
});

test("a program that closes ends by itself, though a process outside the group holds the pipes of its child", async () => {
  const child = `
    const { spawn } = require("node:child_process");
    const stray = spawn("sleep", ["10"], { detached: true, stdio: "inherit" });
    stray.unref();
    console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, result: stray.pid }));
    process.stdin.resume();
  `;
  const { ended } = start(`
    import { openConnection } from "@parlance/mcp/jsonrpc";
    import { childChannel } from "@parlance/mcp/node";
    const command = { command: process.execPath, args: ["--eval", ${JSON.stringify(child)}] };
    const connection = openConnection(childChannel(command));
    console.log(await connection.call("start"));
    await connection.close();
  `);
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  process.kill(Number(stdout), "SIGKILL"); // Throws if the program has waited for it.
});

test("a command that finds no file descriptor left fails its call with that", async () => {
  const { ended } = start(`
    import { openSync } from "node:fs";
    import { openConnection } from "@parlance/mcp/jsonrpc";
    import { childChannel } from "@parlance/mcp/node";
    try {
      for (;;) openSync("/dev/null");
    } catch {
      openConnection(childChannel({ command: "/bin/sh" })).call("ping").catch(({ message }) => console.log(message));
    }
  `);
  expect(await ended).toMatchObject({
    code: 0,
    stdout: 'ping (id 1): "/bin/sh" could not be started: spawn /bin/sh EMFILE\n',
  });
});
