import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect as connectSocket, createServer as createRelay, type Socket } from "node:net";
import { connect } from "@parlance/mcp/client";
import { serveHttp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, onTestFinished, test } from "vitest";
import { ping } from "../../testing/frames.js";

/**
 * Stands between two peers, and stops to forward without closing anything: what is sent is taken, and goes nowhere, as with a
 * machine that has lost its network. Connections that are made later pass.
 */
interface BlackHole extends AsyncDisposable {
  readonly port: number;
  /** The bytes that the server has sent through it. */
  readonly passed: () => string;
  swallow(): void;
}

async function blackHole(target: number): Promise<BlackHole> {
  const open = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  let passed = "";
  const relay = createRelay((client) => {
    const server = connectSocket(target, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(from);
      from.on("error", () => undefined);
      from.on("data", (chunk: Buffer) => {
        if (swallowed.has(from)) return;
        if (from === server) passed += chunk.toString("latin1");
        to.write(chunk);
      });
      from.on("close", () => {
        open.delete(from);
        if (!swallowed.has(from)) to.destroy();
      });
    }
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return {
    port: (relay.address() as AddressInfo).port,
    passed: () => passed,
    swallow: () => {
      for (const socket of open) swallowed.add(socket);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
}

interface Waiting {
  readonly server: Server;
  /** Resolves with the signal of a call when it runs. */
  readonly started: Promise<AbortSignal>;
  answer(): void;
}

/** A server with a tool that answers when it is told to. */
function waiting(): Waiting {
  const server = createServer({ name: "waiting", version: "1.0.0" });
  let start: (signal: AbortSignal) => void;
  let answer: () => void;
  const started = new Promise<AbortSignal>((resolve) => {
    start = resolve;
  });
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.tool("wait", {}, async (_args, context) => {
    start(context.signal);
    await answered;
    return "done";
  });
  onTestFinished(() => answer()); // Bytes of a call are held until its handler ends.
  return { server, started, answer: () => answer() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

/** Milliseconds that pass until something has an outcome. */
async function timeUntil(outcome: Promise<unknown>, clock: FakeClock): Promise<number> {
  const before = clock.now();
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  outcome.then(end, end);
  for (let turns = 0; !isOver; turns += 1) {
    await turn();
    if (turns % 20 === 19) clock.advance(500);
  }
  return clock.now() - before;
}

describe("A7: a WebSocket peer that has vanished", () => {
  test("is noticed by its client within 25 s", async () => {
    const { server, started } = waiting();
    await using listener = await serveWebSocket(server);
    await using hole = await blackHole(listener.port);
    const clock = createFakeClock();
    const url = `ws://127.0.0.1:${hole.port}/mcp`;
    await using client = await connect(() => nodeWebSocketChannel(url, { clock }), { timeout: 600_000 });
    const call = client.tools.call("wait");
    await started;
    hole.swallow();
    expect(await timeUntil(call, clock)).toBeLessThanOrEqual(25_500);
    await expect(call).rejects.toThrow("the server has sent nothing for 10000 ms");
  });

  test("is noticed by its server within 25 s, and what it has called is aborted", async () => {
    const clock = createFakeClock();
    const { server, started } = waiting();
    await using listener = await serveWebSocket(server, { clock });
    await using hole = await blackHole(listener.port);
    const client = await connect(() => nodeWebSocketChannel(`ws://127.0.0.1:${hole.port}/mcp`));
    const call = client.tools.call("wait").catch(() => undefined);
    const signal = await started;
    hole.swallow();
    const aborted = once(signal, "abort");
    expect(await timeUntil(aborted, clock)).toBeLessThanOrEqual(25_500);
    await client.close();
    await call;
  });
});

describe("A7: an HTTP server that vanishes during a keep-alive", () => {
  /** A call through a black hole that swallows everything behind the first keep-alive. */
  async function swallowed(
    { server, started, answer }: Waiting,
    check: (call: Promise<unknown>, clock: FakeClock) => Promise<void>,
  ): Promise<void> {
    const [clock, served] = [createFakeClock(), createFakeClock()];
    await using http = await serveHttp(server, { clock: served });
    await using hole = await blackHole(http.port);
    const url = `http://127.0.0.1:${hole.port}/mcp`;
    await using client = await connect(url, { revision: "2026-07-28", clock, timeout: 600_000 });
    const call = client.tools.call("wait");
    await started;
    const { armed } = clock;
    await until(() => served.armed > 0);
    await turn();
    served.advance(15_000);
    await until(() => hole.passed().includes(": keep-alive") && clock.armed > armed);
    hole.swallow();
    answer();
    await check(call, clock);
  }

  test("is noticed within 30 s, and the call fails", async () => {
    await swallowed(waiting(), async (call, clock) => {
      expect(await timeUntil(call, clock)).toBeLessThanOrEqual(30_500);
      await expect(call).rejects.toThrow("the server has sent nothing for 30000 ms");
    });
  });
});

describe.runIf(process.platform === "linux")(
  "A7: the system asks whether the peer is there (needs /proc/net/tcp)",
  () => {
    /**
     * Expects that a keep-alive probe is due for the end of a connection with these ports, at the latest after so many seconds.
     */
    async function expectProbe(local: number, remote: number, seconds: number): Promise<void> {
      const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
      const rowOf = (): readonly string[] | undefined =>
        readFileSync("/proc/net/tcp", "latin1")
          .split("\n")
          .map((row) => row.trim().split(/\s+/))
          .find(([, near, far]) => near?.endsWith(hex(local)) && far?.endsWith(hex(remote)));
      // The kind of the timer that runs: 02 is that of keep-alive probes. 01 is there until the last bytes are acknowledged.
      await expect.poll(() => rowOf()?.[5]).toMatch(/^02:/);
      const [, ticks = ""] = rowOf()?.[5]?.split(":") ?? [];
      expect(Number.parseInt(ticks, 16)).toBeLessThanOrEqual(100 * seconds);
    }

    test("of an idle HTTP client, after 5 s", async () => {
      await using http = await serveHttp(waiting().server);
      const socket = connectSocket(http.port, "127.0.0.1");
      await once(socket, "connect");
      socket.write("GET /elsewhere HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await once(socket, "readable");
      await expectProbe(http.port, socket.localPort ?? 0, 5);
      socket.destroy();
    });

    test("of an idle TCP client, after 15 s", async () => {
      await using tcp = await serveTcp(waiting().server, { port: 0 });
      const { port } = tcp.address as { readonly port: number };
      const socket = connectSocket(port, "127.0.0.1");
      await once(socket, "connect");
      socket.write(`${ping}\n`);
      await once(socket, "readable");
      await expectProbe(port, socket.localPort ?? 0, 15);
      socket.destroy();
    });

    test("of an idle TCP server, after 15 s", async () => {
      const listener = createRelay((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
      await once(listener, "listening");
      const { port } = listener.address() as AddressInfo;
      const channel = tcpChannel({ port });
      const accepted = once(listener, "connection");
      const echoed = new Promise<string>((resolve) => {
        channel.open({ frame: resolve, refuse: () => undefined, end: () => undefined });
      });
      const [socket] = (await accepted) as [Socket];
      void channel.send(ping);
      expect(await echoed).toBe(ping);
      await expectProbe(socket.remotePort ?? 0, port, 15);
      await channel.close();
      listener.close();
      await once(listener, "close");
    });
  },
);
