import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ProgressParams } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import type { Command } from "@parlance/mcp/node";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { failureOf } from "../node/conversations.js";
import { initialize, initialized, parse, ping, pong, request, stateless, textOf } from "../testing/frames.js";
import { dialler, serverProcess } from "../testing/processes.js";

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const eras = ["2025-11-25", "2026-07-28"];

/** Tools that take their time, fail or talk too much. */
const tools = `
  server.tool("count", {}, async (_args, context) => {
    for (let progress = 1; progress <= 250; progress += 1) {
      context.progress(progress, 250, "step " + progress);
      if (progress % 50 === 0) await context.drained();
    }
    return "counted";
  });
  server.tool("slow", {}, () => new Promise((resolve) => setTimeout(() => resolve("slow but sure"), 150)));
  server.tool("forever", {}, () => new Promise(() => { setInterval(() => {}, 1000); }));
  server.tool("chat", {}, () => { console.log("I am not a message"); return "chatted"; });
  server.tool("boom", {}, () => { throw new Error("a secret reason"); });
`;

test.each(revisions)("a server process is opened, listed, called and left in %s", async (revision) => {
  await using client = await connect(dialler(serverProcess(tools)), { revision, timeout: 60_000 });
  expect(client.revision).toBe(revision);
  const listed = await client.tools.list().all();
  expect(listed.map(({ name }) => name)).toEqual(["count", "slow", "forever", "chat", "boom"]);
  expect((await client.tools.call("slow")).content).toEqual([{ type: "text", text: "slow but sure" }]);
  assertNoLeaks(client.connection);
});

describe.each(eras)("a server process in %s", (revision) => {
  test("delivers 250 notifications of progress, in order and before the result", async () => {
    await using client = await connect(dialler(serverProcess(tools)), { revision, timeout: 60_000 });
    const heard: ProgressParams[] = [];
    const result = await client.tools.call("count", {}, { onProgress: (each) => void heard.push(each) });
    expect(heard).toHaveLength(250);
    expect(result.content).toEqual([{ type: "text", text: "counted" }]);
    expect(heard.map(({ progress }) => progress)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
    expect(heard.at(-1)).toMatchObject({ total: 250, message: "step 250" });
    assertNoLeaks(client.connection);
  });

  test("that prints with console.log is still understood, before and after", async () => {
    const reports: string[] = [];
    await using client = await connect(dialler(serverProcess(tools)), {
      revision,
      timeout: 60_000,
      report: (each) => void reports.push(describeReport(each)),
    });
    const answers = await Promise.all(["chat", "chat", "slow", "chat"].map((name) => client.tools.call(name)));
    expect(answers.map(({ content }) => content)).toEqual(
      ["chatted", "chatted", "slow but sure", "chatted"].map((text) => [{ type: "text", text }]),
    );
    expect(reports).toEqual(Array(3).fill(expect.stringContaining('received "I am not a message"')));
    assertNoLeaks(client.connection);
  });

  test("that fails sends only an internal error to its client, and the details to stderr", async () => {
    const channel = dialler(serverProcess(tools))();
    await using client = await connect(channel, { revision, timeout: 60_000 });
    expect(await failureOf(client.tools.call("boom"))).toBe("Internal error");
    await expect
      .poll(() => channel.stderr, { timeout: 60_000 })
      .toContain('"tools/call" of "boom" failed: Error: a secret reason');
    assertNoLeaks(client.connection);
  });
});

/** A server process that a test speaks to line by line, and ends as it likes. */
interface Raw extends AsyncDisposable {
  readonly child: ChildProcess;
  send(frame: string): void;
  next(): Promise<string>;
  /** Its code or signal, once it is gone. */
  readonly end: Promise<number | string | null>;
}

function run({ command, args = [] }: Command): Raw {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const end = once(child, "exit").then(([code, signal]: (number | string | null)[]) => signal ?? code ?? null);
  return {
    child,
    end,
    send: (frame) => void child.stdin.write(`${frame}\n`),
    next: async () => String((await lines.next()).value),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await end;
    },
  };
}

const call = (id: number, name: string): string => stateless(id, "tools/call", { name });

describe("at the end of its input a server process", () => {
  test("exits with code 0 by itself", async () => {
    await using raw = run(serverProcess(tools));
    raw.send(ping);
    expect(await raw.next()).toBe(pong);
    raw.child.stdin?.end();
    expect(await raw.end).toBe(0);
  });

  test("exits with code 0 even if nothing was ever said", async () => {
    await using raw = run(serverProcess(tools));
    raw.child.stdin?.end();
    expect(await raw.end).toBe(0);
  });

  test("answers what it was asked before", async () => {
    await using raw = run(serverProcess(tools));
    raw.send(initialize("2025-11-25"));
    raw.send(initialized);
    raw.send(request(1, "tools/call", { name: "slow" }));
    raw.send(call(2, "slow"));
    raw.child.stdin?.end();
    expect(parse(await raw.next()).id).toBe(0);
    expect(textOf(await raw.next())).toBe("slow but sure");
    expect(textOf(await raw.next())).toBe("slow but sure");
    expect(await raw.end).toBe(0);
  });

  test("runs the code after serveStdio", async () => {
    await using raw = run(serverProcess(tools, 'process.stdout.write("cleaned up\\n"); process.exitCode = 7;'));
    raw.child.stdin?.end();
    expect(await raw.next()).toBe("cleaned up");
    expect(await raw.end).toBe(7);
  });
});

describe("a signal", () => {
  test("ends a process that rests at once, with code 0", async () => {
    await using raw = run(serverProcess(tools));
    raw.send(ping);
    await raw.next();
    raw.child.kill("SIGTERM");
    expect(await raw.end).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "waits for a call that runs, whose answer still goes out: %s",
    async (signal) => {
      await using raw = run(serverProcess(tools));
      raw.send(call(1, "slow"));
      raw.send(ping);
      expect(await raw.next()).toBe(pong);
      raw.child.kill(signal);
      expect(textOf(await raw.next())).toBe("slow but sure");
      expect(await raw.end).toBe(0);
    },
  );

  test("lets nothing new begin meanwhile, and a second one does not wait for a call that never ends", async () => {
    await using raw = run(serverProcess(tools));
    raw.send(call(1, "forever"));
    raw.send(ping);
    expect(await raw.next()).toBe(pong);
    raw.child.kill("SIGTERM");
    // The signal comes on its own way: what is sent behind it may still be taken.
    let answer = pong;
    for (let id = 2; parse(answer).error === undefined; id += 1) {
      raw.send(request(id, "ping"));
      answer = await raw.next();
    }
    expect(parse(answer).error).toMatchObject({
      code: -32_603,
      data: { reason: expect.stringContaining("shutting down") },
    });
    raw.child.kill("SIGTERM");
    expect(await raw.end).toBe(1);
  });
});
