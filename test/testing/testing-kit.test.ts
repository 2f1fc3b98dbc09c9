import { memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks, createFakeClock, pair, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { held, requestText } from "../jsonrpc/held.js";

describe("a pair", () => {
  test("speaks both ways, and ends without a word when nothing is left", async () => {
    await using ends = pair({ near: { handle: () => "near" }, far: { handle: () => "far" } });
    expect(await Promise.all([ends.near.call("who"), ends.far.call("who")])).toEqual(["far", "near"]);
  });

  test("closes both ends and throws when a call has no outcome, and says what is left", async () => {
    const { call, run } = held();
    const ends = pair({ far: { handle: call } });
    const outcome = ends.near.call("slow").catch(String);
    await expect(ends[Symbol.asyncDispose]()).rejects.toThrow("a connection is not idle: calls without an outcome: 1");
    expect(await outcome).toContain("the connection was closed");
    expect([ends.near.phase, ends.far.phase]).toEqual(["closed", "closed"]);
    expect(() => assertNoLeaks(ends.far)).toThrow("running handlers: 1");
    run("slow").answer(1);
  });

  test("throws when a timer is still armed", async () => {
    const ends = pair();
    const timer = ends.clock.setTimer(() => undefined, 1_000);
    await expect(ends[Symbol.asyncDispose]()).rejects.toThrow("timers are still armed");
    ends.clock.clearTimer(timer);
  });

  test("has time of its own", async () => {
    const { call, run } = held();
    await using ends = pair({ near: { timeout: 10 }, far: { handle: call } });
    const outcome = expect(ends.near.call("slow")).rejects.toMatchObject({ reason: "timeout" });
    ends.clock.advance(10);
    await outcome;
    run("slow").answer("too late");
  });
});

describe("a raw peer", () => {
  test("writes the given text, and reads frame by frame", async () => {
    const [left, right] = memoryChannels();
    await using connection = openConnection(left);
    await using peer = rawPeer(right);
    peer.send("[]");
    peer.send("{");
    expect(await peer.next()).toContain("-32600");
    expect(await peer.next()).toContain("-32700");
    expect(connection.phase).toBe("open");
  });

  test("throws at its end when a frame was not read", async () => {
    const [left, right] = memoryChannels();
    await using connection = openConnection(left);
    const peer = rawPeer(right);
    connection.notify("unread");
    await expect(peer[Symbol.asyncDispose]()).rejects.toThrow('unread frames:\n{"jsonrpc":"2.0","method":"unread"}');
  });

  test("reads no frame after the end", async () => {
    const [left, right] = memoryChannels();
    const connection = openConnection(left);
    await using peer = rawPeer(right);
    connection.notify("last");
    const reads = [peer.next(), peer.next()];
    await connection.close();
    expect(await reads[0]).toBe('{"jsonrpc":"2.0","method":"last"}');
    await expect(reads[1]).rejects.toThrow("the other side has ended");
    await expect(peer.next()).rejects.toThrow("the other side has ended");
  });

  test("takes what is no frame for a failure of the test", async () => {
    const [left, right] = memoryChannels();
    await using peer = rawPeer({
      ...right,
      send: () => undefined,
      close: () => left.close(),
      open: (receiver) => receiver.refuse({ reason: "not-utf8", message: "no text", head: "a\ufffd", bytes: 2 }),
    });
    await expect(peer.next()).rejects.toThrow("no text: a\ufffd");
  });
});

describe("a fake clock", () => {
  test("fires what falls due, in the order of its time, and shows that time meanwhile", () => {
    const clock = createFakeClock();
    const fired: [string, number][] = [];
    clock.setTimer(() => fired.push(["late", clock.now()]), 20);
    clock.setTimer(() => {
      fired.push(["early", clock.now()]);
      clock.setTimer(() => fired.push(["nested", clock.now()]), 5);
    }, 10);
    const cleared = clock.setTimer(() => fired.push(["cleared", clock.now()]), 15);
    clock.setTimer(() => fired.push(["beyond", clock.now()]), 31);
    clock.clearTimer(cleared);
    clock.advance(30);
    expect(fired).toEqual([
      ["early", 10],
      ["nested", 15],
      ["late", 20],
    ]);
    expect(clock.now()).toBe(30);
    expect(clock.armed).toBe(1);
  });
});

test("a connection at rest passes the leak check, whether it is open or closed", async () => {
  const [left, right] = memoryChannels();
  const connection = openConnection(left, { handle: held().call });
  await using peer = rawPeer(right);
  assertNoLeaks(connection);
  peer.send(requestText("1", "ping"));
  await peer.next();
  assertNoLeaks(connection);
  await connection.close();
  assertNoLeaks(connection);
});
