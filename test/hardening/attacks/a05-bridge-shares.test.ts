import { bridgeTo } from "@parlance/mcp/bridge";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { FairQueue } from "../../../packages/mcp/src/bridge/fair-queue.js";
import { type Asked, statelessPost, written } from "../../http/server/asked.js";
import { until } from "../../http/server/site.js";
import { Wire } from "../../http/server/wire.js";
import { textOf } from "../../testing/frames.js";

const attacker = { "x-from": "192.0.2.1" };
const victim = { "x-from": "192.0.2.2" };

interface Bridged extends AsyncDisposable {
  /** How many upstreams were started. */
  readonly started: () => number;
  open(): Promise<Wire>;
}

/** A bridge on HTTP, whose clients say in a header where they come from. */
async function bridged(server: Server): Promise<Bridged> {
  let started = 0;
  const bridge = bridgeTo(() => {
    const [near, far] = memoryChannels();
    serveChannel(server, far);
    started += 1;
    return near;
  });
  const http = await serveHttp(bridge, { addressOf: (request) => request.header("x-from"), report: () => undefined });
  return {
    started: () => started,
    open: () => Wire.open(http.port),
    async [Symbol.asyncDispose]() {
      await http.close();
      await bridge.close();
    },
  };
}

function call(tool: string, headers: Asked["headers"], name = "host"): Asked {
  const meta = { "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
  return statelessPost("tools/call", { name: tool, arguments: {} }, headers, { meta });
}

function upstream(): Server & { readonly ends: (() => void)[] } {
  const server = createServer({ name: "upstream", version: "1" });
  const ends: (() => void)[] = [];
  server.tool("echo", {}, () => "alive");
  server.tool("slow", {}, () => new Promise<string>((resolve) => void ends.push(() => resolve("done"))));
  return Object.assign(server, { ends });
}

describe("A5: a bridge", () => {
  test("starts nine upstreams for forty invented client names of one address, and serves them all", async () => {
    await using at = await bridged(upstream());
    using wire = await at.open();
    for (let index = 0; index < 40; index += 1) {
      const { status, body } = await wire.ask(written(call("echo", attacker, `client-${index}`)));
      expect({ status, text: textOf(body) }).toEqual({ status: 200, text: "alive" });
    }
    expect(at.started()).toBe(9);
    await wire.ask(written(call("echo", victim, "another")));
    expect(at.started()).toBe(10);
  });

  test("lets one address have two thirds of an upstream, and others the rest", async () => {
    const server = upstream();
    await using at = await bridged(server);
    const wires = await Promise.all(Array.from({ length: 100 }, () => at.open()));
    for (const wire of wires) wire.write(written(call("slow", attacker)));
    await until(() => server.ends.length === 64);
    using wire = await at.open();
    expect(textOf((await wire.ask(written(call("echo", victim)))).body)).toBe("alive");
    expect({ started: at.started(), running: server.ends.length }).toEqual({ started: 1, running: 64 });
    for (let ended = 0; ended < 100; ended += 1) {
      await until(() => server.ends.length > ended);
      server.ends[ended]?.();
    }
    for (const each of wires) expect((await each.answer()).status).toBe(200);
  });

  test("answers a call beside as many subscriptions as one address may have", async () => {
    await using at = await bridged(upstream());
    const meta = { "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" } };
    const listening = { notifications: { toolsListChanged: true } };
    const statuses: number[] = [];
    for (let count = 0; count < 128; count += 1) {
      const wire = await at.open();
      wire.write(written(statelessPost("subscriptions/listen", listening, attacker, { meta })));
      statuses.push((await wire.head()).status);
    }
    expect(statuses).toEqual([...Array<number>(64).fill(200), ...Array<number>(64).fill(429)]);
    using wire = await at.open();
    expect(textOf((await wire.ask(written(call("echo", victim)))).body)).toBe("alive");
  });
});

describe("A5: a fair queue", () => {
  test("lets peers that wait take turns, however many calls each of them has", async () => {
    const queue = new FairQueue({ total: 1, perPeer: 1 });
    const { signal } = new AbortController();
    const order: string[] = [];
    const run = (peer: string): Promise<unknown> => queue.run(peer, signal, async () => order.push(peer));
    await Promise.all(["a", "a", "a", "a", "b", "b", "c"].map(run));
    expect(order).toEqual(["a", "a", "b", "c", "a", "b", "a"]);
  });

  test("forgets a call that is given up while it waits", async () => {
    const queue = new FairQueue({ total: 1, perPeer: 1 });
    const user = new AbortController();
    const { signal } = new AbortController();
    let end = (): void => undefined;
    const first = queue.run("a", signal, () => new Promise<void>((resolve) => (end = resolve)));
    const second = queue.run("a", user.signal, () => Promise.reject(new Error("it must not run")));
    const third = queue.run("b", signal, () => Promise.resolve("third"));
    user.abort(new Error("given up"));
    await expect(second).rejects.toThrow("given up");
    end();
    await first;
    expect(await third).toBe("third");
  });
});
