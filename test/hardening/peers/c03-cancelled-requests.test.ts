import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Call, contentLength, describeReport, lspCancellation, openConnection } from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { cancelledText, requestText } from "../../jsonrpc/held.js";
import { overMemory } from "../../jsonrpc/transports.js";
import { notification, request } from "../../testing/frames.js";
import { conversationWith, expectAlive, turn } from "../../testing/talks.js";

const peerFile = join(import.meta.dirname, "../../interop/programs/vscode-jsonrpc-peer.js");
const isInstalled = existsSync(join(import.meta.dirname, "../../interop/node_modules/vscode-jsonrpc"));

/** Answers `ping`; anything else ends only when it is cancelled. */
const untilCancelled: Call = (method, _params, { signal }) => {
  if (method === "ping") return "pong";
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
};

describe.skipIf(!isInstalled)(
  "C3: a cancelled request of plain JSON-RPC, with vscode-jsonrpc at the other end,",
  () => {
    test("is answered with −32800 in both directions, and nothing is reported", async () => {
      const child = spawn(process.execPath, [peerFile], { stdio: ["pipe", "pipe", "inherit"] });
      const exited = once(child, "exit");
      const reports: string[] = [];
      const connection = openConnection(streamChannel(child.stdout, child.stdin, { framing: contentLength }), {
        handle: untilCancelled,
        cancellation: lspCancellation,
        report: (each) => void reports.push(describeReport(each)),
      });

      expect(await connection.call("cancel")).toEqual({ code: -32_800, message: "Request cancelled" });

      const user = new AbortController();
      const waits = connection.call("wait", {}, { signal: user.signal }).catch(String);
      user.abort();
      expect(await waits).toMatch(/^LocalError: wait \(id \d+\): cancelled by the caller$/);
      await expect(connection.call("unknown")).rejects.toMatchObject({ code: -32_601 }); // The late answer came before it.
      expect(reports).toEqual([]);
      await connection.close();
      assertNoLeaks(connection);
      await exited;
    });
  },
);

describe("C3: a cancelled request", () => {
  test("is answered in plain JSON-RPC, with the error that the peers agreed on", async () => {
    const error = { code: 7, message: "Stopped" };
    await using talk = overMemory({ handle: untilCancelled, cancellation: { ...lspCancellation, error } });
    talk.peer.send(requestText("1", "wait"));
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    expect(await talk.peer.next()).toBe('{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"Stopped"}}');
  });

  test("is answered with −32800 where they did not", async () => {
    await using talk = overMemory({ handle: untilCancelled, cancellation: lspCancellation });
    talk.peer.send(requestText("1", "wait"));
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    expect(await talk.peer.next()).toBe(cancelledText("1"));
  });

  test("is not answered in MCP, whose receivers must not", async () => {
    const server = createServer({ name: "slow", version: "1" });
    server.tool("wait", {}, (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    await using talk = await conversationWith(server, "2025-11-25");
    talk.peer.send(request(1, "tools/call", { name: "wait" }));
    await turn();
    talk.peer.send(notification("notifications/cancelled", { requestId: 1 }));
    await expectAlive(talk);
  });
});
