import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { handshakeVersions, latest, latestHandshake } from "@parlance/mcp";
import { type Client, type ConnectOptions, connect, type InputHandlers } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";

// Our client on HTTP against servers of other implementations, which `npm ci --prefix test/interop` installs; without them
// these tests are skipped.

const folder = join(import.meta.dirname, "programs");
const isInstalled = existsSync(join(folder, "../node_modules"));

interface Running extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server, and waits until it has said what `said` reads its address from. */
async function start(
  file: string,
  args: readonly string[],
  said: (line: string) => string | undefined,
  env = {},
): Promise<Running> {
  const child = spawn(process.execPath, [join(folder, file), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      createInterface(output).on("line", (line) => {
        lines.push(line);
        const found = said(line);
        if (found !== undefined) resolve(found);
      });
    }
    child.once("exit", () => reject(new Error(`${file} has ended: ${lines.join("\n")}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

const startSdk = (file: string, ...args: readonly string[]): Promise<Running> =>
  start(file, args, (line) => (line.startsWith("http://") ? line : undefined));

async function startEverything(transport: string, path: string): Promise<Running> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  const everything = "../node_modules/@modelcontextprotocol/server-everything/dist/index.js";
  const said = (line: string): string | undefined =>
    line.includes(`on port ${port}`) ? `http://127.0.0.1:${port}${path}` : undefined;
  return start(everything, [transport], said, { PORT: String(port) });
}

const answers: InputHandlers = {
  elicitation: ({ requestedSchema }) => {
    const { name, check } = requestedSchema.properties;
    return { action: "accept", content: { ...(name && { name: "Ada" }), ...(check && { check: true }) } };
  },
  sampling: () => ({ role: "assistant", model: "a model", content: { type: "text", text: "sampled" } }),
  roots: () => [{ uri: "file:///home/ada", name: "home" }],
};

interface Opened extends AsyncDisposable {
  readonly client: Client;
}

/** Connects; at the end nothing may be left, and nothing reported. */
async function open({ url }: Running, options: ConnectOptions = {}): Promise<Opened> {
  const reports: string[] = [];
  const client = await connect(url, {
    handlers: answers,
    report: (each) => void reports.push(describeReport(each)),
    ...options,
  });
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      assertNoLeaks(client.connection);
      expect(reports).toEqual([]);
    },
  };
}

async function textOf(client: Client, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.tools.call(tool, args);
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
}

/** The features that all of these servers have. */
async function tour(client: Client): Promise<void> {
  expect((await client.tools.list().all()).map(({ name }) => name)).toContain("add");
  expect(await textOf(client, "add", { a: 1, b: 2 })).toBe("3");
  expect((await client.resources.list().all()).map(({ uri }) => uri)).toEqual(["note:one"]);
  expect((await client.resources.templates().all()).map((each) => each.uriTemplate)).toEqual(["note:{name}"]);
  expect((await client.resources.read("note:two")).contents).toEqual([{ uri: "note:two", text: "text of note:two" }]);
  await expect(client.resources.read("other:x")).rejects.toMatchObject({ code: -32_602 });
  const { messages } = await client.prompts.get("write", { topic: "tea" });
  expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Write about tea" } }]);
  const family = { type: "ref/resource", uri: "note:{name}" } as const;
  expect((await client.complete(family, { name: "name", value: "" })).values).toEqual(["two"]);
  await client.ping();
}

describe.skipIf(!isInstalled)("a server on version 1 of the official SDK, on HTTP", () => {
  const modes = [
    ["stateful", handshakeVersions],
    ["stateless", handshakeVersions],
    ["sse", handshakeVersions],
  ] as const;

  describe.each(modes)("%s", (mode, versions) => {
    test("is found to require a handshake, and offers everything, in every revision", async () => {
      await using server = await startSdk("sdk-v1-http-server.js", mode);
      await using found = await open(server);
      expect(found.client.revision).toBe(latestHandshake.version);
      await tour(found.client);
      for (const revision of versions) {
        await using opened = await open(server, { revision });
        expect(await textOf(opened.client, "add", { a: 2, b: 3 })).toBe("5");
      }
    });
  });

  describe.each(["stateful", "sse"])("%s", (mode) => {
    test("elicits, samples, lists roots, reports progress, logs and updates", async () => {
      const told: string[] = [];
      await using server = await startSdk("sdk-v1-http-server.js", mode);
      await using opened = await open(server, { onNotification: (method) => void told.push(method) });
      const { client } = opened;
      expect(await textOf(client, "ask")).toBe("accept Ada 1");
      expect(await textOf(client, "model")).toBe("a model");
      expect(await textOf(client, "roots")).toBe("file:///home/ada");
      const progress: number[] = [];
      await client.tools.call("count", {}, { onProgress: (each) => void progress.push(each.progress) });
      expect(progress).toEqual([1, 2]);
      await using subscription = await client.resources.subscribe("note:one");
      await client.tools.call("touch");
      const { value } = await subscription[Symbol.asyncIterator]().next();
      expect(value).toEqual({ kind: "resource", uri: "note:one" });
      expect(told).toContain("notifications/message");
    });
  });

  test("lets its client come back for an answer, and begin anew when it has forgotten the session", async () => {
    await using server = await startSdk("sdk-v1-http-server.js", "stateful");
    await using opened = await open(server);
    expect(await textOf(opened.client, "later")).toBe("later");
    await fetch(new URL("/forget", server.url));
    expect(await Promise.all([1, 2, 3].map((a) => textOf(opened.client, "add", { a, b: 1 })))).toEqual(["2", "3", "4"]);
  });
});

describe.skipIf(!isInstalled)("a server on version 2 of the official SDK, on HTTP", () => {
  test.each([latest.version, latestHandshake.version])("offers everything in %s", async (revision) => {
    await using server = await startSdk("sdk-v2-http-server.js");
    await using opened = await open(server, { revision });
    await tour(opened.client);
  });

  test("is found to be of the stateless era, requests input in rounds, and notifies of new tools", async () => {
    await using server = await startSdk("sdk-v2-http-server.js");
    await using opened = await open(server);
    expect(opened.client.revision).toBe(latest.version);
    expect(await textOf(opened.client, "ask")).toBe("accept Ada 1");
    await using subscription = await opened.client.subscribe({ toolsListChanged: true });
    await fetch(new URL("/changed", server.url));
    const { value } = await subscription[Symbol.asyncIterator]().next();
    expect(value).toEqual({ kind: "list", list: "tools" });
  });
});

describe.skipIf(!isInstalled)("server-everything, on HTTP", () => {
  test.each([
    ["streamableHttp", "/mcp"],
    ["sse", "/sse"],
  ])("%s is listed, read, subscribed to, asks and samples", async (transport, path) => {
    await using server = await startEverything(transport, path);
    await using opened = await open(server);
    const { client } = opened;
    expect((await client.tools.list().all()).length).toBeGreaterThan(10);
    const [first] = await client.resources.list().all();
    if (first === undefined) throw new Error("it lists no resource");
    expect((await client.resources.read(first.uri)).contents[0]?.uri).toBe(first.uri);
    const subscription = await client.resources.subscribe(first.uri);
    await subscription.close();
    expect(await textOf(client, "trigger-sampling-request", { prompt: "hi" })).toContain("sampled");
    expect(await textOf(client, "get-roots-list")).toContain("file:///home/ada");
    const progress: number[] = [];
    const onProgress = ({ progress: at }: { progress: number }): void => void progress.push(at);
    await client.tools.call("trigger-long-running-operation", { duration: 0.1, steps: 3 }, { onProgress });
    expect(progress).toEqual([1, 2, 3]);
  });
});
