import { fileURLToPath } from "node:url";
import { bridgeTo } from "@parlance/mcp/bridge";
import { type Channel, describeReport, memoryChannels, type Report } from "@parlance/mcp/jsonrpc";
import { childChannel, serveHttp } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { main, start } from "../cli/run.js";
import { RawHttpChannel } from "../matrix/http-channel.js";
import { matrixServer } from "../matrix/server.js";
import type { Carried } from "../matrix/transports.js";
import { watchedFetch, watchedServer } from "../oracle/watched.js";

/** Something to look at in the end. */
type Gone = () => Promise<void>;

interface Far {
  /** The words behind `parlance bridge` that lead there. */
  readonly words: readonly string[];
  readonly assertGone: Gone;
}

const stdioServer = fileURLToPath(new URL("../matrix/server.js", import.meta.url));

const fars: Readonly<Record<"stdio" | "http", () => Promise<Far>>> = {
  stdio: async () => ({ words: ["--", process.execPath, stdioServer], assertGone: async () => undefined }),
  async http() {
    const { server, report, assertSilent } = reporting();
    const http = await serveHttp(server, { report });
    return {
      words: [http.url],
      async assertGone() {
        await http.close();
        await assertSilent();
      },
    };
  },
};

type Near = (words: readonly string[], far: Far) => Promise<Carried>;

const nears: Readonly<Record<"stdio" | "http", Near>> = {
  async stdio(words, far) {
    const channel = childChannel({ command: process.execPath, args: [main, "bridge", ...words, ...far.words] });
    return {
      channel: watchedServer(channel),
      async assertGone() {
        expect(channel.exit, "how the bridge has ended").toEqual({ code: 0, signal: null });
        expect(channel.stderr, "what the bridge has said").toBe("");
        await far.assertGone();
      },
    };
  },
  async http(words, far) {
    const running = start(["bridge", "--listen", "http://127.0.0.1:0/mcp", "--json", ...words, ...far.words]);
    const { listening: url } = JSON.parse(await running.firstLine) as { readonly listening: string };
    return {
      channel: watchedServer(new RawHttpChannel(url, fetch)),
      target: { url, fetch: watchedFetch(fetch) },
      async assertGone() {
        running.child.kill("SIGTERM");
        const { code, stderr } = await running.ended;
        expect(stderr, "what the bridge has said").toBe("");
        expect(code, "how the bridge has ended").toBe(143);
        await far.assertGone();
      },
    };
  },
};

/** Leads a driver through a bridge to the server of the matrix, which speaks the revision. */
export type Bridged = (revision: string) => Promise<Carried>;

/** How a client reaches the server through the bridge: its own transport, and that of the server. */
export const bridged: ReadonlyMap<string, Bridged> = new Map([
  ["memory to memory", inMemory],
  ...(["stdio", "http"] as const).flatMap((near) =>
    (["stdio", "http"] as const).map((far): [string, Bridged] => [
      `${near} to ${far}`,
      async (revision) => nears[near](["--revision", revision], await fars[far]()),
    ]),
  ),
]);

/** The bridge of the library, with nothing around it. */
async function inMemory(revision: string): Promise<Carried> {
  const { server, report, assertSilent } = reporting();
  const dial = (): Channel => {
    const [near, far] = memoryChannels();
    serveChannel(server, far, { report });
    return near;
  };
  const bridge = bridgeTo(dial, { revision, report });
  const [channel, far] = memoryChannels();
  const connection = serveChannel(bridge, far, { report });
  return {
    channel,
    async assertGone() {
      await connection.closed;
      assertNoLeaks(connection);
      await bridge.close();
      await assertSilent();
    },
  };
}

function reporting(): {
  readonly server: ReturnType<typeof matrixServer>;
  readonly report: (report: Report) => void;
  readonly assertSilent: Gone;
} {
  const server = matrixServer();
  const reports: string[] = [];
  return {
    server,
    report(each) {
      if (each.kind !== "invalid") reports.push(describeReport(each)); // The peer has heard of that.
    },
    async assertSilent() {
      await expect.poll(() => server.changes.size, { message: "listeners that are left" }).toBe(0);
      expect(reports, "what is reported").toEqual([]);
    },
  };
}
