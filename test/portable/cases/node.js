import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parlance/mcp/client";
import { connectStdio, serveHttp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { revisions } from "@parlance/mcp/protocol";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { equal, match, rejects } from "../check.js";
import { overTransport } from "./sessions.js";

/** @import { ConnectOptions } from "@parlance/mcp/client" */
/** @import { Case, Platform } from "../run.js" */
/** @import { Transport } from "./sessions.js" */

const needs = /** @type {const} */ ("Node's modules");

/** @type {readonly Transport[]} */
const transports = [
  {
    name: "stdio, a child process",
    needs,
    open: (_server, platform) => ({ connect: (options) => start(platform, options) }),
  },
  {
    name: "node:http",
    needs,
    async open(server) {
      const http = await serveHttp(server, { legacySse: true });
      return { connect: (options) => connect(http.url, options), close: () => http.close() };
    },
  },
  {
    name: "TCP",
    needs,
    async open(server) {
      const tcp = await serveTcp(server, { port: 0 });
      return { connect: (options) => connect(tcpChannel(tcp.address), options), close: () => tcp.close() };
    },
  },
  {
    name: "a Unix socket",
    needs,
    async open(server) {
      const folder = await mkdtemp(join(tmpdir(), "portable-"));
      const path = join(folder, "mcp.sock");
      const listening = await serveTcp(server, { path });
      return {
        connect: (options) => connect(tcpChannel({ path }), options),
        async close() {
          await listening.close();
          await rm(folder, { recursive: true });
        },
      };
    },
  },
  {
    name: "the package ws",
    needs,
    async open(server) {
      const listener = await serveWebSocket(server, { port: 0 });
      return {
        connect: (options) => connect(nodeWebSocketChannel(listener.url), options),
        close: () => listener.close(),
      };
    },
  },
];

/** @type {readonly Case[]} */
export const node = [
  ...revisions.flatMap(({ version }) => transports.map((transport) => overTransport(transport, version))),
  {
    name: "stdio: a server that exits ends the connection",
    needs,
    async run(platform) {
      const client = await start(platform, {});
      await rejects(client.call("sample/exit"), { name: "LocalError", reason: "closed" });
      match(await client.closed, { reason: "failed" });
    },
  },
  {
    name: "stdio: the server process ends with its client",
    needs,
    async run(platform) {
      const client = await start(platform, {});
      const { pid } = /** @type {{ pid: number }} */ (await client.call("sample/pid"));
      equal(isRunning(pid), true);
      await client.close();
      equal(isRunning(pid), false);
    },
  },
];

/**
 * @param {Platform} platform
 * @param {ConnectOptions} options
 */
function start({ command: [command, ...args] = [""] }, options) {
  const program = new URL("../programs/stdio-server.js", import.meta.url).pathname;
  return connectStdio({ command, args: [...args, program] }, options);
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // There is no such process.
  }
}
