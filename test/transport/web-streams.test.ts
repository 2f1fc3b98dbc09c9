import { MessageChannel } from "node:worker_threads";
import { type Channel, contentLength, webStreamChannel } from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { turn } from "../jsonrpc/transports.js";

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

const silent = (): ReadableStream<Uint8Array> => new ReadableStream();

/** A sink that takes one chunk at a time, when the test says so. */
function slowSink(strategy?: QueuingStrategy<Uint8Array>): {
  readonly writable: WritableStream<Uint8Array>;
  readonly writes: Uint8Array[];
  take(): Promise<void>;
  break(error: unknown): void;
} {
  const writes: Uint8Array[] = [];
  let took: () => void = () => undefined;
  let failed: (error: unknown) => void = () => undefined;
  let controller: WritableStreamDefaultController | undefined;
  const sink: UnderlyingSink<Uint8Array> = {
    start(given) {
      controller = given;
    },
    write(chunk) {
      writes.push(chunk);
      return new Promise((resolve, reject) => {
        took = resolve;
        failed = reject;
      });
    },
  };
  return {
    writable: new WritableStream(sink, strategy),
    writes,
    async take() {
      took();
      await settled();
    },
    break(error) {
      controller?.error(error);
      failed(error);
    },
  };
}

describe("a channel over web streams", () => {
  test("writes a long frame in pieces that split no character", async () => {
    const sink = slowSink();
    const channel = webStreamChannel({ readable: silent(), writable: sink.writable });
    const frame = `"${"é😀".repeat(50_000)}"`;
    void channel.send(frame);
    await settled();
    for (let count = 0; count < sink.writes.length; count += 1) await sink.take();
    expect(sink.writes.length).toBeGreaterThan(4);
    const strict = new TextDecoder("utf-8", { fatal: true });
    expect(sink.writes.map((piece) => strict.decode(piece)).join("")).toBe(`${frame}\n`);
  });

  test("hands over as many pieces as the stream asks for, and no more", async () => {
    let handed = 0;
    const size = (): number => {
      handed += 1;
      return 1;
    };
    const sink = slowSink({ highWaterMark: 3, size });
    const channel = webStreamChannel({ readable: silent(), writable: sink.writable });
    for (const frame of ["1", "2", "3", "4", "5"]) void channel.send(frame);
    expect(handed).toBe(3);
    await settled();
    await sink.take();
    expect(handed).toBe(4);
  });

  test("writes to a stream that never asks for more", async () => {
    const sink = slowSink({ highWaterMark: 0 });
    const channel = webStreamChannel({ readable: silent(), writable: sink.writable });
    void channel.send("1");
    void channel.send("2");
    await settled();
    await sink.take();
    await sink.take();
    expect(sink.writes.map((piece) => new TextDecoder().decode(piece))).toEqual(["1\n", "2\n"]);
  });

  test("gives up a stream that takes nothing, however little waits", async () => {
    const clock = createFakeClock();
    const sink = slowSink();
    const channel = webStreamChannel({ readable: silent(), writable: sink.writable }, { clock });
    const seen = record(channel);
    void channel.send("1");
    void channel.send("2");
    clock.advance(30_000 + 100);
    expect(seen).toEqual(["end: the peer does not read: nothing was read for 30000 ms"]);
    await channel.close();
  });

  test("has the framing that it is given", async () => {
    const { readable, writable } = new TransformStream<Uint8Array>();
    const channel = webStreamChannel({ readable, writable }, { framing: contentLength });
    const seen = record(channel);
    void channel.send("{\n}");
    await settled();
    expect(seen).toEqual(["{\n}"]);
  });

  test("reads what was on its way when its output broke, before it says so", async () => {
    const clock = createFakeClock();
    const sink = slowSink();
    const { readable, writable } = new TransformStream<Uint8Array>();
    const peer = writable.getWriter();
    const channel = webStreamChannel({ readable, writable: sink.writable }, { clock });
    const seen = record(channel);
    void channel.send("lost");
    await settled();
    sink.break(new Error("EPIPE"));
    await settled();
    void peer.write(new TextEncoder().encode("last words\n"));
    void peer.close();
    await settled();
    expect(seen).toEqual(["last words", "end: writing to the peer failed: EPIPE"]);
    expect(clock.armed).toBe(0);
    await channel.close();
  });

  test("reads what has arrived when its output has broken and the event loop is late", async () => {
    const { port1, port2 } = new MessageChannel();
    const sink = slowSink();
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => port1.on("message", (text) => controller.enqueue(new TextEncoder().encode(text))),
    });
    const channel = webStreamChannel({ readable, writable: sink.writable });
    const seen = record(channel);
    sink.break(new Error("EPIPE"));
    await settled();
    port2.postMessage("last words\nand ha");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await expect.poll(() => seen.at(-1)).toBe("end: writing to the peer failed: EPIPE");
    expect(seen).toEqual(["last words", "refused: truncated", "end: writing to the peer failed: EPIPE"]);
    port1.close();
    await channel.close();
  });

  test("does not wait for last words for ever", async () => {
    const clock = createFakeClock();
    const sink = slowSink();
    const channel = webStreamChannel({ readable: silent(), writable: sink.writable }, { clock });
    const seen = record(channel);
    sink.break("a text");
    await settled();
    expect(seen).toEqual([]);
    clock.advance(100);
    expect(seen).toEqual(["end: writing to the peer failed: a text"]);
    await channel.close();
  });

  test("whose peer has taken everything, and closes both directions, has ended and not failed", async () => {
    const clock = createFakeClock();
    const sink = slowSink();
    const { readable, writable } = new TransformStream<Uint8Array>();
    const channel = webStreamChannel({ readable, writable: sink.writable }, { clock });
    const seen = record(channel);
    sink.break(new Error("closed"));
    await settled();
    void writable.close();
    await settled();
    expect(seen).toEqual(["end"]);
    await channel.close();
  });

  test("ends with what a stream of something else than bytes has brought", async () => {
    const readable = new ReadableStream({ start: (controller) => controller.enqueue("text") });
    const channel = webStreamChannel({ readable, writable: new WritableStream() });
    const seen = record(channel);
    await settled();
    expect(seen).toEqual(["end: A channel needs a stream of bytes, got string"]);
    await channel.close();
  });

  test("cancels its input and closes its output, for good", async () => {
    const ends: string[] = [];
    const readable = new ReadableStream<Uint8Array>({ cancel: () => void ends.push("cancelled") });
    const writable = new WritableStream<Uint8Array>({ close: () => void ends.push("closed") });
    const channel = webStreamChannel({ readable, writable });
    record(channel);
    await channel.close();
    await channel.close();
    expect(ends).toEqual(["closed", "cancelled"]);
  });

  test("takes no stream that somebody else reads", () => {
    const readable = silent();
    readable.getReader();
    expect(() => webStreamChannel({ readable, writable: new WritableStream() })).toThrow(TypeError);
  });
});
