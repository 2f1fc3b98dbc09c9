import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@parlance/mcp/client";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import type { Command } from "@parlance/mcp/node";
import { assertNoLeaks, type RawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { start } from "../../cli/run.js";
import { discover, errorOf, greeting, info, unsupported } from "../../client/session/openings.js";
import { discoverResult, failure, initialized, initializeResult, modern } from "../../testing/frames.js";
import { dialler, startedProcesses } from "../../testing/processes.js";
import { type Played, play, turn } from "../../testing/talks.js";

const unknown = (id: number): string => failure(id, -32_601, "Method not found");

/** A server that has been silent for as long as the client waits for the probe alone, and what it says then, in order. */
async function openLate(answers: readonly string[]): Promise<{
  readonly played: Played;
  readonly peer: RawPeer;
  readonly opening: Promise<Client>;
  readonly reports: readonly Report[];
}> {
  const played = play();
  const reports: Report[] = [];
  const opening = connect(played.dial, { info, clock: played.clock, report: (each) => void reports.push(each) });
  opening.catch(() => undefined); // Looked at by the test.
  const peer = await played.next();
  expect(await peer.next()).toBe(discover(1));
  played.clock.advance(5_000);
  expect(await peer.next()).toBe(greeting(2));
  for (const answer of answers) peer.send(answer);
  await turn();
  return { played, peer, opening, reports };
}

describe("C1: a server that is slow to start", () => {
  test.each<[string, readonly string[]]>([
    ["and refuses the handshake", [discoverResult(1), unknown(2)]],
    ["and refuses the handshake with the version to use", [discoverResult(1), unsupported(2, [modern])]],
    ["and refuses the handshake before it answers the probe", [unsupported(2, [modern]), discoverResult(1)]],
    ["and speaks both eras", [discoverResult(1), initializeResult(2, "2025-11-25")]],
  ])("%s is spoken to in the stateless era", async (_, answers) => {
    const { played, opening } = await openLate(answers);
    await using _played = played;
    await using client = await opening;
    expect(client.revision).toBe(modern);
    expect(played.sent).toEqual([discover(1), greeting(2)]);
    assertNoLeaks(client.connection);
  });

  test.each<[string, readonly string[]]>([
    ["refuses the probe", [unknown(1), initializeResult(2, "2025-06-18")]],
    ["names a version of the handshake era", [unsupported(1, ["2025-06-18"]), initializeResult(2, "2025-06-18")]],
    ["ignores the probe", [initializeResult(2, "2025-06-18")]],
  ])("and %s is spoken to with the handshake that it was sent meanwhile", async (_, answers) => {
    const { played, peer, opening } = await openLate(answers);
    await using _played = played;
    await using client = await opening;
    expect(client.revision).toBe("2025-06-18");
    expect(await peer.next()).toBe(initialized);
    expect(played.sent).toEqual([discover(1), greeting(2), initialized]);
    assertNoLeaks(client.connection);
  });

  test("is reported once, and not punished", async () => {
    const { played, opening, reports } = await openLate([discoverResult(1), unknown(2)]);
    await using _played = played;
    await using _client = await opening;
    expect(reports.filter(({ kind }) => kind === "slow-start").map(describeReport)).toEqual([
      "the peer has not answered for 5000 ms: it may still be starting, and is waited for",
    ]);
  });

  test("is waited for in the stateless era as well, if that is insisted on", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock, revision: modern });
    const peer = await played.next();
    await peer.next();
    played.clock.advance(59_999);
    peer.send(discoverResult(1));
    await using client = await opening;
    expect(client.revision).toBe(modern);
  });

  test("and never answers fails with a remedy, within the time of a call", async () => {
    const { played, opening } = await openLate([]);
    await using _played = played;
    played.clock.advance(60_000);
    expect(await errorOf(opening)).toMatchObject({
      reason: "timeout",
      message:
        "initialize (id 2): no response or notification for 60000 ms; nor server/discover: if that makes the server hang, require a revision of the handshake era",
    });
  });

  test("is started once", async () => {
    await using slow = await slowServer();
    await using client = await connect(dialler(slow.command), {
      probeTimeout: 1,
      report(each) {
        if (each.kind === "slow-start") void slow.letGo();
      },
    });
    expect(client.revision).toBe(modern);
    expect((await client.tools.call("add", { a: 2, b: 3 })).structuredContent).toEqual({ sum: 5 });
    await client.close();
    expect(startedProcesses()).toBe(1);
  });
});

describe("C1: -32022 to initialize", () => {
  test("that names another version of the handshake era gets that one", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock, era: "handshake" });
    const peer = await played.next();
    await peer.next();
    peer.send(unsupported(1, ["2024-11-05", "2025-03-26", modern]));
    expect(await peer.next()).toBe(greeting(2, "2025-03-26"));
    peer.send(initializeResult(2, "2025-03-26"));
    await using client = await opening;
    expect(client.revision).toBe("2025-03-26");
    await peer.next();
  });

  test("that names the stateless era, of a process that has ended on the probe, is asked again", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    const first = await played.next();
    await first.next();
    await first.close();
    const second = await played.next();
    expect(await second.next()).toBe(greeting(1));
    second.send(unsupported(1, [modern]));
    expect(await second.next()).toBe(discover(2));
    second.send(discoverResult(2));
    await using client = await opening;
    expect(client.revision).toBe(modern);
  });
});

describe("C1: the command", () => {
  test("says that a server is still starting, and waits for it", async () => {
    await using slow = await slowServer();
    const { command, args = [] } = slow.command;
    const running = start(["call", "add", "a:=2", "b:=3", "--timeout", "1m", "--", command, ...args]);
    running.child.stderr?.on("data", (text: string) => {
      if (text.includes("still starting … no answer for 5.00 s")) void slow.letGo();
    });
    const { code, stdout } = await running.ended;
    expect(stdout).toContain('"sum": 5');
    expect(code).toBe(0);
  });

  test("examines a server that needs longer to start than to answer", async () => {
    await using slow = await slowServer();
    const { command, args = [] } = slow.command;
    const running = start(["check", "--timeout", "5s", "--revision", modern, "--", command, ...args]);
    running.child.stderr?.on("data", (text: string) => {
      if (text.includes("still starting … no answer for 5.00 s")) void slow.letGo();
    });
    const { stdout } = await running.ended;
    expect(stdout).toContain(modern);
    expect(stdout).not.toContain("no answer in time");
  });
});

/** A server that has not begun to run before it is let go. */
async function slowServer(): Promise<
  AsyncDisposable & { readonly command: Command; readonly letGo: () => Promise<void> }
> {
  const folder = await mkdtemp(join(tmpdir(), "slow-"));
  const gate = join(folder, "gate");
  const source = `
    import { existsSync, watch } from "node:fs";
    const gone = () => existsSync(${JSON.stringify(gate)});
    await new Promise((resolve) => {
      const watching = watch(${JSON.stringify(folder)}, () => { if (gone()) { watching.close(); resolve(); } });
      if (gone()) { watching.close(); resolve(); }
    });
    const { server } = await import(${JSON.stringify(new URL("../../fixtures/tools-server.js", import.meta.url).href)});
    const { serveStdio } = await import("@parlance/mcp/node");
    await serveStdio(server);
  `;
  return {
    command: { command: process.execPath, args: ["--input-type=module", "--eval", source] },
    letGo: () => writeFile(gate, ""),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
