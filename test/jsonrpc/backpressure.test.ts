import { createServer, connect as dial, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import {
  type Call,
  type Connection,
  type ConnectionOptions,
  describeReport,
  LocalError,
  openConnection,
} from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { assertNoLeaks, createFakeClock, type FakeClock, type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { requestText, successText } from "./held.js";
import { turn } from "./transports.js";

const kibibyte = "x".repeat(1_024);
const cancellation = { method: "$/cancelRequest", idMember: "id" };

describe("a peer that does not read", () => {
  test("holds back a handler that waits for drained, and misses nothing once it reads", async () => {
    const { handle, produced } = producer(1_000);
    await using talk = openUnread({ handle });
    talk.write(requestText("1", "produce"));
    await talk.untilStill(produced);
    expect(produced()).toBeLessThan(200);
    const peer = talk.read();
    for (let index = 0; index < 1_000; index += 1) expect(await peer.next()).toContain(`"index":${index},`);
    expect(await peer.next()).toBe(successText("1", '"all"'));
  });

  test("is not asked: calls wait until it reads, in order, and none is lost", async () => {
    await using talk = openUnread({ cancellation });
    talk.connection.notify("large", [kibibyte.repeat(200)]);
    const user = new AbortController();
    const calls = [talk.connection.call("a"), talk.connection.call("b", undefined, { signal: user.signal })];
    const batch = talk.connection.batch();
    const last = batch.request("c");
    const outcomes = batch.send();
    const cancelled = expect(calls[1]).rejects.toThrow(
      new LocalError("cancelled", "b (id 2): cancelled by the caller"),
    );
    await turn();
    user.abort();
    await cancelled;
    const peer = talk.read();
    expect(await peer.next()).toContain('"method":"large"');
    expect(await peer.next()).toBe(requestText("1", "a"));
    expect(await peer.next()).toBe(`[${requestText("3", "c")}]`);
    talk.write(successText("1", "1"));
    talk.write(successText("3", "3"));
    expect(await calls[0]).toBe(1);
    expect((await outcomes).get(last)).toEqual({ ok: true, result: 3 });
  });

  test("cannot answer a call that it has not been asked", async () => {
    const reports: string[] = [];
    await using talk = openUnread({ report: (each) => void reports.push(describeReport(each)) });
    talk.connection.notify("large", [kibibyte.repeat(200)]);
    const call = talk.connection.call("a");
    talk.write(successText("1", '"guessed"'));
    await talk.untilStill(() => reports.length);
    expect(reports).toEqual(["received a result to id 1, which no call waits for"]);
    const peer = talk.read();
    expect(await peer.next()).toContain('"method":"large"');
    expect(await peer.next()).toBe(requestText("1", "a"));
    talk.write(successText("1", '"asked"'));
    expect(await call).toBe("asked");
  });

  test("is not listened to: what it asks meanwhile waits on its own side", async () => {
    let runs = 0;
    await using talk = openUnread({
      handle() {
        runs += 1;
        return kibibyte;
      },
    });
    for (let id = 1; id <= 5_000; id += 1) talk.write(requestText(`${id}`, "get"));
    await talk.untilStill(() => runs);
    expect(runs).toBeLessThan(200);
    const peer = talk.read();
    for (let id = 1; id <= 5_000; id += 1) expect(await peer.next()).toContain(`"id":${id},`);
    expect(runs).toBe(5_000);
  });

  test("is given up after thirty seconds, and every waiting call fails", async () => {
    const { handle } = producer(1_000);
    await using talk = openUnread({ handle });
    talk.write(requestText("1", "produce"));
    await turn();
    const call = talk.connection.call("a").catch((error: unknown) => error);
    talk.clock.advance(30_000);
    await turn();
    talk.clock.advance(1_000);
    const error = { message: "the peer does not read: nothing was read for 30000 ms" };
    expect(await call).toMatchObject({ reason: "closed", message: `a (id 1): ${error.message}` });
    expect(await talk.connection.closed).toMatchObject({ reason: "failed", error });
  });

  test("is given up when more is queued for it than the limit", async () => {
    await using talk = openUnread({}, 1024 * 1024);
    for (let index = 0; index < 2_000; index += 1) talk.connection.notify("tick", [kibibyte]);
    await turn();
    talk.clock.advance(1_000);
    expect(await talk.connection.closed).toMatchObject({
      reason: "failed",
      error: { message: expect.stringMatching(/^the peer does not read: \d+ bytes wait to be read$/) },
    });
    await talk.connection.drained();
  });

  test("does not hold up a close for longer than two seconds", async () => {
    await using talk = openUnread();
    talk.connection.notify("large", [kibibyte.repeat(200)]);
    await turn();
    const closed = talk.connection.close();
    await turn();
    talk.clock.advance(2_000);
    await closed;
    expect(await talk.connection.closed).toEqual({ reason: "closed" });
  });

  test("but reads slowly is not given up", async () => {
    await using talk = openUnread();
    talk.connection.notify("large", [kibibyte.repeat(400)]);
    let read = 0;
    while (read < 400 * 1_024) {
      await turn();
      talk.clock.advance(20_000);
      read += (talk.output.read() as Buffer | null)?.length ?? 0;
    }
    expect(talk.connection.phase).toBe("open");
    await talk.connection.drained();
  });
});

test("what was sent before a close is written, however much it is", async () => {
  await using talk = openUnread();
  const peer = talk.read();
  for (let index = 0; index < 3_000; index += 1) talk.connection.notify("tick", { index, pad: kibibyte });
  await talk.connection.close();
  for (let index = 0; index < 3_000; index += 1) expect(await peer.next()).toContain(`"index":${index},`);
  await expect(peer.next()).rejects.toThrow("the other side has ended");
});

test("two ends that both ask much do not wait for each other for ever", async () => {
  const there = new PassThrough({ highWaterMark: 1_024 });
  const back = new PassThrough({ highWaterMark: 1_024 });
  const options: ConnectionOptions = { handle: (_method, params) => params, clock: createFakeClock() };
  const open = (input: PassThrough, output: PassThrough): Connection =>
    openConnection(streamChannel(input, output, { highWaterBytes: 4_096, clock: createFakeClock() }), options);
  const [near, far] = [open(back, there), open(there, back)];
  const calls = Array.from({ length: 300 }, (_, index) =>
    [near, far].map((end) => end.call("echo", [index, kibibyte])),
  );
  const answers = await Promise.all(calls.map((both) => Promise.all(both)));
  expect(answers).toEqual(
    calls.map((_, index) => [
      [index, kibibyte],
      [index, kibibyte],
    ]),
  );
  for (const end of [near, far]) assertNoLeaks(end);
  await Promise.all([near.close(), far.close()]);
});

test("over TCP a reader that stops holds the writer back, and then receives everything in order", async () => {
  const { handle, produced } = producer(600, kibibyte.repeat(64));
  const [near, far] = await socketPair();
  const connection = openConnection(streamChannel(near, near), { handle });
  far.write(`${requestText("1", "produce")}\n`);
  for (let before = -1; before !== produced() || before === 0; ) {
    before = produced();
    // The kernel's buffers fill in their own time: the producer stands still when a dozen round trips move nothing.
    for (let trips = 0; trips < 12; trips += 1) await roundTrip();
  }
  expect(produced()).toBeLessThan(600);
  await using peer = rawPeer(streamChannel(far, far));
  for (let index = 0; index < 600; index += 1) expect(await peer.next()).toContain(`"index":${index},`);
  expect(await peer.next()).toBe(successText("1", '"all"'));
  await turn();
  assertNoLeaks(connection);
  await connection.close();
});

/** A handler that tells its caller `count` things, and waits between them until there is room. */
function producer(count: number, pad: string = kibibyte): { handle: Call; produced: () => number } {
  let produced = 0;
  return {
    produced: () => produced,
    async handle(_method, _params, exchange) {
      for (; produced < count && !exchange.signal.aborted; produced += 1) {
        exchange.notify("tick", { index: produced, pad });
        await exchange.drained();
      }
      return "all";
    },
  };
}

interface Unread extends AsyncDisposable {
  readonly connection: Connection;
  readonly clock: FakeClock;
  readonly output: PassThrough;
  write(frame: string): void;
  /** The peer begins to read. */
  read(): RawPeer;
  /** Waits until a count has stopped to rise. */
  untilStill(count: () => number): Promise<void>;
}

/** A connection to a peer that does not read yet, over a stream that holds little. */
function openUnread(options: ConnectionOptions = {}, maxQueuedBytes: number = 32 * 1024 * 1024): Unread {
  const clock = createFakeClock();
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 16 * 1_024 });
  const channel = streamChannel(input, output, { clock, highWaterBytes: 64 * 1_024, maxQueuedBytes });
  const connection = openConnection(channel, { clock, ...options });
  return {
    connection,
    clock,
    output,
    write: (frame) => void input.write(`${frame}\n`),
    read: () => rawPeer(streamChannel(output, input, { clock: createFakeClock() })),
    async untilStill(count) {
      for (let before = -1; before !== count(); ) {
        before = count();
        for (let turns = 0; turns < 10; turns += 1) await turn();
      }
    },
    async [Symbol.asyncDispose]() {
      await turn();
      output.resume();
      await connection.close();
      await turn();
      assertNoLeaks(connection);
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

/** Two ends of one TCP connection on this machine. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const far = dial(address.port, "127.0.0.1");
  const near = await accepted;
  server.close();
  return [near, far];
}

/** Time enough for a byte to travel to another socket and back. */
async function roundTrip(): Promise<void> {
  const [near, far] = await socketPair();
  const arrived = new Promise((resolve) => far.once("data", resolve));
  near.write("x");
  await arrived;
  near.destroy();
  far.destroy();
}
