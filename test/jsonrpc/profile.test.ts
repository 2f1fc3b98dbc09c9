import { LocalError } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { mcpBatchProfile, mcpProfile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { createMethods } from "./methods.js";
import { expectAlive, overMemory, transports } from "./transports.js";
import { bare } from "./wire.js";

const withoutId = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}';
const parseErrorWithoutId = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}';

/** The restrictions of MCP, by the rules of the protocol map. */
const narrowed: readonly { rule: string; sent: string; answer?: string }[] = [
  {
    rule: "J-4: positional params are invalid params",
    sent: '{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2]}',
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}',
  },
  {
    rule: "J-4: params that are no structure are invalid params",
    sent: '{"jsonrpc":"2.0","id":1,"method":"sum","params":"bar"}',
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}',
  },
  {
    rule: "J-4: a fault of the envelope is an invalid request",
    sent: '{"jsonrpc":"2.0","id":1,"method":1}',
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request"}}',
  },
  {
    rule: "J-5: a handler that returns undefined has the result {}",
    sent: '{"jsonrpc":"2.0","id":1,"method":"nothing"}',
    answer: '{"jsonrpc":"2.0","id":1,"result":{}}',
  },
  { rule: "J-8: a notification with positional params", sent: '{"jsonrpc":"2.0","method":"sum","params":[1]}' },
  { rule: "J-8: a notification with params null", sent: '{"jsonrpc":"2.0","method":"sum","params":null}' },
  { rule: "J-8: a notification without jsonrpc", sent: '{"method":"update"}' },
  { rule: "J-8: a notification with a result", sent: '{"jsonrpc":"2.0","method":"update","result":1}' },
  { rule: "J-8: a notification with a long name", sent: `{"jsonrpc":"2.0","method":"${"m".repeat(257)}"}` },
  { rule: "J-8: an unknown notification", sent: '{"jsonrpc":"2.0","method":"notifications/new"}' },
  { rule: "J-8: a notification that throws", sent: '{"jsonrpc":"2.0","method":"boom"}' },
  { rule: "J-10: id null", sent: '{"jsonrpc":"2.0","id":null,"method":"ping"}', answer: withoutId },
  { rule: "J-10: id 1.5", sent: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', answer: withoutId },
  { rule: "J-10: id 1e-1", sent: '{"jsonrpc":"2.0","id":1e-1,"method":"ping"}', answer: withoutId },
  {
    rule: "J-10: an integer that no double holds",
    sent: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    answer: '{"jsonrpc":"2.0","id":9007199254740993,"result":"pong"}',
  },
  { rule: "J-14: JSON that is cut", sent: '{"jsonrpc":"2.0"', answer: parseErrorWithoutId },
  { rule: "J-14: no object", sent: "1", answer: withoutId },
  { rule: "J-14: {}", sent: "{}", answer: withoutId },
  { rule: "J-19: rpc. names", sent: '{"jsonrpc":"2.0","method":"rpc.discover"}' },
  { rule: "J-21: []", sent: "[]", answer: withoutId },
  { rule: "J-21: [request]", sent: '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', answer: withoutId },
  { rule: "J-21: [notification]", sent: '[{"jsonrpc":"2.0","method":"update"}]', answer: withoutId },
];

describe.each(transports)("MCP's profile over $name", ({ open }) => {
  test.each(narrowed)("$rule", async ({ sent, answer }) => {
    const noted: unknown[] = [];
    await using talk = open({ profile: mcpProfile, handle: createMethods((params) => void noted.push(params)).call });
    talk.peer.send(sent);
    if (answer !== undefined) expect(bare(await talk.peer.next())).toBe(answer);
    await expectAlive(talk);
    expect(noted).toEqual([]);
  });
});

test("J-14: a failure may come without an id or with null; both are reported, and no call fails of them", async () => {
  const kinds: string[] = [];
  await using talk = overMemory({ profile: mcpProfile, report: ({ kind }) => void kinds.push(kind) });
  const call = talk.connection.call("get");
  await talk.peer.next();
  talk.peer.send(withoutId);
  talk.peer.send('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}');
  talk.peer.send('{"jsonrpc":"2.0","id":1,"result":{}}');
  expect(await call).toEqual({});
  expect(kinds).toEqual(["unmatched", "unmatched"]);
});

test("J-22: this side sends no batch", async () => {
  await using talk = overMemory({ profile: mcpProfile });
  expect(() => talk.connection.batch()).toThrow(
    new LocalError("refused", "batches are not part of this protocol revision: send each call on its own"),
  );
});

test("the profile changes when the peers agree on a revision: batches from then on", async () => {
  await using talk = overMemory({ profile: mcpProfile, handle: createMethods().call });
  talk.peer.send('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
  expect(bare(await talk.peer.next())).toBe(withoutId);
  talk.connection.profile = mcpBatchProfile;
  expect(talk.connection.profile).toBe(mcpBatchProfile);
  talk.peer.send('[{"jsonrpc":"2.0","id":1,"method":"nothing"},{"jsonrpc":"2.0","id":null,"method":"ping"},[]]');
  expect(bare(await talk.peer.next())).toBe(bare(`[{"jsonrpc":"2.0","id":1,"result":{}},${withoutId},${withoutId}]`));
  talk.peer.send("[]");
  expect(bare(await talk.peer.next())).toBe(withoutId);
  const batch = talk.connection.batch();
  batch.notify("notifications/progress", { progress: 1 });
  await batch.send();
  expect(await talk.peer.next()).toBe('[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}]');
});
