import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@parlance/mcp/client";
import { serveHttp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { isLong } from "../../testing/forms.js";

const run = promisify(execFile);
const ip = (...args: string[]): Promise<unknown> => run("ip", args);
const client = fileURLToPath(new URL("../../fixtures/silent-client.js", import.meta.url));

/** A second host on this machine, whose network can be cut. */
class OtherHost implements AsyncDisposable {
  static #opened = 0;
  readonly #number = ++OtherHost.#opened;
  readonly #space = `parlance-${process.pid}-${this.#number}`;
  readonly #link = `pl${process.pid}-${this.#number}`;
  /** Networks of their own for each process: another run on this machine may have left its hosts. */
  readonly #network = `10.${64 + (process.pid % 128)}.${((process.pid >> 7) % 120) * 2 + this.#number}`;
  readonly address = `${this.#network}.1`;
  #child: ChildProcess | undefined;

  static async open(): Promise<OtherHost> {
    const host = new OtherHost();
    await ip("netns", "add", host.#space);
    await ip("link", "add", host.#link, "type", "veth", "peer", "name", "eth0", "netns", host.#space);
    await ip("addr", "add", `${host.address}/24`, "dev", host.#link);
    await ip("link", "set", host.#link, "up");
    await ip("-n", host.#space, "addr", "add", `${host.#network}.2/24`, "dev", "eth0");
    await ip("-n", host.#space, "link", "set", "eth0", "up");
    return host;
  }

  /** Starts a client there. It sends what it is given, and reads on. */
  start(port: number, text: string): void {
    this.#child = spawn("ip", [
      "netns",
      "exec",
      this.#space,
      process.execPath,
      client,
      this.address,
      String(port),
      text,
    ]);
  }

  /** From here on nothing comes from there, not even an acknowledgement. */
  async cut(): Promise<void> {
    await ip("-n", this.#space, "route", "add", "blackhole", `${this.address}/32`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child?.kill("SIGKILL");
    await ip("netns", "del", this.#space);
  }
}

const isPossible = isLong && process.platform === "linux" && (await canMakeHosts());

async function canMakeHosts(): Promise<boolean> {
  const name = `parlance-try-${process.pid}`;
  try {
    await ip("netns", "add", name);
    await ip("netns", "del", name);
    return true;
  } catch {
    return false;
  }
}

/** A server that says something every second to a call that does not end. */
function talkative(): { readonly server: Server; readonly called: Promise<AbortSignal> } {
  const server = createServer({ name: "talkative", version: "1.0.0" });
  const called = new Promise<AbortSignal>((resolve) => {
    server.tool("wait", {}, async (_args, { signal, progress }) => {
      resolve(signal);
      for (let count = 1; !signal.aborted; count += 1) {
        await Promise.race([progress(count), once(signal, "abort")]);
        await new Promise((proceed) => setTimeout(proceed, 1_000));
      }
      return "over";
    });
  });
  return { server, called };
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "silent", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
  progressToken: 1,
};
const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", _meta: meta } });

// Needs `ip netns` and its rights, and takes as long as TCP does.
describe.runIf(isPossible)("A7: a client whose machine has lost its network", { concurrent: true }, () => {
  test("over HTTP: its call is aborted, although bytes for it are on their way", async () => {
    const { server, called } = talkative();
    await using http = await serveHttp(server, { host: "0.0.0.0", exposed: true });
    await using other = await OtherHost.open();
    const head = [
      "POST /mcp HTTP/1.1",
      `host: ${other.address}:${http.port}`,
      "content-type: application/json",
      "accept: application/json, text/event-stream",
      "mcp-protocol-version: 2026-07-28",
      "mcp-method: tools/call",
      "mcp-name: wait",
      `content-length: ${call.length}`,
    ];
    other.start(http.port, `${head.join("\r\n")}\r\n\r\n${call}`);
    await expectAbort(await called, other);
  });

  test("over TCP: its call is aborted, although bytes for it are on their way", async () => {
    const { server, called } = talkative();
    await using tcp = await serveTcp(server, { host: "0.0.0.0", port: 0, exposed: true });
    // A connection without an address beside it must not end the watch, and with it the process.
    const path = join(tmpdir(), `parlance-a07-${process.pid}.sock`);
    await using _local = await serveTcp(server, { path });
    await using neighbour = await connect(() => tcpChannel({ path }));
    await using other = await OtherHost.open();
    const { address } = tcp;
    if (!("port" in address)) throw new Error("it listens on a port");
    other.start(address.port, `${call}\n`);
    await expectAbort(await called, other);
    await neighbour.call("tools/list");
  });
});

async function expectAbort(signal: AbortSignal, other: OtherHost): Promise<void> {
  expect(signal.aborted).toBe(false);
  await other.cut();
  await once(signal, "abort", { signal: AbortSignal.timeout(50_000) });
}
