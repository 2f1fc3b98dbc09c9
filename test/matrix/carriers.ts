import { fileURLToPath } from "node:url";
import { type Channel, describeReport, memoryChannels } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { assertAtRest } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { watchedServer } from "../oracle/watched.js";
import { matrixServer } from "./server.js";

/** A server of its own at the far end of a channel. */
export interface Carried {
  readonly channel: Channel;
  /** After the channel is closed. @throws Error for a server that has left something behind */
  assertGone(): Promise<void>;
}

/** How a client reaches a server: one entry for each carrier. */
export const carriers: Readonly<Record<string, () => Carried>> = {
  memory() {
    const [channel, far] = memoryChannels();
    const server = matrixServer();
    const reports: string[] = [];
    const connection = serveChannel(server, far, {
      report(each) {
        if (each.kind !== "invalid") reports.push(describeReport(each)); // The peer has heard of that.
      },
    });
    return {
      channel,
      async assertGone() {
        await connection.closed;
        assertAtRest(connection);
        expect(server.changes.size, "listeners that are left").toBe(0);
        expect(reports, "what the server reports").toEqual([]);
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
};
