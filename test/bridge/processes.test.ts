import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Client, connect, RpcError } from "@parlance/mcp/client";
import { type ChildChannel, childChannel } from "@parlance/mcp/node";
import { describe, expect, test, vi } from "vitest";

import { fixture, main, start, startInForm } from "../cli/run.js";
import { claim, initialize, initialized, modern, request } from "../testing/frames.js";

/** For what another process does: many are under way, on a machine that may be busy. */
const patience = { timeout: 60_000 };

const far = ["--", process.execPath, fixture("far-server.js")];
const handshake = "2025-11-25";

/** The bridge as a host starts it. */
function hosted(...words: readonly string[]): ChildChannel {
  return childChannel({ command: process.execPath, args: [main, "bridge", ...words] });
}

/** The bridge as a process whose input and output a test holds. */
function piped(...words: readonly string[]) {
  const child = spawn(process.execPath, [main, "bridge", ...words], { stdio: ["pipe", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  }
  return {
    child,
    said,
    send: (frame: string) => child.stdin.write(`${frame}\n`),
    until: (name: keyof typeof said, text: string) => vi.waitFor(() => expect(said[name]).toContain(text), patience),
    exited: once(child, "exit"),
  };
}

async function textOf(client: Client, tool: string): Promise<string> {
  const { content } = await client.tools.call(tool, {});
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

describe.each([handshake, modern])("with a host that speaks %s", (revision) => {
  test.concurrent("an upstream that exits during a call fails the call with its exit code", async () => {
    const channel = hosted(...far);
    const client = await connect(channel, { revision });
    const died: unknown = await textOf(client, "die").catch((error: unknown) => error);
    expect(died).toBeInstanceOf(RpcError);
    expect(died).toMatchObject({ code: -32_603, data: { reason: expect.stringContaining("exited with code 7") } });
    await client.close();
    expect(channel.exit).toEqual({ code: 3, signal: null });
    expect(channel.stderr).toContain("the disk is \\u{1b}[31mfull");
    expect(channel.stderr).toContain("exited with code 7");
    await expectGone(channel.stderr);
  });

  test.concurrent("a call that is cancelled is cancelled upstream", async () => {
    const channel = hosted(...far);
    await using client = await connect(channel, { revision });
    const cancelling = new AbortController();
    const waiting = client.tools.call("wait", {}, { signal: cancelling.signal, onProgress: () => cancelling.abort() });
    await expect(waiting).rejects.toMatchObject({ reason: "cancelled" });
    await vi.waitFor(() => expect(channel.stderr).toContain("the call was cancelled"), patience);
  });
});

test.concurrent("a host that closes while an input request is open leaves no process", async () => {
  const { send, until, said, exited, child } = piped(...far);
  send(initialize(handshake).replace('"capabilities":{}', '"capabilities":{"elicitation":{}}'));
  await until("stdout", "serverInfo");
  send(initialized);
  send(request(1, "tools/call", { name: "ask" }));
  await until("stdout", "elicitation/create");
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  await expectGone(said.stderr);
});

test.concurrent("a call that waits for input responses ends with the host", async () => {
  const { send, until, said, exited, child } = piped("--revision", handshake, ...far);
  const meta = { ...claim, "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
  send(request(1, "tools/call", { name: "ask", _meta: meta }));
  await until("stdout", "input_required");
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  await expectGone(said.stderr);
});

test.concurrent.each(["SIGTERM", "SIGINT"] as const)("%s leaves no process", async (signal) => {
  const { send, until, said, exited, child } = piped(...far);
  send(initialize(handshake));
  await until("stdout", "serverInfo");
  child.kill(signal);
  expect(await exited).toEqual([signal === "SIGINT" ? 130 : 143, null]);
  await expectGone(said.stderr);
});

test.concurrent("a command that does not exist is named in the response to the host, and on stderr", async () => {
  const { send, until, said, exited, child } = piped("--", "no-such-command");
  send(initialize(handshake));
  await until("stdout", '"error"');
  child.stdin.end();
  expect(await exited).toEqual([3, null]);
  expect(said.stdout).toMatch(/"code":-32603.*no-such-command/);
  expect(said.stderr).toContain("no-such-command");
});

describe("at an address", () => {
  async function listening(...words: readonly string[]) {
    const running = start(["bridge", "--listen", "http://127.0.0.1:0/mcp", "--json", ...words]);
    const { listening: url } = JSON.parse(await running.firstLine) as { readonly listening: string };
    return { running, url };
  }

  test.concurrent("each session has a process of its own, which ends with it", async () => {
    const { running, url } = await listening(...far);
    const [one, other] = [await connect(url, { revision: handshake }), await connect(url, { revision: handshake })];
    const pids = [await textOf(one, "pid"), await textOf(other, "pid")];
    expect(new Set(pids).size).toBe(2);
    await one.close();
    await vi.waitFor(() => expect(isThere(pids[0])).toBe(false), patience);
    expect(isThere(pids[1])).toBe(true);
    await other.close();
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.ended;
    expect(code).toBe(143);
    await expectGone(stderr);
  });

  test.concurrent("callers of the stateless era share a process", async () => {
    const { running, url } = await listening(...far);
    const [one, other] = [await connect(url, { revision: modern }), await connect(url, { revision: modern })];
    expect(await textOf(one, "pid")).toBe(await textOf(other, "pid"));
    await Promise.all([one.close(), other.close()]);
    running.child.kill("SIGTERM");
    await expectGone((await running.ended).stderr);
  });

  test.concurrent("stderr of the upstream is not sent over the network", async () => {
    const { running, url } = await listening(...far);
    await using client = await connect(url, { revision: modern });
    const died: unknown = await textOf(client, "die").catch((error: unknown) => error);
    expect(died).toMatchObject({ code: -32_603, data: { reason: expect.not.stringContaining("disk") } });
    expect(await textOf(client, "pid")).toMatch(/^pid \d+$/); // The next one has started another.
    running.child.kill("SIGTERM");
    await expectGone((await running.ended).stderr);
  });

  test.concurrent("a session ends with its upstream", async () => {
    const { running, url } = await listening(...far);
    const client = await connect(url, { revision: handshake, reopen: false });
    await expect(textOf(client, "die")).rejects.toMatchObject({ code: -32_603 });
    await expect(textOf(client, "pid")).rejects.toThrow();
    await client.close();
    running.child.kill("SIGTERM");
    await expectGone((await running.ended).stderr);
  });
});

describe("the command line", () => {
  test.concurrent.each([
    [["bridge"], /no target/],
    [["bridge", "--listen", "ftp://x", ...far], /no address to listen at/],
    [["bridge", "--listen", "http://0.0.0.0:0/mcp", ...far], /the bridge has no authentication/],
    [["bridge", "--header", "A: b", ...far], /--header is for requests to a URL/],
    [["bridge", "https://[/mcp"], /is not a URL/],
  ])("%j is refused", async (words, why) => {
    const { code, stdout, stderr } = await startInForm(words).ended;
    expect(stderr).toMatch(why);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });
});

/** Waits until the processes that printed their `pid` are gone; the system takes its time to reap orphans. */
async function expectGone(text: string): Promise<void> {
  const pids = [...text.matchAll(/pid (\d+)/g)].map(([, pid]) => pid);
  expect(pids).not.toEqual([]);
  await vi.waitFor(() => expect(pids.filter(isThere)).toEqual([]), patience);
}

function isThere(pid = ""): boolean {
  try {
    return process.kill(Number(pid.replace("pid ", "")), 0);
  } catch {
    return false;
  }
}
