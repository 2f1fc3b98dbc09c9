import { type Client, connect } from "@parlance/mcp/client";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { failureOf, script } from "../../node/conversations.js";
import { initializeResult } from "../../testing/frames.js";
import { dialler, startedProcesses } from "../../testing/processes.js";

const settled = initializeResult(1, "2024-11-05");

/** A server of the shell: what it does with the question which era it speaks, and what with `initialize`. */
function shellServer(
  onDiscover: string,
  onInitialize = `echo '${settled}'`,
): () => ReturnType<ReturnType<typeof dialler>> {
  return dialler(
    script(
      `while read -r line; do case $line in *server/discover*) ${onDiscover} ;; *\\"initialize\\"*) ${onInitialize} ;; esac; done`,
    ),
  );
}

async function expectOpen(client: Client, version: string): Promise<void> {
  expect(client.revision).toBe(version);
  assertNoLeaks(client.connection);
  await client.close();
  expect((await client.closed).reason).toBe("closed");
}

describe("a process of the handshake era", () => {
  test("that answers the question with an error is asked on", async () => {
    const onDiscover = `echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'`;
    const server = shellServer(onDiscover, `echo '${initializeResult(2, "2024-11-05")}'`);
    await expectOpen(await connect(server, { timeout: 60_000 }), "2024-11-05");
    expect(startedProcesses()).toBe(1);
  });

  test("that ignores the question is asked on, and not started again", async () => {
    const server = shellServer(":", `echo '${initializeResult(2, "2024-11-05")}'`);
    await expectOpen(await connect(server, { timeout: 60_000, probeTimeout: 100 }), "2024-11-05");
    expect(startedProcesses()).toBe(1);
  });

  test("that hangs on the question fails with the remedy, and is gone", async () => {
    const server = shellServer("trap '' TERM; sleep 600");
    expect(await failureOf(connect(server, { timeout: 200, probeTimeout: 100 }))).toBe(
      "initialize (id 2): no response or notification for 200 ms; nor server/discover: if that makes the server hang, require a revision of the handshake era",
    );
    expect(startedProcesses()).toBe(1);
  });

  test.each(["exit 0", "exit 3", "kill -SEGV $$", "exec >&-; exit 1"])(
    "that ends on the question is started again: %s",
    async (ending) => {
      await expectOpen(await connect(shellServer(ending), { timeout: 60_000 }), "2024-11-05");
      expect(startedProcesses()).toBe(2);
    },
  );

  test("that prints text around its messages is understood", async () => {
    const noise = "echo 'Server ready'; echo ''; echo '{'";
    const server = shellServer(`${noise}; exit 0`, `${noise}; echo '${settled}'`);
    await expectOpen(await connect(server, { timeout: 60_000 }), "2024-11-05");
  });
});

describe("a process that speaks neither era fails the opening and says why:", () => {
  test("it ends on initialize too", async () => {
    const server = shellServer("exit 3", 'echo "no database" >&2; exit 4');
    expect(await failureOf(connect(server, { timeout: 60_000 }))).toBe(
      'initialize (id 1): "/bin/sh" exited with code 4; its last lines on stderr:\nno database',
    );
    expect(startedProcesses()).toBe(2);
  });

  test("it does not exist", async () => {
    expect(await failureOf(connect(dialler({ command: "no-such-command" })))).toContain(
      "no such command: check the name and PATH",
    );
  });

  test("it prints a banner and waits", async () => {
    const server = shellServer("echo 'Listening on port 3000'", "echo 'Listening on port 3000'");
    expect(await failureOf(connect(server, { timeout: 1_000, probeTimeout: 100 }))).toMatch(
      /^initialize \(id 2\): no response or notification for 1000 ms; before that, this side received "Listening on port 3000"/,
    );
  });

  test("it settles on a version that does not exist", async () => {
    const server = shellServer("exit 0", `echo '${initializeResult(1, "1.0.0")}'`);
    expect(await failureOf(connect(server, { timeout: 60_000 }))).toBe(
      'initialize: the server speaks "1.0.0", this side 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05',
    );
  });
});

describe("after a client requires the stateless era, no process is left", () => {
  const modern = { revision: "2026-07-28", timeout: 60_000 };

  test("where the server answers something else", async () => {
    const server = shellServer(`echo '{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"what?"}}'`);
    expect(await failureOf(connect(server, modern))).toBe(
      'the server does not speak 2026-07-28: it answered server/discover with 0 "what?"',
    );
    expect(startedProcesses()).toBe(1);
  });

  test("where it is silent", async () => {
    const server = shellServer(":");
    expect(await failureOf(connect(server, { ...modern, probeTimeout: 100, timeout: 200 }))).toBe(
      "server/discover (id 1): no response or notification for 200 ms",
    );
    expect(startedProcesses()).toBe(1);
  });

  test("where it ends", async () => {
    expect(await failureOf(connect(shellServer("exit 3"), modern))).toBe(
      'server/discover (id 1): "/bin/sh" exited with code 3; it wrote nothing to stderr',
    );
    expect(startedProcesses()).toBe(1);
  });

  test("where it cannot be started", async () => {
    expect(await failureOf(connect(dialler({ command: "no-such-command" }), modern))).toContain("no such command");
  });
});
