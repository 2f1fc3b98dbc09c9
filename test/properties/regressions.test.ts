import {
  type Connection,
  type ConnectionOptions,
  decode,
  LocalError,
  openConnection,
  Problem,
  serverLimits,
} from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { checkMessage } from "../../packages/mcp/src/jsonrpc/codec/decode.js";
import { membersOfElements } from "../../packages/mcp/src/jsonrpc/codec/scan.js";
import { baseProfile, mcpProfile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { type HandChannel, handChannel } from "./conversation/hand-channel.js";

// The shortest transcript of each fault that the properties of this folder have found.

const tooDeep = "[[[[[[[[[]]]]]]]]]";

describe("a message that is too deep", () => {
  test("is the peer's request, even if a call of this side has its id: it is answered, and the call goes on", async () => {
    const { channel, connection } = talk({ limits: { depth: 8 } });
    const call = connection.call("work");
    channel.deliver(`{"jsonrpc":"2.0","id":1,"method":"work","params":${tooDeep}}`);
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"done"}');
    expect(await call).toBe("done");
    expect(channel.transcript).toEqual([
      '> {"jsonrpc":"2.0","id":1,"method":"work"}',
      `< {"jsonrpc":"2.0","id":1,"method":"work","params":${tooDeep}}`,
      '> {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request","data":{"reason":"nested deeper than 8 levels","pointer":""}}}',
      '< {"jsonrpc":"2.0","id":1,"result":"done"}',
    ]);
  });

  test.each([
    { name: "a result", member: `"result":${tooDeep}` },
    { name: "an error", member: `"error":{"code":1,"message":"","data":${tooDeep}}` },
  ])("fails the call that waits for it, and no response is sent: $name", async ({ member }) => {
    const { channel, connection } = talk({ limits: { depth: 8 } });
    const call = connection.call("work");
    for (let times = 0; times < 2; times += 1) channel.deliver(`{"jsonrpc":"2.0","id":1,${member}}`);
    await expect(call).rejects.toMatchObject({ reason: "protocol" });
    expect(channel.transcript.filter((line) => line.startsWith(">"))).toHaveLength(1);
  });
});

test("a response that is too long, and that no call waits for, is not answered", async () => {
  const { channel, connection } = talk();
  const call = connection.call("work", undefined, { timeout: 10 });
  const refusal = {
    reason: "too-long",
    message: "too long",
    head: '{"jsonrpc":"2.0","id":1,"result":"x',
    bytes: 9e9,
  } as const;
  channel.refuse(refusal);
  channel.refuse(refusal);
  await expect(call).rejects.toBeInstanceOf(LocalError);
  expect(channel.transcript).toEqual(['> {"jsonrpc":"2.0","id":1,"method":"work"}', "< refused", "< refused"]);
});

describe("while the peer does not read", () => {
  test("reading is paused, but not for a call that begins later", async () => {
    const { channel, connection } = talk();
    channel.block();
    connection.notify("note");
    expect(channel.isPaused).toBe(true);
    const call = connection.call("work");
    expect(channel.isPaused).toBe(false);
    channel.release();
    await Promise.resolve();
    await Promise.resolve();
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"done"}');
    expect(await call).toBe("done");
  });

  test("reading is paused again when no call waits any more and this side would write", async () => {
    const { channel, connection } = talk({ handle: () => "done" });
    const call = connection.call("work");
    channel.block();
    connection.notify("note");
    expect(channel.isPaused).toBe(false);
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"done"}');
    await call;
    channel.deliver('{"jsonrpc":"2.0","id":1,"method":"work"}');
    expect(channel.isPaused).toBe(true);
  });
});

test.each([
  { id: 1.5, profile: mcpProfile },
  { id: null, profile: mcpProfile },
  { id: Number.POSITIVE_INFINITY, profile: baseProfile },
  { id: Number.NaN, profile: baseProfile },
])("$id is no id where JSON or the profile has none such", ({ id, profile }) => {
  for (const message of [
    { jsonrpc: "2.0", id, method: "work" },
    { jsonrpc: "2.0", id, result: 1 },
  ]) {
    expect(checkMessage(message, profile, serverLimits)).toMatchObject({ ok: false, pointer: "/id" });
  }
});

test("an empty object has no members, so it breaks no bound of them", () => {
  const decoded = decode("{     }", undefined, { ...serverLimits, keys: 0 });
  expect(decoded instanceof Problem && decoded.reason).toBe('jsonrpc must be "2.0", it is missing');
});

test.each(["[}", "[1}", "[1,:", "[,", '["', "[{", "["])("the elements of %s are looked for in bounded time", (text) => {
  expect(membersOfElements(text).length).toBeLessThan(3);
});

function talk(options: ConnectionOptions = {}): { readonly channel: HandChannel; readonly connection: Connection } {
  const channel = handChannel(() => undefined);
  return { channel, connection: openConnection(channel, { clock: createFakeClock(), ...options }) };
}
