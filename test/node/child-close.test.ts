import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { describe, expect, test } from "vitest";
import { deferred } from "../../packages/mcp/src/base/deferred.js";
import { converse, expectNobodyLeft, failureOf, program, script } from "./conversations.js";

/** `trap ""` is inherited, so `sleep` heeds nothing but SIGKILL either. */
const ignoreAll = 'trap "" TERM INT HUP;';
/** For a child that ends by itself: so that a busy machine gives it the time. */
const patient = { exitGrace: 60_000 };
const sayReady = `echo '{"jsonrpc":"2.0","id":1,"result":"ready"}';`;

describe("close", () => {
  test("lets a child that heeds the end of its input end by itself", async () => {
    const { connection, channel } = converse(
      script(`trap 'echo signalled >&2' TERM; ${sayReady} while read line; do :; done; echo bye >&2`),
      patient,
    );
    await connection.call("start");
    await connection.close();
    expect(channel.stderr).toBe("bye");
  });

  test("terminates a child that ignores the end of its input", async () => {
    const { connection, channel } = converse(
      script(`trap 'echo signalled >&2; exit' TERM; ${sayReady} sleep 600 & wait`),
    );
    await connection.call("start");
    await connection.close();
    expect(channel.stderr).toContain("signalled");
  });

  test("ends a child that ignores that as well", async () => {
    const { connection } = converse(script(`${ignoreAll} ${sayReady} sleep 600`));
    await connection.call("start");
    await connection.close();
  });

  test("ends processes that the child started, hold its pipes and ignore everything", async () => {
    const { connection } = converse(script(`${ignoreAll} sleep 600 & sleep 600 & ${sayReady} sleep 600`));
    await connection.call("start");
    await connection.close();
  });

  test("ends the processes of a child that exits at the end of its input", async () => {
    const { connection } = converse(script(`${ignoreAll} sleep 600 & ${sayReady} while read line; do :; done`));
    await connection.call("start");
    await connection.close();
  });

  test("writes what was sent in the same tick", async () => {
    const { connection, channel } = converse(script("cat >&2"), patient);
    connection.notify("goodbye");
    await connection.close();
    expect(channel.stderr).toBe('{"jsonrpc":"2.0","method":"goodbye"}');
  });

  test("reads on, so that a child with much to say comes to its end", async () => {
    const { connection, channel } = converse(
      program(`
        process.stdin.once("data", () => process.stdout.write("\\n".repeat(5_000_000), () => process.stderr.write("said it all")));
      `),
      patient,
    );
    channel.pause?.();
    connection.notify("speak");
    await connection.close();
    expect(channel.stderr).toBe("said it all");
  });

  test("gives up what a child that reads nothing has not read", async () => {
    const { connection } = converse(script("sleep 600"));
    const call = failureOf(connection.call("ping", { text: "x".repeat(20_000_000) }));
    await connection.close();
    expect(await call).toBe("ping (id 1): the connection was closed");
  });

  test("fails the calls that wait", async () => {
    const { connection } = converse(script("sleep 600"));
    const call = failureOf(connection.call("ping"));
    await connection.close();
    expect(await call).toBe("ping (id 1): the connection was closed");
  });
});

describe("a channel", () => {
  test("can be closed as soon as it is there, and twice", async () => {
    const channel = childChannel(script("sleep 600"), { exitGrace: 50 });
    await Promise.all([channel.close(), channel.close()]);
    await channel.close();
    await expectNobodyLeft([channel.pid ?? 0]);
  });

  test("that is opened late reports a child that has already exited", async () => {
    const channel = childChannel(script("echo lost >&2; exit 3"));
    await expectNobodyLeft([channel.pid ?? 0]);
    const { ended } = record(channel);
    expect((await ended)?.message).toBe('"/bin/sh" exited with code 3; its last lines on stderr:\nlost');
    await channel.close();
  });

  test("delivers nothing and drops what is sent once it is closed", async () => {
    const channel = childChannel(script("echo one; while read line; do echo two; done; echo three"), patient);
    const { seen, first } = record(channel);
    await first;
    const closed = channel.close();
    void channel.send("too late");
    await closed;
    void channel.send("later still");
    expect(seen).toEqual(["one"]);
  });

  test("ends the processes of a crashed child by itself", async () => {
    const channel = childChannel(script(`${ignoreAll} sleep 600 & exit 3`), { exitGrace: 50 });
    expect((await record(channel).ended)?.message).toContain("exited with code 3");
    await expectNobodyLeft([channel.pid ?? 0]);
  });

  test("leaves no listener on the process", async () => {
    const before = process.listenerCount("exit");
    const channels = [childChannel(script("cat")), childChannel(script("cat")), childChannel(script("exit 1"))];
    expect(process.listenerCount("exit")).toBe(before + 1);
    await Promise.all(channels.map((channel) => channel.close()));
    expect(process.listenerCount("exit")).toBe(before);
  });
});

/** Opens a channel and keeps what it delivers. */
function record(channel: Channel): { seen: string[]; first: Promise<void>; ended: Promise<Error | undefined> } {
  const seen: string[] = [];
  const first = deferred<void>();
  const ended = deferred<Error | undefined>();
  channel.open({
    frame(text) {
      seen.push(text);
      first.resolve();
    },
    refuse: ({ message }) => void seen.push(message),
    end: (error) => ended.resolve(error),
  });
  return { seen, first: first.promise, ended: ended.promise };
}

/**
 * A process namespace of its own, with a /proc of its own: its first process inherits what others leave behind, as in a
 * container.
 */
const container = ["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
const hasContainer = spawnSync("unshare", [...container, "true"]).status === 0;

describe.runIf(hasContainer)("close in a container whose first process reaps nothing (needs unshare)", () => {
  test("does not wait for processes that have exited", () => {
    const child = `sleep 600 & ${sayReady} while read line; do :; done; kill $!`;
    const text = `
      import { openConnection } from "@parlance/mcp/jsonrpc";
      import { childChannel } from "@parlance/mcp/node";
      const command = { command: "sh", args: ["-c", ${JSON.stringify(child)}] };
      const connection = openConnection(childChannel(command, { exitGrace: 600_000 }));
      await connection.call("start");
      await connection.close();
      process.exit(0);
    `;
    const { status, stderr } = spawnSync(
      "unshare",
      [...container, process.execPath, "--input-type=module", "-e", text],
      { cwd: fileURLToPath(new URL("../..", import.meta.url)), encoding: "utf8", timeout: 25_000 },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});
