import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { messagePortChannel, webSocketChannel, webStreamChannel } from "@parlance/mcp/jsonrpc";
import { revisions } from "@parlance/mcp/protocol";
import { serveChannel } from "@parlance/mcp/server";
import { createSample } from "../server.js";
import { features, handlers } from "./features.js";

/** @import { Client, ConnectOptions } from "@parlance/mcp/client" */
/** @import { Server } from "@parlance/mcp/server" */
/** @import { Case, Need, Platform } from "../run.js" */

/**
 * A way from a client to a server. `open` serves, and its result connects clients.
 *
 * @typedef {{ connect(options: ConnectOptions): Promise<Client>, close?: (() => unknown) | undefined }} Opened
 * @typedef {{ name: string, needs?: Need, open(server: Server, platform: Platform): Opened | Promise<Opened> }} Transport
 */

/** @type {readonly Transport[]} */
const transports = [
  {
    name: "the fetch handler",
    open(server) {
      const handler = httpHandler(server, { legacySse: true });
      const fetch = (/** @type {string | URL | Request} */ url, /** @type {RequestInit} */ init) =>
        handler(new Request(url, init));
      return {
        connect: (options) => connect("http://localhost/mcp", { ...options, fetch }),
        close: () => handler.drain(),
      };
    },
  },
  {
    name: "HTTP on a socket",
    needs: "listening sockets",
    async open(server, platform) {
      const { url, close } = await platform.listen(server);
      return { connect: (options) => connect(url, options), close };
    },
  },
  {
    name: "WebSocket",
    needs: "WebSocket",
    async open(server, platform) {
      const { target, close } = await platform.webSocket(server);
      return { connect: (options) => connect(webSocketChannel(target()), options), close };
    },
  },
  {
    name: "a message port",
    needs: "MessageChannel",
    open(server) {
      const { port1, port2 } = new MessageChannel();
      serveChannel(server, messagePortChannel(port2));
      return { connect: (options) => connect(messagePortChannel(port1), options) };
    },
  },
  {
    name: "web streams",
    open(server) {
      const [there, back] = [new TransformStream(), new TransformStream()];
      serveChannel(server, webStreamChannel({ readable: there.readable, writable: back.writable }));
      const streams = { readable: back.readable, writable: there.writable };
      return { connect: (options) => connect(webStreamChannel(streams), options) };
    },
  },
];

/** @type {readonly Case[]} */
export const sessions = revisions.flatMap(({ version }) => [
  ...features.map(({ name, run }) => ({
    name: `${version} in memory: ${name}`,
    async run() {
      const client = await connect(createSample(), { revision: version, handlers });
      await run(client, version);
      await client.close();
    },
  })),
  ...transports.map((transport) => overTransport(transport, version)),
]);

/**
 * Every feature, one after the other, by one client over a transport.
 *
 * @param {Transport} transport
 * @param {string} version
 * @returns {Case}
 */
export function overTransport({ name, needs, open }, version) {
  return {
    name: `${version} over ${name}: every feature`,
    needs,
    async run(platform) {
      const { connect, close } = await open(createSample(), platform);
      // Whatever fails, nothing is left open that would keep the process alive.
      try {
        const client = await connect({ revision: version, handlers });
        try {
          for (const { name: feature, run } of features) await named(feature, () => run(client, version));
        } finally {
          await client.close();
        }
      } finally {
        await close?.();
      }
    },
  };
}

/**
 * Puts the name of a feature before the message of what it throws.
 *
 * @param {string} feature
 * @param {() => unknown} run
 */
async function named(feature, run) {
  try {
    await run();
  } catch (error) {
    throw new Error(`${feature}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
