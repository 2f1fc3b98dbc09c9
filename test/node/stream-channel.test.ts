import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { PassThrough, Writable } from "node:stream";
import { type Channel, lines } from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** An output that takes one write at a time, when the test says so. */
class SlowOutput extends Writable {
  readonly writes: string[] = [];
  #took: (() => void) | undefined;

  override _write(chunk: Uint8Array, _encoding: string, took: () => void): void {
    this.writes.push(new TextDecoder().decode(chunk));
    this.#took = took;
  }

  async take(): Promise<void> {
    await tick();
    this.#took?.();
    await tick();
  }
}

/** Opens a channel and keeps what it delivers, in order. */
function record(channel: Channel): string[] {
  const seen: string[] = [];
  channel.open({
    frame: (text) => void seen.push(text),
    refuse: ({ reason }) => void seen.push(`refused: ${reason}`),
    end: (error) => void seen.push(error === undefined ? "end" : `end: ${error.message}`),
  });
  return seen;
}

interface Slow {
  readonly clock: FakeClock;
  readonly input: PassThrough;
  readonly output: SlowOutput;
  readonly channel: Channel;
  readonly seen: readonly string[];
}

/** A channel that waits to be read, on a clock that stands still. */
function slow(): Slow {
  const clock = createFakeClock();
  const input = new PassThrough();
  const output = new SlowOutput();
  const options = { clock, highWaterBytes: 100, maxQueuedBytes: 1_000, stallTimeout: 30_000 };
  const channel = streamChannel(input, output, options);
  return { clock, input, output, channel, seen: record(channel) };
}

describe("what is sent", () => {
  test("in one tick goes out in one write, in order", async () => {
    const { channel, output } = slow();
    void channel.send("1");
    void channel.send("2");
    await tick();
    expect(output.writes).toEqual(["1\n2\n"]);
  });

  test("above the high water mark asks the owner to wait until there is room", async () => {
    const { channel, output } = slow();
    expect(channel.send("x".repeat(99))).toBeUndefined();
    const room = channel.send("y");
    await output.take();
    await room;
    expect(channel.send("z")).toBeUndefined();
  });

  test("beyond the bound gives up a peer that does not read", async () => {
    const { channel, clock, seen } = slow();
    for (let count = 0; count < 20; count += 1) await Promise.race([channel.send("x".repeat(99)), tick()]);
    clock.advance(100);
    await tick();
    expect(seen).toEqual(["end: the peer does not read: 1200 bytes wait to be read"]);
  });

  test("and not read for the stall timeout gives up the peer", async () => {
    const { channel, clock, output, seen } = slow();
    void channel.send("1");
    await tick();
    clock.advance(29_999);
    await output.take();
    void channel.send("2");
    await tick();
    clock.advance(29_999);
    expect(seen).toEqual([]);
    clock.advance(1 + 100);
    await tick();
    expect(seen).toEqual(["end: the peer does not read: nothing was read for 30000 ms"]);
    expect(clock.armed).toBe(0);
  });

  test("as one long frame has all the time it takes, while some of it is read", async () => {
    const { channel, clock, output, seen } = slow();
    const frame = `"${"é😀".repeat(100_000)}"`;
    const room = channel.send(frame);
    await tick();
    for (let writes = 0; writes < output.writes.length; writes += 1) {
      clock.advance(29_999);
      await output.take();
    }
    await room;
    expect(output.writes.length).toBeGreaterThan(9);
    expect(seen).toEqual([]);
  });

  test("is the same when it comes out of many writes", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const channel = streamChannel(input, output);
    const back = record(streamChannel(output, input));
    const frames = ['"é😀"', `"${"é😀".repeat(100_000)}"`, "1", `"${"x".repeat(200_000)}"`, "2"];
    for (const frame of frames) void channel.send(frame);
    await channel.close();
    await tick();
    expect(back).toEqual([...frames, "end"]);
  });
});

describe("close", () => {
  test("writes what was sent before it, then ends the output", async () => {
    const { channel, output } = slow();
    void channel.send("1");
    const closed = channel.close();
    void channel.send("2");
    await output.take();
    await closed;
    expect(output.writes).toEqual(["1\n"]);
    expect(output.writableFinished).toBe(true);
  });

  test("gives a peer that does not read two seconds", async () => {
    const { channel, clock, output, seen } = slow();
    void channel.send("1");
    await tick();
    const closed = channel.close();
    clock.advance(2_000);
    await closed;
    expect(output.destroyed).toBe(true);
    expect(seen).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  test("leaves an output open that somebody else owns, and nothing on it", async () => {
    const output = new PassThrough();
    const listeners = output.eventNames().map((name) => output.listenerCount(name));
    const channel = streamChannel(new PassThrough(), output, { keepsOutputOpen: true });
    void channel.send("1");
    await channel.close();
    expect(String(output.read())).toBe("1\n");
    expect(output.writable).toBe(true);
    expect(output.eventNames().map((name) => output.listenerCount(name))).toEqual(listeners);
  });

  test("of a socket that carries both directions loses nothing", async () => {
    const [near, far] = await sockets();
    const channel = streamChannel(near, near);
    record(channel);
    const back = record(streamChannel(far, far, { frameBytes: 16_000_000 }));
    const frame = `"${"x".repeat(8_000_000)}"`;
    void channel.send(frame);
    void channel.send("last");
    await channel.close();
    if (!far.readableEnded) await once(far, "end");
    await tick();
    expect(back).toEqual([frame, "last", "end"]);
    far.destroy();
  });

  test("in the middle of a chunk keeps the rest of it back", async () => {
    const input = new PassThrough();
    const channel = streamChannel(input, new PassThrough());
    const seen: string[] = [];
    channel.open({
      frame(text) {
        seen.push(text);
        void channel.close();
      },
      refuse: () => void seen.push("refused"),
      end: () => void seen.push("end"),
    });
    input.end("1\n2\n3");
    await tick();
    expect(seen).toEqual(["1"]);
  });
});

describe("the end of a stream", () => {
  test("comes after the last frame, and an incomplete frame is refused", async () => {
    const { input, seen } = slow();
    input.end("1\n2");
    await tick();
    expect(seen).toEqual(["1", "refused: truncated", "end"]);
  });

  test("is reported with the error that broke it", async () => {
    const { input, seen } = slow();
    input.destroy(new Error("read ECONNRESET"));
    await tick();
    expect(seen).toEqual(["end: read ECONNRESET"]);
  });

  test("is not missed when it came before the channel", async () => {
    const gone = new PassThrough();
    gone.destroy();
    await tick();
    const seen = record(streamChannel(gone, new PassThrough()));
    await tick();
    expect(seen).toEqual(["end"]);
  });

  test("by a peer that takes no more input lets its last words come first", async () => {
    const { input, output, seen, channel } = slow();
    output.destroy(new Error("write EPIPE"));
    await tick();
    input.end("last words\n");
    await tick();
    expect(seen).toEqual(["last words", "end: writing to the peer failed: write EPIPE"]);
    expect(channel.send("nobody listens")).toBeUndefined();
  });

  test("by a peer that takes no more input and says nothing either is not waited for", async () => {
    const { output, seen, clock } = slow();
    output.destroy(new Error("write EPIPE"));
    await tick();
    expect(seen).toEqual([]);
    clock.advance(100);
    await tick();
    expect(seen).toEqual(["end: writing to the peer failed: write EPIPE"]);
  });
});

test("an input that gives strings is refused at once", () => {
  const input = new PassThrough().setEncoding("utf8");
  expect(() => streamChannel(input, new PassThrough(), { framing: lines })).toThrow("do not call setEncoding");
});

/** The two ends of a TCP connection. */
async function sockets(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const near = connect(port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  return [near, far];
}
