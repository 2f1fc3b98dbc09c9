import { LocalError } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../packages/mcp/src/jsonrpc/calls/outgoing-call.js";
import { cancelledText, held, requestText, successText } from "./held.js";
import { createMethods } from "./methods.js";
import { expectAlive, overMemory, transports, turn } from "./transports.js";
import { bare, invalidRequest } from "./wire.js";

const cancellation = { method: "$/cancelRequest", idMember: "id" };
const silent = { ...cancellation, error: null };

describe("a batch of the peer", () => {
  test("runs side by side and is answered in one array when its last request ends", async () => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call });
    talk.peer.send(`[${requestText("1", "a")},${requestText("2", "b")},${requestText("3", "ping")}]`);
    await turn();
    run("b").answer(2);
    await turn();
    await expectAlive(talk);
    run("a").answer(1);
    expect(bare(await talk.peer.next())).toBe(
      `[${successText("1", "1")},${successText("2", "2")},${successText("3", '"pong"')}]`,
    );
  });

  test("has no answer for a request that is cancelled where the peers agreed so, and answers the others", async () => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call, cancellation: silent });
    talk.peer.send(`[${requestText("1", "a")},${requestText("2", "b")}]`);
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    await turn();
    run("a").answer("too late");
    run("b").answer(2);
    expect(await talk.peer.next()).toBe(`[${successText("2", "2")}]`);
  });

  test("answers a request that is cancelled with an error, and waits for the others", async () => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call, cancellation });
    talk.peer.send(`[${requestText("1", "a")},${requestText("2", "b")}]`);
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    await turn();
    run("a").answer("too late");
    run("b").answer(2);
    expect(await talk.peer.next()).toBe(`[${cancelledText("1")},${successText("2", "2")}]`);
  });

  test("of which every request is cancelled is not answered at all where a cancelled request is not", async () => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call, cancellation: silent });
    talk.peer.send(
      `[${requestText("1", "a")},{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"no need"}}]`,
    );
    await turn();
    expect(run("a").exchange.signal.reason).toEqual(new LocalError("cancelled", "no need"));
    run("a").answer("too late");
    await expectAlive(talk);
  });

  test("is handed over in the order in which it stands", async () => {
    const order: string[] = [];
    await using talk = overMemory({
      handle: (method) => void order.push(method),
      onNotification: (method) => order.push(method),
    });
    const texts = ["a", "b", "c", "d"].map((method, index) =>
      index % 2 === 0 ? requestText(`${index}`, method) : `{"jsonrpc":"2.0","method":"${method}"}`,
    );
    talk.peer.send(`[${texts.join(",")}]`);
    expect(await talk.peer.next()).toBe(`[${successText("0", "null")},${successText("2", "null")}]`);
    expect(order).toEqual(["a", "b", "c", "d"]);
  });

  test("may hold responses too", async () => {
    await using talk = overMemory({ handle: held().call });
    const call = talk.connection.call("get");
    await talk.peer.next();
    talk.peer.send(`[${requestText("1", "ping")},${successText("1", '"mine"')}]`);
    expect(await call).toBe("mine");
    expect(await talk.peer.next()).toBe(`[${successText("1", '"pong"')}]`);
  });

  test("stops where a listener closes the connection", async () => {
    const told: string[] = [];
    await using talk = overMemory({
      onNotification(method) {
        told.push(method);
        void talk.connection.close();
      },
    });
    talk.peer.send('[{"jsonrpc":"2.0","method":"exit"},{"jsonrpc":"2.0","method":"more"}]');
    await talk.connection.closed;
    expect(told).toEqual(["exit"]);
  });
});

describe.each(transports)("the largest batch over $name", ({ open }) => {
  const pings = (count: number): string =>
    `[${Array.from({ length: count }, (_, index) => requestText(`${index}`, "ping")).join(",")}]`;

  test.each([
    [100, undefined],
    [101, Number.POSITIVE_INFINITY],
  ])("%i requests, with a limit of %s, are all answered", async (count, batch) => {
    await using talk = open({ handle: held().call, ...(batch === undefined ? {} : { limits: { batch } }) });
    talk.peer.send(pings(count));
    const answers = JSON.parse(await talk.peer.next()) as readonly { id: number }[];
    expect(new Set(answers.map(({ id }) => id)).size).toBe(count);
  });

  test("101 requests are refused as one, and none is run", async () => {
    const { call, runs } = held();
    await using talk = open({ handle: call });
    talk.peer.send(pings(101).replaceAll("ping", "slow"));
    const answer = await talk.peer.next();
    expect(bare(answer)).toBe(invalidRequest);
    expect(answer).toContain("a batch of 101 messages, at most 100 are accepted");
    expect(runs).toEqual([]);
    await expectAlive(talk);
  });
});

describe("a batch of this side", () => {
  test.each(transports)(
    "stands on the wire as it was filled, and gives each call its outcome: $name",
    async ({ open }) => {
      await using talk = open();
      const batch = talk.connection.batch();
      const sum = batch.request("sum", [1, 2]);
      batch.notify("log", { level: "info" });
      const fails = batch.request("fails");
      const odd = batch.request("odd", {});
      const outcomes = batch.send();
      expect(await talk.peer.next()).toBe(
        '[{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2]},' +
          '{"jsonrpc":"2.0","method":"log","params":{"level":"info"}},' +
          '{"jsonrpc":"2.0","id":2,"method":"fails"},{"jsonrpc":"2.0","id":3,"method":"odd","params":{}}]',
      );
      talk.peer.send(
        '[{"jsonrpc":"2.0","id":2,"error":{"code":7,"message":"No"}},{"jsonrpc":"2.0","id":1,"result":3},{"id":3,"result":1}]',
      );
      expect(shown(await outcomes)).toEqual({
        [sum]: "3",
        [fails]: "RpcError: No",
        [odd]: expect.stringMatching(/jsonrpc/),
      });
    },
  );

  test("may be answered one by one", async () => {
    await using talk = overMemory();
    const batch = talk.connection.batch();
    batch.request("a");
    batch.request("b");
    const outcomes = batch.send();
    await talk.peer.next();
    talk.peer.send(successText("2", '"b"'));
    talk.peer.send(successText("1", '"a"'));
    expect(shown(await outcomes)).toEqual({ 1: '"a"', 2: '"b"' });
  });

  test("with a cancelled call notifies the peer of that one", async () => {
    await using talk = overMemory({ cancellation });
    const user = new AbortController();
    const batch = talk.connection.batch();
    batch.request("a");
    batch.request("b", undefined, { signal: user.signal });
    const outcomes = batch.send();
    await talk.peer.next();
    user.abort(new Error("enough"));
    expect(await talk.peer.next()).toBe(
      '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2,"reason":"enough"}}',
    );
    talk.peer.send(`[${successText("1", "1")}]`);
    expect(shown(await outcomes)).toEqual({ 1: "1", 2: "LocalError: b (id 2): cancelled by the caller" });
  });

  test("holds only the calls that can be written", async () => {
    await using talk = overMemory();
    const batch = talk.connection.batch();
    batch.request("cancelled", undefined, { signal: AbortSignal.abort() });
    batch.request("unspeakable", [1n]);
    batch.request("a");
    const outcomes = batch.send();
    expect(await talk.peer.next()).toBe(`[${requestText("3", "a")}]`);
    talk.peer.send(`[${successText("3", "1")}]`);
    expect(shown(await outcomes)).toEqual({
      1: "LocalError: cancelled (id 1): cancelled before it was sent",
      2: expect.stringMatching(/^LocalError: unspeakable \(id 2\): params are not JSON: TypeError: .*BigInt/),
      3: "1",
    });
  });

  test("of notifications is sent, and has no outcomes; an empty one is not sent", async () => {
    await using talk = overMemory();
    const batch = talk.connection.batch();
    batch.notify("a");
    batch.notify("b", [1]);
    expect(shown(await batch.send())).toEqual({});
    expect(await talk.peer.next()).toBe('[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b","params":[1]}]');
    expect(shown(await talk.connection.batch().send())).toEqual({});
  });

  test("with a notification that is not JSON is refused whole, before anything is sent", async () => {
    await using talk = overMemory();
    const batch = talk.connection.batch();
    batch.request("a");
    batch.notify("b", [1n]);
    await expect(batch.send()).rejects.toThrow(/^b: params are not JSON: TypeError/);
  });

  test("is sent once", async () => {
    await using talk = overMemory();
    const batch = talk.connection.batch();
    await batch.send();
    const sentBefore = new LocalError("refused", "this batch was sent already: make another with connection.batch()");
    await expect(batch.send()).rejects.toThrow(sentBefore);
    expect(() => batch.request("a")).toThrow(sentBefore);
    expect(() => batch.notify("a")).toThrow(sentBefore);
  });

  test("on a closed connection gives every call the outcome closed", async () => {
    await using talk = overMemory({ handle: createMethods().call });
    const batch = talk.connection.batch();
    batch.request("a");
    await talk.connection.close();
    expect(shown(await batch.send())).toEqual({ 1: "LocalError: a (id 1): the connection is closed" });
  });
});

function shown(outcomes: ReadonlyMap<number, Outcome>): Readonly<Record<number, string>> {
  return Object.fromEntries(
    [...outcomes].map(([id, outcome]) => [id, outcome.ok ? JSON.stringify(outcome.result) : String(outcome.error)]),
  );
}
