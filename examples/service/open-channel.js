import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childChannel } from "@parlance/mcp/node";
import { nodeWebSocketChannel } from "@parlance/mcp/websocket";
import { framing, protocol, way } from "./agreement.js";
import { postChannel } from "./post-channel.js";

/** @import { Channel } from "@parlance/mcp/jsonrpc" */

/**
 * Starts the service, and opens a channel to it.
 *
 * @returns {Promise<Channel>}
 */
export async function openChannel() {
  const args = [`${import.meta.dirname}/serve.js`, ...process.argv.slice(2)];
  if (way !== "websocket" && way !== "http") return childChannel({ command: process.execPath, args }, { framing });

  const service = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(createInterface(service.stdout), "line");
  const channel = way === "http" ? postChannel(url) : nodeWebSocketChannel(url, { protocol });
  return {
    open: (receiver) => channel.open(receiver),
    send: (frame) => channel.send(frame),
    async close() {
      await channel.close();
      service.stdin.end();
    },
  };
}
