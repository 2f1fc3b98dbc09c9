import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { deferred } from "../../packages/mcp/src/base/deferred.js";
import { converse, failureOf, program, script } from "./conversations.js";

/** 24 bytes, as a word of the shell. */
const half = '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,"';

const answer = '{"jsonrpc":"2.0","id":1,"result":"pong"}';

describe("a child that ends", () => {
  test("with a code and words on stderr fails the call with both", async () => {
    const { connection } = converse(script('read line; echo "no database" >&2; echo "giving up" >&2; exit 3'));
    expect(await failureOf(connection.call("ping"))).toBe(
      'ping (id 1): "/bin/sh" exited with code 3; its last lines on stderr:\nno database\ngiving up',
    );
    expect(await connection.closed).toMatchObject({ reason: "failed" });
  });

  test("without a word fails the call with that", async () => {
    const { connection } = converse(script("read line"));
    expect(await failureOf(connection.call("ping"))).toBe(
      'ping (id 1): "/bin/sh" exited with code 0; it wrote nothing to stderr',
    );
  });

  test("by a signal fails the call with its name", async () => {
    const { connection } = converse(script('read line; echo "out of memory" >&2; kill -KILL $$'));
    expect(await failureOf(connection.call("ping"))).toBe(
      'ping (id 1): "/bin/sh" was ended by SIGKILL; its last lines on stderr:\nout of memory',
    );
  });

  test("in the middle of a line fails the call with that line", async () => {
    const { connection } = converse(script('read line; printf %s "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,"; exit 3'));
    const message = await failureOf(connection.call("ping"));
    expect(message).toContain("exited with code 3");
    expect(message).toContain("the stream ended in a line: 24 bytes without a newline were dropped");
  });

  test("loses nothing if its exit is seen before its last bytes, and the event loop is late", async () => {
    const { connection } = converse(
      script('read line; sleep 0.3; printf %s "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,"; exit 3'),
    );
    const failure = failureOf(connection.call("ping"));
    // Its output and its exit are seen in one turn. Between the two, the child above ends: its exit is seen with this one.
    const other = spawn("/bin/sh", ["-c", "echo ended"]);
    other.stdout.once("data", () => block(400));
    other.once("exit", () => setImmediate(() => block(150)));
    block(150);
    expect(await failure).toContain("the stream ended in a line: 24 bytes without a newline were dropped");
  });

  test.runIf(process.platform === "linux")(
    "in the middle of a line, with an output that stays open and an event loop that is late, fails the call with that line",
    async () => {
      const { channel, connection } = converse(script(`setsid sleep 2 & read line; printf %s ${half}; exit 3`));
      // Longer than each wait of the channel after the exit: all of its timers are due at once.
      channel.stdin?.once("close", () => block(400));
      expect(await failureOf(connection.call("ping"))).toContain(
        "the stream ended in a line: 24 bytes without a newline were dropped",
      );
    },
  );

  test.runIf(process.platform === "linux")(
    "while a process outside of its group goes on to write to its output fails the call all the same",
    async () => {
      const { connection } = converse(script("setsid yes $(printf %032768d 0) & read line; exit 3"));
      expect(await failureOf(connection.call("ping"))).toContain("exited with code 3");
    },
  );

  test.runIf(process.platform === "linux")(
    "in the middle of a line, while a process outside of its group holds its output, fails the call with that line",
    async () => {
      const { connection } = converse(script(`setsid sleep 2 & read line; printf %s ${half}; exit 3`));
      expect(await failureOf(connection.call("ping"))).toContain(
        "the stream ended in a line: 24 bytes without a newline were dropped",
      );
    },
  );

  test("after its response does not lose the response", async () => {
    const result = "x".repeat(1_000_000);
    const { connection } = converse(
      program(`process.stdin.once("data", () => {
        process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "x".repeat(1_000_000) }) + "\\n", () => process.exit(1));
      })`),
    );
    expect(await connection.call("ping")).toBe(result);
    expect(await connection.closed).toMatchObject({
      error: { message: expect.stringContaining("exited with code 1") },
    });
  });

  test("a moment after its output fails the call with its code", async () => {
    const { connection } = converse(script("read line; exec >&-; sleep 0.1; exit 3"));
    expect(await failureOf(connection.call("ping"))).toContain("exited with code 3");
  });

  test("while another process holds its pipes open fails the call all the same", async () => {
    const { connection } = converse(script("sleep 600 & read line; exit 3"));
    expect(await failureOf(connection.call("ping"))).toContain("exited with code 3");
  });

  test("fails every call that waits, and those that follow", async () => {
    const { connection } = converse(script("read line; exit 3"));
    const messages = await Promise.all([failureOf(connection.call("a")), failureOf(connection.call("b"))]);
    expect(messages).toEqual([
      expect.stringContaining("exited with code 3"),
      expect.stringContaining("exited with code 3"),
    ]);
    await connection.closed;
    expect(await failureOf(connection.call("c"))).toBe("c (id 3): the connection is closed");
  });

  test("at any byte of its answer gives the answer or an error, never silence", async () => {
    const offsets = [...Array(answer.length + 2).keys()];
    const outcomes = offsets.map(async (offset) => {
      const cut = `${answer}\n`.slice(0, offset);
      const { connection } = converse(script('read line; printf %s "$1"; echo "cut" >&2; exit 3', cut));
      return connection.call("ping").catch((error: unknown) => String(error));
    });
    const seen = await Promise.all(outcomes);
    expect(seen.at(-1)).toBe("pong");
    for (const [offset, outcome] of seen.slice(0, -1).entries()) {
      expect(outcome, `cut at ${offset}`).toContain("exited with code 3; its last lines on stderr:\ncut");
    }
  });
});

describe("a child that stays", () => {
  test("but closes its output fails the call with that", async () => {
    const { connection } = converse(script('read line; echo "done talking" >&2; exec >&-; sleep 600'));
    expect(await failureOf(connection.call("ping"))).toBe(
      'ping (id 1): "/bin/sh" closed its output and still runs; its last lines on stderr:\ndone talking',
    );
  });

  test("but closes its input fails the call with that", async () => {
    const ready = deferred<void>();
    const { connection } = converse(script('exec <&-; echo \'{"jsonrpc":"2.0","method":"ready"}\'; sleep 600'), {
      connection: { onNotification: () => ready.resolve() },
    });
    await ready.promise;
    expect(await failureOf(connection.call("ping"))).toBe(
      'ping (id 1): "/bin/sh" still runs, but writing to the peer failed: write EPIPE; it wrote nothing to stderr',
    );
  });

  test("and never answers fails the call in its time, with what it printed instead", async () => {
    const { connection } = converse(script('echo "Server listening on port 3000"; sleep 600'));
    expect(await failureOf(connection.call("ping", {}, { timeout: 300 }))).toMatch(
      /^ping \(id 1\): no response or notification for 300 ms; before that, this side received "Server listening on port 3000"/,
    );
  });
});

/** Keeps the event loop from everything else. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
