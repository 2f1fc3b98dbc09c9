import { getEventListeners } from "node:events";
import { describeReport, LocalError } from "@parlance/mcp/jsonrpc";
import { pair } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { cancelledText, held, requestText, successText } from "../held.js";
import { expectAlive, overMemory, transports, turn } from "../transports.js";

const cancellation = { method: "$/cancelRequest", idMember: "id" };
/** As in MCP, where a cancelled request is not answered. */
const silent = { ...cancellation, error: null };

describe("this side cancels", () => {
  test("a call that is not sent yet: nothing is written", async () => {
    await using talk = overMemory({ cancellation });
    const reason = new Error("changed my mind");
    const call = talk.connection.call("get", undefined, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toMatchObject({
      reason: "cancelled",
      message: "get (id 1): cancelled before it was sent",
      cause: reason,
    });
  });

  test.each(transports)(
    "a call that runs: the peer is told why, and a late answer of a peer that owes none is reported: $name",
    async ({ open }) => {
      const reports: string[] = [];
      await using talk = open({ cancellation: silent, report: (each) => void reports.push(describeReport(each)) });
      const user = new AbortController();
      const call = talk.connection.call("get", undefined, { signal: user.signal });
      expect(await talk.peer.next()).toBe(requestText("1", "get"));
      const reason = new Error("the user left");
      user.abort(reason);
      await expect(call).rejects.toMatchObject({
        reason: "cancelled",
        message: "get (id 1): cancelled by the caller",
        cause: reason,
      });
      expect(await talk.peer.next()).toBe(
        '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"the user left"}}',
      );
      talk.peer.send(successText("1", '"late"'));
      await turn();
      expect(reports).toEqual(["received a result to id 1, which no call waits for"]);
    },
  );

  test("a call that has its answer: too late, nothing is written", async () => {
    await using talk = overMemory({ cancellation });
    const user = new AbortController();
    const call = talk.connection.call("get", undefined, { signal: user.signal });
    await talk.peer.next();
    talk.peer.send(successText("1", "1"));
    expect(getEventListeners(user.signal, "abort")).toHaveLength(1);
    expect(await call).toBe(1);
    expect(getEventListeners(user.signal, "abort")).toHaveLength(0);
    user.abort();
  });

  test("a call that the peer must not be asked to cancel: it stops waiting, and says nothing", async () => {
    await using talk = overMemory({ cancellation });
    const user = new AbortController();
    const call = talk.connection.call("initialize", undefined, { signal: user.signal, cancellable: false });
    await talk.peer.next();
    user.abort();
    await expect(call).rejects.toMatchObject({ reason: "cancelled" });
  });

  test("in plain JSON-RPC, which has no word for it: it stops waiting, and says nothing", async () => {
    await using talk = overMemory();
    const user = new AbortController();
    const call = talk.connection.call("get", undefined, { signal: user.signal });
    await talk.peer.next();
    user.abort();
    await expect(call).rejects.toMatchObject({ reason: "cancelled" });
  });

  test("twenty calls with one signal: all stop, and the runtime warns of no leak", async () => {
    await using talk = overMemory({ cancellation });
    const user = new AbortController();
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warned);
    const calls = Array.from({ length: 20 }, (_, index) =>
      talk.connection.call("get", [index], { signal: user.signal }).catch(({ reason }: LocalError) => reason),
    );
    for (const _ of calls) await talk.peer.next();
    talk.peer.send(successText("1", '"answered"'));
    await turn();
    user.abort();
    expect(await Promise.all(calls)).toEqual(["answered", ...Array.from({ length: 19 }, () => "cancelled")]);
    for (let id = 2; id <= 20; id += 1) expect(await talk.peer.next()).toContain(`"params":{"id":${id},`);
    await turn();
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test("with a reason that is no error: the peer reads a plain one", async () => {
    await using talk = overMemory({ cancellation });
    const user = new AbortController();
    const call = talk.connection.call("get", undefined, { signal: user.signal });
    await talk.peer.next();
    user.abort({ private: true });
    await expect(call).rejects.toMatchObject({ cause: { private: true } });
    expect(await talk.peer.next()).toContain('"reason":"cancelled by the caller"');
  });
});

describe("the peer cancels", () => {
  test.each(transports)(
    "a request that runs: its signal aborts, it is answered with an error, and nothing more is said of it: $name",
    async ({ open }) => {
      const { call, run } = held();
      await using talk = open({ handle: call, cancellation });
      talk.peer.send(requestText("1", "slow"));
      talk.peer.send(cancelText("1", "the user left"));
      expect(await talk.peer.next()).toBe(cancelledText("1"));
      await expectAlive(talk);
      const { exchange, answer } = run("slow");
      expect(exchange.signal.reason).toEqual(new LocalError("cancelled", "the user left"));
      exchange.notify("progress", { half: true });
      answer("too late");
      await expectAlive(talk);
    },
  );

  test("a request that waits for a place: it never runs", async () => {
    const { call, runs, run } = held();
    await using talk = overMemory({ handle: call, cancellation, limits: { running: 1 } });
    talk.peer.send(requestText("1", "first"));
    talk.peer.send(requestText("2", "second"));
    talk.peer.send(cancelText("2"));
    expect(await talk.peer.next()).toBe(cancelledText("2"));
    expect(talk.connection.inFlight).toEqual({ outgoing: 0, incoming: 1, waiting: 0, running: 1 });
    run("first").answer(1);
    expect(await talk.peer.next()).toBe(successText("1", "1"));
    await expectAlive(talk);
    expect(runs.map(({ method }) => method)).toEqual(["first"]);
  });

  test.each([
    ["of a request that never came", cancelText("7"), "request 7, which is not in flight"],
    ["by a string that looks like a number", cancelText('"1"'), 'request "1", which is not in flight'],
    ["by an id that would move a cursor", cancelText('"\\u001b[2J\\u202e"'), 'request "\\u001b[2J\\u{202e}", which is'],
    ["by a long id", cancelText(`"${"x".repeat(9_000)}"`), `request "${"x".repeat(120)}…", which is`],
    ["without an id", '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}', "no request"],
    ["without params", '{"jsonrpc":"2.0","method":"$/cancelRequest"}', "no request"],
    ["with params by position", '{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}', "no request"],
    ["by something that is no id", cancelText('{"id":1}'), "no request"],
  ])("%s: it is reported, and answers nothing", async (_name, sent, shows) => {
    const { call, run } = held();
    const reports: string[] = [];
    await using talk = overMemory({
      handle: call,
      cancellation,
      report: (each) => void reports.push(describeReport(each)),
    });
    talk.peer.send(requestText("1", "slow"));
    talk.peer.send(sent);
    await expectAlive(talk);
    expect(reports).toEqual([expect.stringContaining(`received a cancellation of ${shows}`)]);
    run("slow").answer("still here");
    expect(await talk.peer.next()).toBe(successText("1", '"still here"'));
  });

  test("before its request arrives: that runs as if nothing had been", async () => {
    await using talk = overMemory({ handle: held().call, cancellation });
    talk.peer.send(cancelText("1"));
    talk.peer.send(requestText("1", "ping"));
    expect(await talk.peer.next()).toBe(successText("1", '"pong"'));
  });

  test("twice: the second finds nothing", async () => {
    const { call, run } = held();
    const kinds: string[] = [];
    await using talk = overMemory({ handle: call, cancellation, report: ({ kind }) => void kinds.push(kind) });
    talk.peer.send(requestText("1", "slow"));
    talk.peer.send(cancelText("1"));
    talk.peer.send(cancelText("1"));
    expect(await talk.peer.next()).toBe(cancelledText("1"));
    await turn();
    expect(kinds).toEqual(["unknown-cancel"]);
    run("slow").fail(new Error("stopped"));
  });

  test("and uses the id again while the old handler still runs: only the new one is answered", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, cancellation });
    talk.peer.send(requestText("1", "slow"));
    talk.peer.send(cancelText("1"));
    talk.peer.send(requestText("1", "slow"));
    expect(await talk.peer.next()).toBe(cancelledText("1"));
    runs[0]?.answer("old");
    await turn();
    runs[1]?.answer("new");
    expect(await talk.peer.next()).toBe(successText("1", '"new"'));
  });

  test("but a handler that ignores its signal keeps its place until it ends", async () => {
    const { call, runs, run } = held();
    await using talk = overMemory({ handle: call, cancellation, limits: { running: 1 } });
    talk.peer.send(requestText("1", "stubborn"));
    talk.peer.send(cancelText("1"));
    talk.peer.send(requestText("2", "next"));
    expect(await talk.peer.next()).toBe(cancelledText("1"));
    expect(runs.map(({ method }) => method)).toEqual(["stubborn"]);
    expect(talk.connection.inFlight).toEqual({ outgoing: 0, incoming: 1, waiting: 1, running: 1 });
    run("stubborn").answer("at last");
    await turn();
    run("next").answer(2);
    expect(await talk.peer.next()).toBe(successText("2", "2"));
  });
});

test("a cancel goes all the way through a connection that serves another", async () => {
  const { call, run } = held();
  await using inner = pair({ near: { cancellation }, far: { cancellation, handle: call } });
  await using outer = pair({ near: { cancellation }, far: { cancellation, handle: inner.near.call } });
  const user = new AbortController();
  const outcome = outer.near.call("slow", undefined, { signal: user.signal }).catch(String);
  await turn();
  user.abort(new Error("the user left"));
  expect(await outcome).toBe("LocalError: slow (id 1): cancelled by the caller");
  await turn();
  expect(run("slow").exchange.signal.reason).toEqual(new LocalError("cancelled", "the user left"));
  run("slow").answer("too late");
});

function cancelText(id: string, reason?: string): string {
  const why = reason === undefined ? "" : `,"reason":"${reason}"`;
  return `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${id}${why}}}`;
}
