import { existsSync } from "node:fs";
import { join } from "node:path";
import { handshakeVersions, latest, latestHandshake } from "@parlance/mcp";
import type { Client, ClientOptions, InputHandlers } from "@parlance/mcp/client";
import { connectStdio } from "@parlance/mcp/node";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";

// Every verb of our client against servers of other implementations, which `npm ci --prefix test/interop` installs;
// without them these tests are skipped.

const folder = join(import.meta.dirname, "programs");
const isInstalled = existsSync(join(folder, "../node_modules"));

const answers: InputHandlers = {
  elicitation: ({ requestedSchema }) => {
    const { name, check } = requestedSchema.properties;
    return { action: "accept", content: { ...(name && { name: "Ada" }), ...(check && { check: true }) } };
  },
  sampling: () => ({ role: "assistant", model: "a model", content: { type: "text", text: "sampled" } }),
  roots: () => [{ uri: "file:///home/ada", name: "home" }],
};

function open(file: string, options: ClientOptions = {}, args: readonly string[] = []): Promise<Client> {
  return connectStdio(
    { command: process.execPath, args: [join(folder, file), ...args] },
    { handlers: answers, ...options },
  );
}

async function textOf(client: Client, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.tools.call(tool, args);
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
}

describe.skipIf(!isInstalled)("a server on the official SDK, installed by npm ci --prefix test/interop,", () => {
  const servers = [
    ["version 1", "sdk-v1-server.js", latestHandshake.version],
    ["version 2", "sdk-v2-server.js", latestHandshake.version],
    ["version 2", "sdk-v2-server.js", latest.version],
  ] as const;

  describe.each(servers)("on %s: %s, in %s", (_name, file, revision) => {
    test("is read, prompted and completed", async () => {
      await using client = await open(file, { revision });
      expect((await client.resources.list().all()).map(({ uri }) => uri)).toEqual(["note:one"]);
      expect((await client.resources.templates().all()).map((each) => each.uriTemplate)).toEqual(["note:{name}"]);
      expect((await client.resources.read("note:two")).contents).toEqual([
        { uri: "note:two", text: "text of note:two" },
      ]);
      await expect(client.resources.read("other:x")).rejects.toMatchObject({ code: -32_602 });
      expect((await client.prompts.list().all()).map(({ name }) => name)).toEqual(["write"]);
      const { messages } = await client.prompts.get("write", { topic: "tea" });
      expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Write about tea" } }]);
      const topic = { name: "topic", value: "t" };
      expect((await client.complete({ type: "ref/prompt", name: "write" }, topic)).values).toEqual(["tea", "trains"]);
      const family = { type: "ref/resource", uri: "note:{name}" } as const;
      expect((await client.complete(family, { name: "name", value: "" })).values).toEqual(["two"]);
      await client.ping();
      await client.setLogLevel("error");
      assertNoLeaks(client.connection);
    });

    test("is answered when it asks, with the defaults of its form", async () => {
      await using client = await open(file, { revision });
      expect(await textOf(client, "ask")).toBe("accept Ada 1");
    });
  });

  test("on version 1 samples a model, lists roots, reports progress, logs and updates", async () => {
    const told: string[] = [];
    await using client = await open("sdk-v1-server.js", { onNotification: (method) => void told.push(method) });
    expect(await textOf(client, "model")).toBe("a model");
    expect(await textOf(client, "roots")).toBe("file:///home/ada");
    const progress: number[] = [];
    await client.tools.call("count", {}, { onProgress: (each) => void progress.push(each.progress) });
    expect(progress).toEqual([1, 2]);
    expect(told).toContain("notifications/message");
    await using subscription = await client.resources.subscribe("note:one");
    await client.tools.call("touch");
    const { value } = await subscription[Symbol.asyncIterator]().next();
    expect(value).toEqual({ kind: "resource", uri: "note:one" });
  });

  test.each([latestHandshake.version, latest.version])("on version 2 notifies of new tools in %s", async (revision) => {
    await using client = await open("sdk-v2-server.js", { revision });
    await using subscription = await client.subscribe({ toolsListChanged: true });
    await client.tools.call("grow");
    const { value } = await subscription[Symbol.asyncIterator]().next();
    expect(value).toEqual({ kind: "list", list: "tools" });
    expect((await client.tools.list().all()).map(({ name }) => name)).toContain("grown");
  });
});

describe.skipIf(!isInstalled)("server-everything, installed by npm ci --prefix test/interop,", () => {
  const everything = "../node_modules/@modelcontextprotocol/server-everything/dist/index.js";

  test.each(handshakeVersions)("is listed, read, prompted, completed and subscribed to in %s", async (revision) => {
    await using client = await open(everything, { revision }, ["stdio"]);
    const [first] = await client.resources.list().all();
    if (first === undefined) throw new Error("it lists no resource");
    expect((await client.resources.read(first.uri)).contents[0]?.uri).toBe(first.uri);
    expect((await client.resources.templates().all()).length).toBeGreaterThan(0);
    expect((await client.prompts.list().all()).map(({ name }) => name)).toContain("simple-prompt");
    expect((await client.prompts.get("simple-prompt")).messages).toHaveLength(1);
    const department = { type: "ref/prompt", name: "completable-prompt" } as const;
    expect((await client.complete(department, { name: "department", value: "E" })).values).toEqual(["Engineering"]);
    const subscription = await client.resources.subscribe(first.uri);
    await subscription.close();
    await client.setLogLevel("error");
    await client.ping();
    assertNoLeaks(client.connection);
  });

  test("elicits, samples, lists roots, reports progress and runs a task", async () => {
    await using client = await open(everything, { revision: latestHandshake.version }, ["stdio"]);
    const tools = await client.tools.list().all();
    expect(tools.length).toBeGreaterThan(10);
    expect(await textOf(client, "get-structured-content", { location: "Chicago" })).toContain("temperature");
    expect(await textOf(client, "trigger-sampling-request", { prompt: "hi" })).toContain("sampled");
    const progress: number[] = [];
    const onProgress = ({ progress: at }: { progress: number }): void => void progress.push(at);
    await client.tools.call("trigger-long-running-operation", { duration: 0.1, steps: 3 }, { onProgress });
    expect(progress).toEqual([1, 2, 3]);
    expect(await textOf(client, "trigger-elicitation-request")).toContain("Ada");
    expect(await textOf(client, "get-roots-list")).toContain("file:///home/ada");
    expect(await textOf(client, "simulate-research-query", { topic: "tea" })).toContain("tea");
  });
});
