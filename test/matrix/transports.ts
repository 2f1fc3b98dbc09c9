import { connect as connectSocket } from "node:net";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { httpHandler } from "@parlance/mcp/http";
import {
  type Channel,
  describeReport,
  memoryChannels,
  messagePortChannel,
  type Report,
  webStreamChannel,
} from "@parlance/mcp/jsonrpc";
import { childChannel, serveHttp, tcpChannel } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { expect } from "vitest";
import type { ByteStreams } from "../../packages/mcp/src/transport/web-streams.js";
import { watchedFetch, watchedServer } from "../oracle/watched.js";
import type { HttpTarget } from "./driver.js";
import { FarProcess, FarWorker } from "./far-ends.js";
import { RawHttpChannel, RawLegacyChannel } from "./http-channel.js";
import { matrixServer } from "./server.js";

/** A server of its own at the remote end of a channel. */
export interface Carried {
  readonly channel: Channel;
  /** Where the client of this library connects to, if that is not the channel. */
  readonly target?: HttpTarget;
  /** After the channel is closed. @throws Error for a server that has left something behind */
  assertGone(): Promise<void>;
}

/** Started by the first conversation that leads there. */
const far: { process?: FarProcess; worker?: FarWorker } = {};

/** Ends what the conversations have led to. @throws Error for a process that does not end well */
export async function endFarEnds(): Promise<void> {
  await Promise.all([far.process?.end(), far.worker?.end()]);
}

/** How a client reaches a server: one entry for each transport. */
export const transports: Readonly<Record<string, () => Carried | Promise<Carried>>> = {
  memory() {
    const [channel, far] = memoryChannels();
    const { server, report, assertSilent } = reporting();
    const connection = serveChannel(server, far, { report });
    return {
      channel,
      async assertGone() {
        await connection.closed;
        assertNoLeaks(connection);
        assertSilent();
      },
    };
  },
  stdio() {
    const program = fileURLToPath(new URL("server.js", import.meta.url));
    const channel = childChannel({ command: process.execPath, args: [program] });
    return {
      channel: watchedServer(channel),
      async assertGone() {
        expect(channel.exit, "how the process has ended").toEqual({ code: 0, signal: null });
        expect(channel.stderr, "what the process has said").toBe("");
      },
    };
  },
  async http() {
    const { server, report, assertSilent } = reporting();
    const http = await serveHttp(server, { report });
    return {
      channel: watchedServer(new RawHttpChannel(http.url, fetch)),
      target: { url: http.url, fetch: watchedFetch(fetch) },
      async assertGone() {
        await http.close();
        assertSilent();
      },
    };
  },
  async websocket() {
    const { server, report, assertSilent } = reporting();
    const listener = await serveWebSocket(server, { report });
    return {
      channel: watchedServer(nodeWebSocketChannel(listener.url)),
      async assertGone() {
        await expect.poll(() => listener.connections.size).toBe(0);
        await listener.close();
        assertSilent();
      },
    };
  },
  async fetch() {
    const { server, report, assertSilent } = reporting();
    const handler = httpHandler(server, { report });
    const url = "http://localhost/mcp";
    const call: HttpTarget["fetch"] = (to, init) => handler(new Request(to, init));
    return {
      channel: watchedServer(new RawHttpChannel(url, call)),
      target: { url, fetch: watchedFetch(call) },
      async assertGone() {
        handler.close();
        assertSilent();
      },
    };
  },
  /** A server that takes nothing else than HTTP+SSE. */
  async "http+sse"() {
    const { server, report, assertSilent } = reporting();
    const http = await serveHttp(server, { report, legacySse: true });
    const old: HttpTarget["fetch"] = (to, init) =>
      init.method === "POST" && !String(to).includes("?")
        ? Promise.resolve(new Response(undefined, { status: 405 }))
        : fetch(to, init);
    return {
      channel: watchedServer(new RawLegacyChannel(http.url, old)),
      target: { url: http.url, fetch: old },
      async assertGone() {
        await http.close();
        assertSilent();
      },
    };
  },
  async tcp() {
    far.process ??= new FarProcess();
    const { tcp } = await far.process.listening;
    return carried(tcpChannel(tcp), far.process);
  },
  async unix() {
    far.process ??= new FarProcess();
    const { unix } = await far.process.listening;
    return carried(tcpChannel(unix), far.process);
  },
  async "web streams"() {
    far.process ??= new FarProcess();
    const { webStreams } = await far.process.listening;
    const socket = connectSocket(webStreams);
    return carried(webStreamChannel(Duplex.toWeb(socket) as ByteStreams), far.process);
  },
  "message port"() {
    far.worker ??= new FarWorker();
    const { port1, port2 } = new MessageChannel();
    far.worker.serve(port2);
    return carried(messagePortChannel(port1), far.worker);
  },
};

function carried(channel: Channel, there: FarProcess | FarWorker): Carried {
  return { channel: watchedServer(channel), assertGone: () => there.assertGone() };
}

/** Revisions that a transport cannot carry; by default it carries every revision. */
export function carries(transport: string, revision: string): boolean {
  return transport !== "http+sse" || revision === "2024-11-05";
}

/** A server, and whether it reports anything or leaves anything behind. */
function reporting(): {
  readonly server: ReturnType<typeof matrixServer>;
  readonly report: (report: Report) => void;
  readonly assertSilent: () => void;
} {
  const server = matrixServer();
  const reports: string[] = [];
  return {
    server,
    report(each) {
      if (each.kind !== "invalid") reports.push(describeReport(each)); // The peer has heard of that.
    },
    assertSilent() {
      expect(server.changes.size, "listeners that are left").toBe(0);
      expect(reports, "what the server reports").toEqual([]);
    },
  };
}
