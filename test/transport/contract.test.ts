import { type Channel, openConnection } from "@parlance/mcp/jsonrpc";
import { afterEach, describe, expect, test } from "vitest";
import { turn } from "../jsonrpc/transports.js";
import { type LinkOptions, type Transport, transports } from "./links.js";

const mebibyte = 1024 * 1024;

/** The frames that a channel has delivered, in order. */
class Record {
  readonly seen: string[] = [];

  constructor(channel: Channel) {
    channel.open({
      frame: (text) => void this.seen.push(text),
      refuse: ({ reason }) => void this.seen.push(`refused: ${reason}`),
      end: (error) => void this.seen.push(error === undefined ? "end" : `end: ${error.message}`),
    });
  }

  /** Resolves when that much has come; and there is no more of it. */
  async has(...expected: readonly string[]): Promise<void> {
    await until(() => this.seen.length >= expected.length);
    await turns(5);
    expect(this.seen).toEqual(expected);
  }
}

/** Resolves when that is so; at the latest when a test has waited too long, which then sees that it is not. */
async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 1, timeout: 60_000 }).toBe(true);
}

/** So many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn();
}

/** True when a promise resolves within a number of turns that is more than enough where somebody reads. */
function settles(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), turns(200).then(() => false)]);
}

/** Sends until there is no room; gives how many frames that took. */
async function fill(
  { send }: { send: (frame: string) => void | Promise<void> },
  frame: string,
  most: number,
): Promise<number> {
  for (let count = 1; count <= most; count += 1) {
    const room = send(frame);
    if (room !== undefined && !(await settles(room))) return count;
  }
  return most;
}

describe.each(Object.entries(transports))("a channel over %s", (name, transport) => {
  /** Whether a peer can end its side and still read. */
  const halfCloses = name !== "a message port" && name !== "a WebSocket";
  const open: Channel[] = [];
  const clocks: { readonly armed: number }[] = [];

  afterEach(async () => {
    await Promise.all(open.splice(0).map((channel) => channel.close()));
    for (const clock of clocks.splice(0)) expect(clock.armed, "timers that are still armed").toBe(0);
  });

  async function link(options?: LinkOptions): ReturnType<Transport["link"]> {
    const made = await transport.link(options);
    open.push(made.far, made.near);
    clocks.push(made.clock);
    return made;
  }

  async function raw(options?: LinkOptions): ReturnType<Transport["raw"]> {
    const made = await transport.raw(options);
    open.push(made.near);
    clocks.push(made.clock);
    return made;
  }

  test("carries frames both ways, whole and in order", async () => {
    const { near, far } = await link();
    const [here, there] = [new Record(near), new Record(far)];
    const frames = ['"é漢😀"', `"${"é😀".repeat(100_000)}"`, "1", `"${"x".repeat(200_000)}"`, "2"];
    for (const frame of frames) {
      void near.send(frame);
      void far.send(frame);
    }
    await there.has(...frames);
    await here.has(...frames);
  });

  test("delivers nothing before it is opened, and loses nothing", async () => {
    const { near, far } = await link();
    void far.send("1");
    void far.send("2");
    await turns(5);
    await new Record(near).has("1", "2");
  });

  test("that is paused delivers nothing, until it is resumed", async () => {
    const { near, far } = await link();
    const here = new Record(near);
    near.pause?.();
    await turns(5);
    void far.send("1");
    void far.send("2");
    await turns(20);
    expect(here.seen).toEqual([]);
    near.resume?.();
    await here.has("1", "2");
  });

  test("can be paused by what it delivers", async () => {
    const { near, far } = await link();
    const seen: string[] = [];
    near.open({
      frame(text) {
        seen.push(text);
        near.pause?.();
      },
      refuse: () => undefined,
      end: () => undefined,
    });
    const frames = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100_000));
    for (const frame of frames) void far.send(frame);
    await turns(50);
    expect(seen.length).toBeLessThan(20);
    while (seen.length < 20) {
      near.resume?.();
      await turn();
    }
    expect(seen).toEqual(frames);
  });

  test("asks to wait while the peer does not read, and no longer", async () => {
    const { near, far } = await link();
    const there = new Record(far);
    far.pause?.();
    const frame = "x".repeat(mebibyte / 4);
    let room: void | Promise<void>;
    let count = 0;
    do {
      room = near.send(frame);
      count += 1;
    } while (room === undefined || (await settles(room)));
    far.resume?.();
    await room;
    expect(near.send("last")).toBeUndefined();
    await until(() => there.seen.at(-1) === "last");
    expect(there.seen.length).toBe(count + 1);
    expect(there.seen.slice(0, -1).every((each) => each === frame)).toBe(true);
  });

  test("pauses a producer: a peer that does not read costs no more than the high water mark", async () => {
    const { near, far } = await link();
    new Record(far);
    new Record(near);
    far.pause?.();
    const frame = "x".repeat(mebibyte / 4);
    // The buffers of the system for a socket come on top, in either direction.
    const count = await fill({ send: (text) => near.send(text) }, frame, 1_024);
    expect(count / 4).toBeLessThan(16);
    expect(count / 4).toBeGreaterThanOrEqual(1);
  });

  test("gives up a peer that does not read, where the producer does not wait", async () => {
    const { near, far, clock } = await link({ maxQueuedBytes: 2 * mebibyte });
    new Record(far);
    const here = new Record(near);
    far.pause?.();
    const frame = "x".repeat(mebibyte / 4);
    for (let count = 0; count < 100 && here.seen.length === 0; count += 1) {
      void near.send(frame);
      await turn();
      clock.advance(100);
    }
    expect(here.seen).toHaveLength(1);
    const [, waiting] =
      /^end: the peer does not read: (\d+) (?:bytes|characters) wait to be read$/.exec(here.seen[0] ?? "") ?? [];
    expect(Number(waiting)).toBeLessThanOrEqual(2.5 * mebibyte + 100);
    expect(near.send("nobody reads it")).toBeUndefined();
  });

  test("gives up a peer that takes nothing for the stall timeout", async () => {
    const { near, far, clock } = await link({ stallTimeout: 5_000 });
    new Record(far);
    const here = new Record(near);
    far.pause?.();
    await fill({ send: (text) => near.send(text) }, "x".repeat(mebibyte), 100);
    clock.advance(4_999);
    await turns(5);
    expect(here.seen).toEqual([]);
    clock.advance(1 + 100);
    await here.has("end: the peer does not read: nothing was read for 5000 ms");
  });

  test("does not give up a peer that reads slowly", async () => {
    const { near, far, clock } = await link({ stallTimeout: 20_000 });
    const here = new Record(near);
    let read = 0;
    far.open({
      frame() {
        read += 1;
        far.pause?.();
      },
      refuse: () => undefined,
      end: () => undefined,
    });
    const frame = "x".repeat(mebibyte / 4);
    await fill({ send: (text) => near.send(text) }, frame, 100);
    // A socket tells of room in steps of some megabytes.
    for (let step = 1; step <= 60; step += 1) {
      far.resume?.();
      await until(() => read > step);
      clock.advance(1_000);
      void near.send(frame);
    }
    expect(here.seen).toEqual([]);
    far.resume?.();
  });

  test("that closes first writes the sent frames, and then the peer gets the end", async () => {
    const { near, far } = await link();
    const [here, there] = [new Record(near), new Record(far)];
    const frames = [`"${"x".repeat(3 * mebibyte)}"`, "last"];
    for (const frame of frames) void near.send(frame);
    const closed = near.close();
    void near.send("too late");
    await closed;
    await there.has(...frames, "end");
    await far.close();
    expect(here.seen).toEqual([]);
  });

  test("that closes delivers nothing more, and may be closed again", async () => {
    const { near, far } = await link();
    const here = new Record(near);
    void far.send("1");
    await here.has("1");
    void far.send("2");
    await near.close();
    await near.close();
    void far.send("3");
    await far.close();
    await here.has("1");
  });

  test("that closes in the middle of a delivery keeps the rest back", async () => {
    const { near, far } = await link();
    const seen: string[] = [];
    near.open({
      frame(text) {
        seen.push(text);
        void near.close();
      },
      refuse: () => void seen.push("refused"),
      end: () => void seen.push("end"),
    });
    for (const frame of ["1", "2", "3"]) void far.send(frame);
    await far.close();
    await turns(20);
    expect(seen).toEqual(["1"]);
  });

  test("that was never opened can be closed", async () => {
    const { near, far } = await link();
    const there = new Record(far);
    void near.send("1");
    await near.close();
    await there.has("1", "end");
  });

  test("that closes gives a peer that does not read two seconds", async () => {
    const { near, far, clock } = await link();
    new Record(far);
    const here = new Record(near);
    far.pause?.();
    await fill({ send: (text) => near.send(text) }, "x".repeat(mebibyte), 100);
    const closed = near.close();
    await turns(5);
    clock.advance(2_000);
    await closed;
    expect(here.seen).toEqual([]);
    far.resume?.();
  });

  test("does not wait for a peer that closes as well", async () => {
    const { near, far } = await link();
    for (const channel of [near, far]) {
      new Record(channel);
      channel.pause?.();
    }
    for (const channel of [near, far]) {
      await fill({ send: (text) => channel.send(text) }, "x".repeat(mebibyte), 100);
      for (let count = 0; count < 5; count += 1) void channel.send("x".repeat(mebibyte));
    }
    await Promise.all([near.close(), far.close()]);
  });

  test("reports the end of its peer once, after the last frame", async () => {
    const { near, end, frame } = await raw();
    const here = new Record(near);
    frame("1");
    frame("2");
    end();
    await here.has("1", "2", "end");
    await near.close();
    expect(here.seen).toEqual(["1", "2", "end"]);
  });

  test("reports an end that came before it was opened", async () => {
    const { near, end, frame } = await raw();
    frame("1");
    end();
    await turns(20);
    await new Record(near).has("1", "end");
  });

  test("aborts a running call of a peer that can receive nothing any more, or may have closed one direction alone", async () => {
    const { near, clock, end, frame } = await raw();
    let signal: AbortSignal | undefined;
    const connection = openConnection(near, {
      clock,
      handle(_method, _params, exchange) {
        signal = exchange.signal;
        return new Promise((resolve) => exchange.signal.addEventListener("abort", resolve));
      },
    });
    frame('{"jsonrpc":"2.0","id":1,"method":"wait"}');
    await until(() => signal !== undefined);
    end();
    await until(() => connection.phase !== "open");
    await turns(20);
    expect(signal?.aborted).toBe(!halfCloses);
    clock.advance(5_000);
    expect(await connection.closed).toEqual({ reason: "ended" });
    expect(signal?.reason).toMatchObject({ reason: "closed" });
  });

  test("settles every waiting call when the peer is gone", async () => {
    const { near, far } = await link();
    new Record(near);
    new Record(far);
    far.pause?.();
    let room: void | Promise<void>;
    do room = near.send("x".repeat(mebibyte));
    while (room === undefined || (await settles(room)));
    await far.close();
    await room;
  });

  test("refuses what it cannot read, and lives", async () => {
    const { near, noise, frame } = await raw();
    const here = new Record(near);
    noise();
    frame("1");
    await here.has(`refused: ${transport.refusal}`, "1");
  });

  test("has frames that are too long refused, by name, and lives", async () => {
    const { near, far } = await link({ frameBytes: 1_000 });
    const connection = openConnection(near, { limits: { frameBytes: 1_000 }, handle: () => "pong" });
    const there = new Record(far);
    void far.send(`{"jsonrpc":"2.0","id":"long","method":"${"x".repeat(1_000)}"}`);
    void far.send('{"jsonrpc":"2.0","id":"short","method":"ping"}');
    await until(() => there.seen.length === 2);
    const [refused, pong] = there.seen.map((frame) => JSON.parse(frame));
    expect(refused).toMatchObject({ id: "long", error: { code: -32_600 } });
    expect(pong).toMatchObject({ id: "short", result: "pong" });
    await connection.close();
  });

  test("reports an incomplete frame of its peer, or has no incomplete frames", async () => {
    const { near, frame, half, end } = await raw();
    const here = new Record(near);
    frame("1");
    half?.();
    end();
    await here.has("1", ...(half === undefined ? [] : ["refused: truncated"]), "end");
  });

  test("that breaks says so, or cannot", async () => {
    const { near, frame, ruin, end } = await raw();
    const here = new Record(near);
    frame("1");
    await here.has("1");
    (ruin ?? end)();
    await until(() => here.seen.length === 2);
    expect(here.seen[1]).toMatch(
      ruin === undefined ? /^end$/ : /^end: (read ECONNRESET|the cable was cut|the WebSocket broke)$/,
    );
    expect(near.send("nobody listens")).toBeUndefined();
  });
});
