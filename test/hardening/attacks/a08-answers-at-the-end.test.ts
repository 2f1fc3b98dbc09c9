import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { connect } from "@parlance/mcp/client";
import { type Channel, createService, memoryChannels } from "@parlance/mcp/jsonrpc";
import { nodeRpcHandler, serveHttp, serveTcp, streamChannel, tcpChannel } from "@parlance/mcp/node";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, onTestFinished, test } from "vitest";
import { statelessCall, written } from "../../http/server/asked.js";
import { inForm } from "../../testing/forms.js";
import { stateless } from "../../testing/frames.js";

describe("A8: a body that is refused before its end", () => {
  const mebibyte = Buffer.alloc(1024 * 1024, "x");

  /** Writes a body as fast as the server takes it, and only then reads what the server has answered, as many clients do. */
  async function post(port: number, path: string, mebibytes: number): Promise<string> {
    const socket = connectSocket({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setMaxListeners(0); // Each wait for room adds listeners, and those that lose the race stay.
    const errors: Error[] = [];
    socket.on("error", (error) => errors.push(error));
    const length = `content-length: ${mebibytes * mebibyte.length}`;
    const type = "content-type: application/json\r\naccept: application/json, text/event-stream";
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\n${length}\r\n\r\n`);
    for (let sent = 0; sent < mebibytes && !socket.destroyed; sent += 1) {
      if (socket.write(mebibyte)) continue;
      await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
    }
    const said = await text(socket).catch(() => "");
    socket.end();
    return errors.length === 0 ? said : `${errors[0]?.message}: ${said}`;
  }

  const status = (answer: string): string => answer.split("\r\n")[0] ?? "";

  test("sees its 413, always, and then the end of the connection", async () => {
    await using http = await serveHttp(createServer({ name: "small", version: "1.0.0" }));
    for (let round = 0; round < inForm({ long: 16, short: 4 }); round += 1) {
      const answers = await Promise.all([5, 8, 16].map((mebibytes) => post(http.port, "/mcp", mebibytes)));
      expect(answers.map(status)).toEqual(answers.map(() => "HTTP/1.1 413 Payload Too Large"));
      for (const answer of answers) expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    }
  });

  test("sees any other refusal too, such as a 404", async () => {
    await using http = await serveHttp(createServer({ name: "small", version: "1.0.0" }));
    for (let round = 0; round < inForm({ long: 20, short: 5 }); round += 1) {
      expect(status(await post(http.port, "/elsewhere", 8))).toBe("HTTP/1.1 404 Not Found");
    }
  });

  test("is read on 32 connections of an address at the same time; further ones are closed at once", async () => {
    await using http = await serveHttp(createServer({ name: "small", version: "1.0.0" }));
    const type = "content-type: application/json\r\naccept: application/json, text/event-stream";
    const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: ${5 * mebibyte.length}\r\n\r\n`;
    const sockets = Array.from({ length: 48 }, () =>
      connectSocket({ port: http.port, host: "127.0.0.1", allowHalfOpen: true }),
    );
    let reset = 0;
    const refused = sockets.map(async (socket) => {
      socket
        .on("error", () => undefined)
        .once("close", () => {
          reset += 1;
        });
      socket.write(head);
      let said = "";
      socket.on("data", (chunk: Buffer) => {
        said += chunk.toString("latin1");
      });
      await once(socket, "end");
      expect(status(said)).toBe("HTTP/1.1 413 Payload Too Large");
    });
    await Promise.all(refused);
    // Each writes on. Where the server still reads nothing comes of it; else the connection is reset.
    while (reset < 16) {
      for (const socket of sockets) socket.write("x");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(32);
    for (const socket of sockets) socket.destroy();
  });

  test("is read up to 64 MiB, and no further", async () => {
    await using http = await serveHttp(createServer({ name: "small", version: "1.0.0" }));
    const socket = connectSocket({ port: http.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setMaxListeners(0); // As above.
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(`POST /elsewhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${1e12}\r\n\r\n`);
    let sent = 0;
    for (; !socket.destroyed; sent += 1) {
      if (!socket.write(mebibyte))
        await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeGreaterThan(32);
    expect(sent).toBeLessThan(128);
  });
});

/** Resolves when the test is over: bytes of a call are held until its handler ends. */
function endOfTest(): Promise<string> {
  return new Promise((resolve) => onTestFinished(() => resolve("too late")));
}

/** A server whose tool outlasts the test; `started` resolves when it runs. */
function endless(): { readonly server: Server; readonly started: Promise<void> } {
  const server = createServer({ name: "endless", version: "1.0.0" });
  let start: () => void;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const ended = endOfTest();
  server.tool("forever", {}, () => {
    start();
    return ended;
  });
  return { server, started };
}

const unfinished = {
  code: -32_603,
  data: { reason: "the receiver is shutting down, and the call was not finished: it may have had effects" },
};

describe("A8: a call that outlasts the grace of a drain gets an error", () => {
  test("on stdio, and at the end of its client's input", async () => {
    for (const end of ["drain", "input"] as const) {
      const clock = createFakeClock();
      const [input, output] = [new PassThrough(), new PassThrough()];
      const { server, started } = endless();
      const connection = serveChannel(server, streamChannel(input, output, { clock }), { clock });
      input.write(`${stateless(1, "tools/call", { name: "forever", arguments: {} })}\n`);
      await started;
      if (end === "drain") void connection.drain(5_000);
      else input.end();
      await turns();
      clock.advance(5_000);
      await connection.closed;
      expect(JSON.parse(await text(output))).toMatchObject({ id: 1, error: unfinished });
    }
  });

  test("on TCP and WebSocket", async () => {
    const tcp = endless();
    await using listening = await serveTcp(tcp.server, { port: 0 });
    await using overTcp = await connect(() => tcpChannel(listening.address));
    const call = overTcp.tools.call("forever");
    await tcp.started;
    void listening.drain(0);
    await expect(call).rejects.toMatchObject(unfinished);

    const socket = endless();
    await using listener = await serveWebSocket(socket.server);
    await using overWebSocket = await connect(() => nodeWebSocketChannel(listener.url));
    const other = overWebSocket.tools.call("forever");
    await socket.started;
    void listener.drain(0);
    await expect(other).rejects.toMatchObject(unfinished);
  });

  test.each(["2025-11-25", "2026-07-28"])("on HTTP in %s", async (revision) => {
    const { server, started } = endless();
    await using http = await serveHttp(server);
    await using client = await connect(http.url, { revision });
    const call = client.tools.call("forever");
    await started;
    void http.drain(0);
    await expect(call).rejects.toMatchObject(unfinished);
  });

  test("on an event stream that has begun", async () => {
    const clock = createFakeClock();
    const { server, started } = endless();
    await using http = await serveHttp(server, { clock });
    const socket = connectSocket(http.port, "127.0.0.1");
    socket.write(written(statelessCall("forever")));
    await started;
    await turns();
    clock.advance(15_000); // The sign of life makes a stream of the answer.
    await once(socket, "readable");
    void http.drain(0);
    clock.advance(0);
    const answer = await text(socket);
    expect(answer).toContain(": keep-alive");
    expect(answer).toContain(
      `"error":{"code":-32603,"message":"Internal error: the receiver is shutting down","data":{"reason":"the receiver is shutting`,
    );
  });

  test("on HTTP without MCP", async () => {
    const { createServer: createHttpServer } = await import("node:http");
    const service = createService();
    const ended = endOfTest();
    const started = new Promise<void>((resolve) => {
      service.method("forever", () => {
        resolve();
        return ended;
      });
    });
    const handler = nodeRpcHandler(service.call);
    const http = createHttpServer(handler).listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as { port: number };
    const answer = fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":7,"method":"forever"}',
    });
    await started;
    void handler.drain(0);
    expect(await (await answer).json()).toMatchObject({ id: 7, error: unfinished });
    http.close();
  });
});

describe("A8: a server that ends as soon as it is called is opened again with pauses that grow", () => {
  /** Dials a server whose conversation ends at the first call of its tool; \`dials\` are the times at which it was opened. */
  function crashing(clock: FakeClock): { readonly dials: number[]; readonly dial: () => Channel } {
    const dials: number[] = [];
    const ended = endOfTest();
    return {
      dials,
      dial() {
        dials.push(clock.now());
        const [near, far] = memoryChannels();
        const server = createServer({ name: "crashing", version: "1.0.0" });
        server.tool("crash", {}, () => {
          void far.close();
          return ended;
        });
        server.tool("work", {}, () => "done");
        const connection = serveChannel(server, far);
        onTestFinished(() => connection.close());
        return near;
      },
    };
  }

  test("at once, then after 1, 2, 4 … 30 s, and at once again after a longer conversation", async () => {
    const clock = createFakeClock();
    const { dials, dial } = crashing(clock);
    await using client = await connect(dial, { reopen: true, clock, random: () => 0 });
    /** Calls a tool, and lets the time pass that it takes. */
    const call = async (tool: string): Promise<void> => {
      let isOver = false;
      const end = (): void => {
        isOver = true;
      };
      void client.tools.call(tool).then(end, end);
      for (await turns(); !isOver; await turns()) clock.advance(500);
    };
    while (clock.now() < 5_000) await call("crash");
    expect(dials.length).toBe(5); // The first, one at once, then behind 1, 2 and 4 s.
    while (clock.now() < 200_000) await call("crash");
    const pauses = dials.slice(1).map((at, index) => at - (dials[index] ?? 0));
    expect(Math.max(...pauses)).toBe(30_000);
    await call("work");
    clock.advance(10_000);
    await call("crash");
    const last = dials.length;
    await client.tools.call("work"); // At once: nothing moves the clock.
    expect(dials.length).toBe(last + 1);
  });
});

/** Lets everything happen that can happen without time passing. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
