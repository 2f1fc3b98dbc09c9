import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import {
  type Channel,
  type ConnectionOptions,
  LocalError,
  memoryChannels,
  openConnection,
} from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { assertNoLeaks, createFakeClock, pair, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { held, requestText, successText } from "./held.js";
import { overMemory, transports, turn } from "./transports.js";

describe.each(transports)("over $name", ({ open }) => {
  test("close fails this side's calls, aborts the peer's, and says so once", async () => {
    const { call, run } = held();
    await using talk = open({ handle: call });
    const calls = [talk.connection.call("a"), talk.connection.call("b")];
    const outcomes = Promise.allSettled(calls);
    talk.peer.send(requestText("1", "slow"));
    await talk.peer.next();
    await talk.peer.next();
    await turn();
    await Promise.all([talk.connection.close(), talk.connection.close()]);
    expect(await talk.connection.closed).toEqual({ reason: "closed" });
    expect(await outcomes).toEqual([
      { status: "rejected", reason: new LocalError("closed", "a (id 1): the connection was closed") },
      { status: "rejected", reason: new LocalError("closed", "b (id 2): the connection was closed") },
    ]);
    expect(run("slow").exchange.signal.reason).toEqual(new LocalError("closed", "the connection was closed"));
    run("slow").answer("too late");
    await expect(talk.peer.next()).rejects.toThrow("the other side has ended");
  });

  test("the end of the peer fails this side's calls, and closes the connection", async () => {
    await using talk = open();
    const call = expect(talk.connection.call("a")).rejects.toThrow(
      new LocalError("closed", "a (id 1): the peer closed the connection"),
    );
    await talk.peer.next();
    await talk.peer.close();
    await call;
    expect(await talk.connection.closed).toEqual({ reason: "ended" });
    expect(talk.connection.phase).toBe("closed");
  });

  test("on a closed connection a call fails, a notification is dropped, and a drain is over", async () => {
    await using talk = open();
    await talk.connection.close();
    await expect(talk.connection.call("a")).rejects.toThrow(
      new LocalError("closed", "a (id 1): the connection is closed"),
    );
    talk.connection.notify("told");
    await talk.connection.drain(1_000);
    await talk.connection.drained();
  });

  test("drain answers what runs, refuses what comes, then closes", async () => {
    const { call, run } = held();
    await using talk = open({ handle: call });
    talk.peer.send(requestText("1", "slow"));
    await turn();
    const drained = talk.connection.drain(1_000);
    talk.peer.send(requestText("2", "ping"));
    expect(await talk.peer.next()).toBe(
      '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error: the receiver is shutting down",' +
        '"data":{"reason":"the receiver is shutting down: send it again elsewhere or later"}}}',
    );
    expect(talk.connection.phase).toBe("closing");
    await expect(talk.connection.call("a")).rejects.toMatchObject({ reason: "closed" });
    run("slow").answer("in time");
    expect(await talk.peer.next()).toBe(successText("1", '"in time"'));
    await drained;
    expect(await talk.connection.closed).toEqual({ reason: "closed" });
  });

  test("drain lets this side's calls be answered too", async () => {
    await using talk = open();
    const call = talk.connection.call("a");
    await talk.peer.next();
    const drained = talk.connection.drain(Number.POSITIVE_INFINITY);
    talk.peer.send(successText("1", '"in time"'));
    expect(await call).toBe("in time");
    await drained;
  });

  test("drain answers what still runs when its grace is over, and aborts it", async () => {
    const { call, run } = held();
    await using talk = open({ handle: call });
    talk.peer.send(requestText("1", "slow"));
    await turn();
    const drained = talk.connection.drain(1_000);
    talk.clock.advance(1_000);
    await drained;
    expect(await talk.peer.next()).toBe(unfinished);
    expect(run("slow").exchange.signal.aborted).toBe(true);
    run("slow").answer("too late");
  });
});

/** The answer to the request 1 of a peer whose handler has had its time. */
const unfinished =
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error: the receiver is shutting down",' +
  '"data":{"reason":"the receiver is shutting down, and the call was not finished: it may have had effects"}}}';

test("a drain ends with a close, and leaves no timer", async () => {
  const { call, run } = held();
  await using talk = overMemory({ handle: call });
  talk.peer.send(requestText("1", "slow"));
  await turn();
  const drained = talk.connection.drain(1_000);
  await talk.connection.close();
  await drained;
  expect(talk.clock.armed).toBe(0);
  run("slow").answer("too late");
});

test("a drain of a connection at rest closes it at once", async () => {
  await using talk = overMemory();
  await talk.connection.drain(1_000);
  expect(await talk.connection.closed).toEqual({ reason: "closed" });
});

test("a peer that has ended its side still gets its responses, and the connection closes after the last", async () => {
  const { call, run } = held();
  const { connection, clock, input, output } = overHalves({ handle: call, limits: { running: 1 } });
  input.end(`${requestText("1", "a")}\n${requestText("2", "b")}\n`);
  await turn();
  expect(connection.phase).toBe("closing");
  run("a").answer(1);
  await turn();
  run("b").answer(2);
  expect(await text(output)).toBe(`${successText("1", "1")}\n${successText("2", "2")}\n`);
  expect(await connection.closed).toEqual({ reason: "ended" });
  assertNoLeaks(connection);
  expect(clock.armed).toBe(0);
});

test("a handler that does not end keeps a connection whose peer has ended for five seconds", async () => {
  const { call, run } = held();
  const { connection, clock, input, output } = overHalves({ handle: call });
  input.end(`${requestText("1", "endless")}\n`);
  await turn();
  clock.advance(4_999);
  await turn();
  expect(connection.phase).toBe("closing");
  clock.advance(1);
  expect(await connection.closed).toEqual({ reason: "ended" });
  expect(run("endless").exchange.signal.aborted).toBe(true);
  run("endless").answer("too late");
  expect(await text(output)).toBe(`${unfinished}\n`);
  await turn();
  assertNoLeaks(connection);
  expect(clock.armed).toBe(0);
});

test("a peer that has closed both directions ends its calls at once", async () => {
  const { call, run } = held();
  const [near, far] = memoryChannels();
  const clock = createFakeClock();
  const connection = openConnection(near, { handle: call, clock });
  const peer = rawPeer(far);
  peer.send(requestText("1", "endless"));
  await turn();
  await peer.close();
  expect(await connection.closed).toEqual({ reason: "ended" });
  expect(run("endless").exchange.signal.reason).toEqual(new LocalError("closed", "the peer closed the connection"));
  run("endless").answer("too late");
  await turn();
  assertNoLeaks(connection);
  expect(clock.armed).toBe(0);
});

test("a transport that breaks fails the calls with its error, and is the reason of the end", async () => {
  const { call, run } = held();
  const { connection, clock, input } = overHalves({ handle: call });
  const broken = connection.call("a").catch((error: unknown) => error);
  input.write(`${requestText("1", "slow")}\n`);
  await turn();
  const cable = new Error("the cable was cut");
  input.destroy(cable);
  expect(await broken).toMatchObject({ reason: "closed", message: "a (id 1): the cable was cut", cause: cable });
  expect(await connection.closed).toEqual({ reason: "failed", error: cable });
  expect(run("slow").exchange.signal.aborted).toBe(true);
  run("slow").answer("too late");
  await turn();
  assertNoLeaks(connection);
  expect(clock.armed).toBe(0);
});

test("a stream that ends inside a frame is reported with the bytes of the frame", async () => {
  const { connection, input } = overHalves();
  const call = connection.call("a").catch((error: unknown) => error);
  input.end('{"jsonrpc":"2.0","id":1,"resu');
  expect(((await call) as LocalError).message).toMatch(
    /^a \(id 1\): the peer closed the connection; before that, this side received "\{\\"jsonrpc\\".+": the stream ended in a line/,
  );
  await connection.closed;
  assertNoLeaks(connection);
});

test("every call has one outcome, however the answers, the cancels and the end interleave", async () => {
  await using ends = pair({ far: { handle: async (method) => (method === "late" ? turn() : method) } });
  const user = new AbortController();
  const outcomes: string[] = [];
  const note = (outcome: string): void => void outcomes.push(outcome);
  for (let index = 0; index < 100; index += 1) {
    const method = index % 3 === 0 ? "late" : "early";
    const options = index % 5 === 0 ? { signal: user.signal } : {};
    void ends.near.call(method, undefined, options).then(
      () => note("answered"),
      ({ reason }: LocalError) => note(reason),
    );
  }
  queueMicrotask(() => user.abort());
  await ends.near.call("early");
  await ends.far.close();
  await turn();
  expect(outcomes.length).toBe(100);
  expect(new Set(outcomes)).toEqual(new Set(["answered", "cancelled", "closed"]));
});

test("frames that a channel delivers after its end are ignored", async () => {
  const heard: unknown[] = [];
  const late: Channel = {
    open: (receiver) => {
      receiver.end();
      receiver.frame(requestText("1", "ask"));
      receiver.frame('{"jsonrpc":"2.0","method":"told"}');
      receiver.refuse({ reason: "not-utf8", message: "no text", head: "", bytes: 1 });
      receiver.end(new Error("again"));
    },
    send: (frame) => void heard.push(frame),
    close: () => Promise.resolve(),
  };
  const connection = openConnection(late, {
    handle: (method) => heard.push(method),
    onNotification: (method) => heard.push(method),
    report: (each) => void heard.push(each),
  });
  expect(await connection.closed).toEqual({ reason: "ended" });
  expect(heard).toEqual([]);
  assertNoLeaks(connection);
});

/** A connection whose input and output end on their own, as the stdin and stdout of a process do. */
function overHalves(options: ConnectionOptions = {}) {
  const clock = createFakeClock();
  const input = new PassThrough();
  const output = new PassThrough();
  const connection = openConnection(streamChannel(input, output, { clock }), { clock, ...options });
  return { connection, clock, input, output };
}
