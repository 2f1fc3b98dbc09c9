import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";

// These programs import the built package, as any program does: `npm test` builds it first.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const cli = fileURLToPath(new URL("../../../packages/cli/dist/parlance.js", import.meta.url));

/** Processes that the tests have started, which end after the last test, whatever happened. */
const leftovers = new Set<number>();

afterAll(() => {
  for (const pid of leftovers) kill(pid);
});

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ESRCH: it has ended, as it should.
  }
}

const server = `
  import { createServer } from "@parlance/mcp/server";
  import { serveStdio } from "@parlance/mcp/node";
  const server = createServer({ name: "orphan", version: "1.0.0" });
  server.tool("slow", {}, async () => {
    process.stderr.write("called\\n");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    process.stderr.write("finished\\n");
    return "done";
  });
  const { reason } = await (await serveStdio(server)).closed;
  process.stderr.write(reason + "\\n");
`;

/**
 * A host: starts the command, lets a third process inherit its end of the command's stdin, and has nothing else to do. The
 * command's stderr is the host's own, so the test reads it, and its end is the end of whoever holds it.
 */
const host = (command: readonly string[], text: string): string => `
  import { spawn } from "node:child_process";
  const [command, ...args] = ${JSON.stringify(command)};
  const server = spawn(command, args, { stdio: ["pipe", "ignore", "inherit"] });
  const holder = spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "ignore", server.stdin], detached: true });
  server.stdin.write(${JSON.stringify(text)});
  console.log(JSON.stringify([server.pid, holder.pid]));
  setInterval(() => {}, 60_000);
`;

const call = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "slow",
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
})}\n`;

function node(source: string, ...args: string[]): string[] {
  return [process.execPath, "--input-type=module", "--eval", source, ...args];
}

/** Starts a program in the root, with its stdout and stderr to read. */
function start([command = "", ...args]: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  if (child.pid !== undefined) leftovers.add(child.pid);
  return child;
}

/** The lines of a stream, as they come. */
function lines(stream: Readable): AsyncIterator<string> {
  return createInterface({ input: stream })[Symbol.asyncIterator]();
}

/** All that is still to come on a stream. */
async function read(stream: Readable): Promise<string> {
  return String(Buffer.concat(await stream.toArray()));
}

/** Kills a host whose server has taken the call, and gives back output of the server on stderr until its own end. */
async function orphaned(command: readonly string[]): Promise<string[]> {
  const child = start(node(host(command, call)));
  const { value: pids } = await lines(child.stdout).next();
  for (const pid of JSON.parse(pids) as readonly number[]) leftovers.add(pid);
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    told.push(line);
    if (line === "called") child.kill("SIGKILL");
  }
  return told;
}

describe.concurrent("A9: a stdio server whose host is killed, while another process holds the host's end of the pipe", () => {
  test("lets running calls finish and ends, as at the end of stdin", async () => {
    expect(await orphaned(node(server))).toEqual(["called", "finished", "ended"]);
  });

  test.runIf(process.platform === "linux")(
    "is not kept by a wrapper that stays, as npx does (needs /proc)",
    async () => {
      const [command = "", ...args] = node(server);
      const quoted = [command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
      expect(await orphaned(["/bin/sh", "-c", `${quoted}; exit 0`])).toEqual(["called", "finished", "ended"]);
    },
  );

  test("also ends under parlance tap", async () => {
    const tap = [process.execPath, cli, "tap", "--record", "/dev/null", "--"];
    expect(await orphaned([...tap, ...node(server)])).toEqual(expect.arrayContaining(["called", "finished", "ended"]));
  });
});

describe.concurrent("A9: the watch on the parent", () => {
  /** Twenty looks of a watch at once, on a clock of its own. */
  const watched = `
    import { watchParent } from "@parlance/mcp/node";
    import { createFakeClock } from "@parlance/mcp/testing";
    const clock = createFakeClock();
    let gone = 0;
    watchParent(() => { gone += 1; }, { clock });
    const look = (when) => { clock.advance(40_000); console.log(when, gone, clock.armed); };
    process.stdin.once("data", () => look("told"));
    console.log("ready");
  `;

  test.runIf(process.platform === "linux")(
    "does not take a launcher that exits for the host (needs /proc)",
    async () => {
      // The outer shell is the host. The inner one starts the server in the background, with its own stdin, and exits.
      const launch = `trap "exit 0" TERM; echo $$; exec 3<&0; "$@" <&3 & wait; exit 1`;
      const host = spawn("/bin/sh", ["-c", `cat | /bin/sh -c '${launch}' sh "$@"`, "sh", ...node(watched)], {
        cwd: root,
        stdio: ["pipe", "pipe", "inherit"],
      });
      const said = lines(host.stdout);
      const launcher = Number((await said.next()).value);
      expect(await said.next()).toMatchObject({ value: "ready" });
      process.kill(launcher, "SIGTERM");
      await vi.waitFor(() => expect(isRunning(launcher)).toBe(false), { timeout: 60_000, interval: 50 });
      host.stdin.write("look\n");
      expect(await said.next()).toMatchObject({ value: "told 0 1" });
      host.stdin.end();
    },
  );

  test("watches nothing where stdin is a file", async () => {
    const child = start(node(`${watched.replace("process.stdin.once", "look('at once'); process.stdin.once")}`));
    expect(await read(child.stdout)).toContain("at once 0 0\n");
  });

  test("is not there with parentWatch: false", async () => {
    const armed = (options: string): string => `
      import { createServer } from "@parlance/mcp/server";
      import { serveStdio } from "@parlance/mcp/node";
      import { createFakeClock } from "@parlance/mcp/testing";
      const clock = createFakeClock();
      void serveStdio(createServer({ name: "watched", version: "1.0.0" }), { clock, ${options} });
      console.error(clock.armed);
    `;
    const timersWith = async (options: string): Promise<string> => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", armed(options)], { cwd: root });
      child.stdin.end();
      return read(child.stderr);
    };
    expect([await timersWith(""), await timersWith("parentWatch: false")]).toEqual(["1\n", "0\n"]);
  });
});

describe.concurrent("A9: what a client has started", () => {
  /** Heeds neither the end of its input nor SIGTERM, and neither does the process that it has started. */
  const stubborn = "trap '' TERM INT HUP; sleep 600 & echo $$ $! >&2; while :; do sleep 600; done";

  /** A host that starts it, passes its stderr on to the test, and ends. */
  const client = (end: string): string => `
    import { childChannel } from "@parlance/mcp/node";
    const command = { command: "/bin/sh", args: ["-c", ${JSON.stringify(stubborn)}] };
    const channel = childChannel(command, { onStderr(chunk) { process.stderr.write(chunk, () => { ${end} }); } });
    channel.open({ frame() {}, refuse() {}, end() {} });
    setInterval(() => {}, 60_000);
  `;

  test.skipIf(process.platform === "win32").each([
    ["is killed", 'process.kill(process.pid, "SIGKILL")'],
    ["ends at SIGTERM", 'process.kill(process.pid, "SIGTERM")'],
    ["ends at SIGINT", 'process.kill(process.pid, "SIGINT")'],
    ["exits", "process.exit(0)"],
    ["crashes", 'setImmediate(() => { throw new Error("crash"); })'],
  ])("ends, with all that it has started, when its host %s", async (_how, end) => {
    const child = start(node(client(end)));
    const started = String((await lines(child.stderr).next()).value)
      .split(" ")
      .map(Number);
    for (const pid of started) leftovers.add(pid);
    expect(started.every((pid) => pid > 1)).toBe(true);
    await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), { timeout: 60_000, interval: 50 });
  });
});

/** False for a process that has ended; a zombie has, too. */
function isRunning(pid: number): boolean {
  const state = process.platform === "linux" ? linuxStateOf(pid) : stateOf(pid);
  return state !== "" && !state.startsWith("Z");
}

function stateOf(pid: number): string {
  return spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
}

/** The state of a process, without one that finds it: that would take most of the time of these tests. */
function linuxStateOf(pid: number): string {
  try {
    return /\) (?<state>\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.groups?.state ?? "";
  } catch {
    return ""; // It has ended.
  }
}
