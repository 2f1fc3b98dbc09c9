import { describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { cancelledText, held, requestText, successText } from "../held.js";
import { expectAlive, overMemory } from "../transports.js";
import { bare, invalid, invalidRequest } from "../wire.js";

const cancellation = { method: "$/cancelRequest", idMember: "id" };

/** Ids as they are written; each must come back exactly so. */
const ids: readonly string[] = [
  "0",
  "-1",
  "9007199254740991",
  "9007199254740993",
  "-9007199254740993",
  "123456789012345678901234567890",
  "1e400",
  "-0",
  "1.5",
  "0.1000000000000000000001",
  "1E-7",
  '""',
  '"1"',
  '"null"',
  '"\\""',
  '"é漢😀"',
  '"\\ud800"',
  '"\\u0000number 1"',
  "null",
  `"${"x".repeat(256)}"`,
  `"${"é".repeat(128)}"`,
];

describe("an id comes back exactly as it was written", () => {
  test.each(ids)("%s", async (id) => {
    await using talk = overMemory({ handle: held().call });
    talk.peer.send(requestText(id, "ping"));
    expect(await talk.peer.next()).toBe(successText(id, '"pong"'));
    talk.peer.send(`[ {} , ${requestText(id, "ping")} ]`);
    expect(await talk.peer.next()).toContain(successText(id, '"pong"'));
  });

  test.each(ids)("%s in the answer that refuses it a second time", async (id) => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call });
    talk.peer.send(requestText(id, "slow"));
    talk.peer.send(requestText(id, "slow"));
    expect(await talk.peer.next()).toBe(
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":"Invalid Request",` +
        '"data":{"reason":"id belongs to a request that is still in flight","pointer":"/id"}}}',
    );
    run("slow").answer("the first");
    expect(await talk.peer.next()).toBe(successText(id, '"the first"'));
  });

  test.each(ids)("%s in a cancellation finds its request, alone and in a batch", async (id) => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, cancellation });
    for (const frame of [cancelText(id), `[{"jsonrpc":"2.0","method":"ping"},${cancelText(id)}]`]) {
      talk.peer.send(requestText(id, "slow"));
      talk.peer.send(frame);
      expect(await talk.peer.next()).toBe(cancelledText(id));
      expect(runs.at(-1)?.exchange.signal.aborted, frame).toBe(true);
    }
    await expectAlive(talk);
    for (const run of runs) run.answer("too late");
  });
});

describe("different ids never meet", () => {
  test.each([
    ["1", '"1"'],
    ["0", "-0"],
    ["9007199254740992", "9007199254740993"],
    ["1e400", "1e500"],
    ["null", '"null"'],
    ["-0", '"\\u0000number -0"'],
    ['"\\u0000string "', '"\\u0000string \\u0000string "'],
  ])("%s and %s run side by side, and a cancel stops one", async (one, other) => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, cancellation });
    talk.peer.send(requestText(one, "slow"));
    talk.peer.send(requestText(other, "slow"));
    talk.peer.send(cancelText(other));
    expect(await talk.peer.next()).toBe(cancelledText(other));
    expect(runs.map(({ exchange }) => exchange.signal.aborted)).toEqual([false, true]);
    for (const run of runs) run.answer(7);
    expect(await talk.peer.next()).toBe(successText(one, "7"));
  });
});

describe("an id that cannot be echoed is answered with null", () => {
  test.each([
    ["257 bytes", `"${"x".repeat(257)}"`, "id must be at most 256 bytes long, got 257"],
    ["257 bytes in 129 characters", `"${"é".repeat(128)}x"`, "id must be at most 256 bytes long, got 257"],
    ["a number of 257 digits", "1".repeat(257), "id must be at most 256 bytes long, got 257"],
    ["true", "true", "id must be a string, a number or null, got true"],
    ["an object", "{}", "id must be a string, a number or null, got an object"],
  ])("%s", async (_name, id, reason) => {
    const reports: string[] = [];
    await using talk = overMemory({ handle: held().call, report: (each) => void reports.push(describeReport(each)) });
    talk.peer.send(requestText(id, "ping"));
    const answer = await talk.peer.next();
    expect(bare(answer)).toBe(invalidRequest);
    expect(answer).toContain(`"data":{"reason":"${reason}","pointer":"/id"}`);
    await expectAlive(talk);
    expect(reports).toEqual([expect.stringContaining(reason)]);
  });
});

describe("the id is read as a JSON parser reads it", () => {
  test.each([
    ["an escaped key", '{"jsonrpc":"2.0","\\u0069d":9007199254740993,"method":"ping"}', "9007199254740993"],
    ["the last of two", '{"jsonrpc":"2.0","id":9007199254740993,"id":2,"method":"ping"}', "2"],
    ["the last of two, of which the first fits", '{"id":2,"jsonrpc":"2.0","method":"ping","\\u0069d":1e400}', "1e400"],
    ["not one inside params", '{"jsonrpc":"2.0","params":{"id":5,"x":"\\",\\"id\\":6"},"id":-0,"method":"ping"}', "-0"],
    ["white space around it", '{ "jsonrpc":"2.0", "id" :\t1.50 , "method":"ping" }', "1.50"],
  ])("%s", async (_name, sent, id) => {
    await using talk = overMemory({ handle: held().call });
    talk.peer.send(sent);
    expect(await talk.peer.next()).toBe(successText(id, '"pong"'));
    talk.peer.send(`[${sent}]`);
    expect(await talk.peer.next()).toBe(`[${successText(id, '"pong"')}]`);
  });
});

test("a reused id is refused in a batch too, and the first request goes on", async () => {
  const { call, run } = held();
  await using talk = overMemory({ handle: call });
  talk.peer.send(requestText("1", "slow"));
  talk.peer.send(`[${requestText("1", "ping")},${requestText("2", "ping")},${requestText("2", "ping")}]`);
  expect(bare(await talk.peer.next())).toBe(bare(`[${invalid("1")},${successText("2", '"pong"')},${invalid("2")}]`));
  run("slow").answer(true);
  expect(await talk.peer.next()).toBe(successText("1", "true"));
});

test("an id is free again as soon as its answer is written", async () => {
  await using talk = overMemory({ handle: held().call });
  for (let turns = 0; turns < 3; turns += 1) {
    talk.peer.send(requestText("1", "ping"));
    expect(await talk.peer.next()).toBe(successText("1", '"pong"'));
  }
});

test("the ids of this side rise by one, whatever becomes of the calls, and batches take part", async () => {
  await using talk = overMemory();
  const calls = [talk.connection.call("a"), talk.connection.call("b", undefined, { signal: AbortSignal.abort() })];
  const batch = talk.connection.batch();
  expect([batch.request("c"), batch.request("d")]).toEqual([3, 4]);
  calls.push(talk.connection.call("e"));
  const outcomes = batch.send();
  expect(await talk.peer.next()).toBe(requestText("1", "a"));
  expect(await talk.peer.next()).toBe(requestText("5", "e"));
  expect(await talk.peer.next()).toBe(`[${requestText("3", "c")},${requestText("4", "d")}]`);
  for (const id of [1, 3, 4, 5]) talk.peer.send(successText(`${id}`, "0"));
  await Promise.allSettled([...calls, outcomes]);
});

function cancelText(id: string): string {
  return `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${id}}}`;
}
