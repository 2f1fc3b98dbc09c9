import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { type Channel, messagePortChannel, openConnection } from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import { afterEach, describe, expect, test } from "vitest";
import type { MessagePortLike } from "../../packages/mcp/src/transport/message-port.js";
import { turn } from "../jsonrpc/transports.js";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A channel, and the bare port at its other end with all that came over it. */
function bare(options: Parameters<typeof messagePortChannel>[1] = {}): {
  channel: Channel;
  port: MessagePort;
  came: unknown[];
} {
  const { port1, port2 }: { port1: MessagePort; port2: MessagePort } = new MessageChannel();
  const came: unknown[] = [];
  port2.on("message", (message) => came.push(message));
  const channel = messagePortChannel(port1, { clock: createFakeClock(), ...options });
  open.push(port2, channel);
  return { channel, port: port2, came };
}

function record(channel: Channel): string[] {
  const seen: string[] = [];
  channel.open({
    frame: (text) => void seen.push(text),
    refuse: ({ reason }) => void seen.push(`refused: ${reason}`),
    end: (error) => void seen.push(error === undefined ? "end" : `end: ${error.message}`),
  });
  return seen;
}

async function settled(): Promise<void> {
  for (let left = 5; left > 0; left -= 1) await turn();
}

describe("on a port", () => {
  test("a frame is a string, whatever it says", async () => {
    const { channel, port, came } = bare();
    const seen = record(channel);
    for (const frame of ["null", "-5", "", "5"]) {
      void channel.send(frame);
      port.postMessage(frame);
    }
    await settled();
    expect(seen).toEqual(["null", "-5", "", "5"]);
    expect(came).toEqual(["null", "-5", "", "5"]);
  });

  test("a short conversation is nothing but its frames and its end", async () => {
    const { channel, came } = bare();
    void channel.send("1");
    void channel.send("2");
    await channel.close();
    await settled();
    expect(came).toEqual(["1", "2", null]);
  });

  test("who has sent half of what may be in flight asks how far it is read, once, and stops at all of it", async () => {
    const { channel, port, came } = bare({ highWaterBytes: 10 });
    expect(channel.send("12345")).toBeUndefined();
    expect(channel.send("6")).toBeUndefined();
    const room = channel.send("78901");
    void channel.send("waits");
    await settled();
    expect(came).toEqual(["12345", "6", 6, "78901"]);
    port.postMessage(-6);
    await settled();
    expect(came).toEqual(["12345", "6", 6, "78901", "waits", 16]);
    port.postMessage(-16);
    await room;
  });

  test("who is asked how far it has read says so when it has", async () => {
    const { channel, port, came } = bare();
    const seen = record(channel);
    channel.pause?.();
    port.postMessage("12345");
    port.postMessage(5);
    await settled();
    expect(came).toEqual([]);
    channel.resume?.();
    await settled();
    expect(seen).toEqual(["12345"]);
    expect(came).toEqual([-5]);
  });

  test.each([-7, -3, Number.NEGATIVE_INFINITY, Number.NaN])(
    "a response without a request makes no room: %s",
    async (answer) => {
      const { channel, port, came } = bare({ highWaterBytes: 10 });
      record(channel);
      for (const frame of ["123456", "789012", "345"]) void channel.send(frame);
      port.postMessage(answer);
      await settled();
      expect(came.filter((each) => typeof each === "string")).toEqual(["123456", "789012"]);
      expect(came).not.toContain(9);
    },
  );

  test("an answer is good for once", async () => {
    const { channel, port, came } = bare({ highWaterBytes: 10 });
    for (const frame of ["123456", "789012", "345678", "901234"]) void channel.send(frame);
    port.postMessage(-6);
    port.postMessage(-6);
    await settled();
    expect(came).toEqual(["123456", 6, "789012", 12, "345678"]);
  });

  test.each([
    ["frames", "x".repeat(99)],
    ["questions", 1],
    ["what is no frame", { x: 1 }],
  ])("a peer that does not wait is given up: %s", async (_what, message) => {
    const { channel, port, came } = bare({ maxQueuedBytes: 1_000 });
    const seen = record(channel);
    channel.pause?.();
    for (let count = 0; count < 2_000; count += 1) port.postMessage(message);
    await expect
      .poll(() => seen)
      .toEqual([expect.stringMatching(/^end: the peer does not wait: 1\d\d\d characters of it are unread$/)]);
    await channel.close();
    await expect.poll(() => came.at(-1)).toBe(null);
  });

  test("what cannot be read is answered, and the conversation goes on", async () => {
    const { channel, port, came } = bare();
    open.push(openConnection(channel, { handle: () => "pong" }));
    port.postMessage({ jsonrpc: "2.0", id: 1, method: "ping" });
    port.postMessage('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    await settled();
    expect(came).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"reason":"received a message that is not a string; it was skipped"}}}',
      '{"jsonrpc":"2.0","id":2,"result":"pong"}',
    ]);
  });

  test("nothing is left on a port that is not the channel's to close", async () => {
    const listeners = new Map<string, number>();
    const scope: MessagePortLike & { closed: number } = Object.assign(new EventTarget(), {
      closed: 0,
      postMessage: () => undefined,
      close() {
        scope.closed += 1;
      },
      addEventListener: (name: string) => void listeners.set(name, (listeners.get(name) ?? 0) + 1),
      removeEventListener: (name: string) => void listeners.set(name, (listeners.get(name) ?? 0) - 1),
    });
    const channel = messagePortChannel(scope);
    record(channel);
    expect(listeners.get("message")).toBe(1);
    await channel.close();
    expect(Object.fromEntries(listeners)).toEqual({ message: 0, messageerror: 0, close: 0 });
    expect(scope.closed).toBe(0);
  });
});

describe("to a worker", () => {
  const program = new URL("../fixtures/port-service.js", import.meta.url);

  function work(): { worker: Worker; channel: Channel } {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(program, { workerData: port2, transferList: [port2] });
    const channel = messagePortChannel(port1);
    open.push(channel, { close: () => worker.terminate() });
    return { worker, channel };
  }

  test("calls are answered, and it ends with its last port", async () => {
    const { worker, channel } = work();
    const connection = openConnection(channel);
    expect(await connection.call("sum", [1, 2, 4])).toBe(7);
    const exited = once(worker, "exit");
    await connection.close();
    expect(await exited).toEqual([0]);
  });

  test.each(["by itself", "by its owner"])("that ends %s the conversation ends", async (how) => {
    const { worker, channel } = work();
    const connection = openConnection(channel);
    expect(await connection.call("sum", [])).toBe(0);
    const call = connection.call(how === "by itself" ? "exit" : "block");
    const failed = expect(call).rejects.toThrow("the peer closed the connection");
    if (how === "by its owner") await worker.terminate();
    await failed;
    expect((await connection.closed).reason).toBe("ended");
  });

  test("that does not read, nothing is sent beyond the high water mark", async () => {
    const { channel } = work();
    const connection = openConnection(channel);
    expect(await connection.call("sum", [])).toBe(0);
    connection.call("block").catch(() => undefined);
    let sent = 0;
    for (; sent < 256; sent += 1) {
      connection.notify("noted", { text: "x".repeat(1024 * 1024) });
      const isStuck = await Promise.race([connection.drained().then(() => false), settled().then(() => true)]);
      if (isStuck) break;
    }
    expect(sent).toBeLessThan(4);
    await connection.close();
  });
});
