import { rpcHandler } from "@parlance/mcp/http";
import { createService, memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { duplicateMemberIn } from "../../../packages/mcp/src/jsonrpc/codec/scan.js";
import { sessionPost, statelessCall } from "../../http/server/asked.js";
import { doors, openSession } from "../../http/server/handlers.js";
import { shop } from "../../http/server/shop.js";
import { parse, textOf } from "../../testing/frames.js";

/** A call of the newest revision, its body changed. */
function changed(from: string | RegExp, to: string) {
  const asked = statelessCall("echo", { text: "hi" });
  const body = String(asked.body).replace(from, to);
  expect(body).not.toBe(asked.body);
  return { ...asked, body };
}

describe.each(doors)("A14: on $on", ({ open }) => {
  test.each([
    ["/method", '"method":', '"method":"ping","method":'],
    ["/method", '"method":', '"m\\u0065thod":"ping","method":'],
    ["/params", '"params":', '"params":{},"params":'],
    ["/jsonrpc", '"jsonrpc":', '"jsonrpc":"1.0","jsonrpc":'],
    ["/params/name", '"name":', '"name":"harmless","name":'],
    ["/params/arguments", '"arguments":', '"arguments":{},"arguments":'],
    ["/params/arguments/text", '"text":', '"text":"no","text":'],
    ["/params/_meta", '"_meta":', '"_meta":{},"_meta":'],
  ])("a body with %s twice is refused, with its id, and nothing runs", async (place, from, to) => {
    const ran: string[] = [];
    await using door = await open(shop((tool) => ran.push(tool)));
    const { status, body } = await door.ask(changed(from, to));
    expect({ status, message: parse(body) }).toMatchObject({
      status: 400,
      message: {
        id: 1,
        error: {
          code: -32_600,
          data: { reason: `${place} is there twice: send each member once`, pointer: place },
        },
      },
    });
    expect(ran).toEqual([]);
  });

  test("one with two ids is answered without an id", async () => {
    await using door = await open(shop());
    const { status, body } = await door.ask(changed('"id":', '"id":2,"id":'));
    expect(status).toBe(400);
    expect(parse(body)).toMatchObject({ error: { data: { pointer: "/id" } } });
    expect(parse(body).id ?? null).toBeNull();
  });

  test("in sessions, and in batches, too", async () => {
    await using door = await open(shop());
    const session = await openSession(door, "2025-03-26");
    const twice = '{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"ping"}';
    const single = await door.ask(sessionPost(session, twice));
    expect({ status: single.status, id: parse(single.body).id }).toEqual({ status: 400, id: 7 });
    const batch = await door.ask(sessionPost(session, `[{"jsonrpc":"2.0","id":8,"method":"ping"}, ${twice}]`));
    expect({ status: batch.status, says: batch.body }).toEqual({
      status: 400,
      says: expect.stringContaining("/1/method is there twice") as unknown,
    });
  });

  test("duplicate members inside of arguments are left to the tool", async () => {
    await using door = await open(shop());
    const text = 'a "name": \\"name\\" and {\\"method\\":1}';
    const asked = statelessCall("echo", { text, deep: { name: "method", method: "name" } });
    expect(textOf((await door.ask(asked)).body)).toBe(text);
    const deep = { ...asked, body: String(asked.body).replace('"deep":{', '"deep":{"name":1,') };
    expect(deep.body).not.toBe(asked.body);
    expect(textOf((await door.ask(deep)).body)).toBe(text);
  });
});

test("A14: plain JSON-RPC on HTTP refuses them too", async () => {
  const handler = rpcHandler(createService().method("ping", () => "pong").call);
  const post = (body: string): Promise<Response> =>
    handler(
      new Request("http://localhost/", {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json" },
        body,
      }),
    );
  expect((await post('{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(200);
  const refused = await post('{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}');
  expect({ status: refused.status, body: await refused.json() }).toMatchObject({
    status: 400,
    body: { id: 1, error: { code: -32_600 } },
  });
});

describe("A14: the search", () => {
  test.each([
    ['{"a":1,"b":{"a":1},"c":[{"a":1,"a":2}]}', undefined],
    ['{"a":"\\"a\\":","b":"}"}', undefined],
    [' { "a" : [ 1 , "]" ] , "a" : null } ', "/a"],
    ['{"a/b~c":1,"a\\/b~c":2}', "/a~1b~0c"],
    ['{"\\ud83d\\ude00":1,"😀":2}', "/😀"],
    ['{"__proto__":1,"__proto__":2}', "/__proto__"],
    ['{"":1,"":2}', "/"],
    ['{"params":{"_meta":{"x":{},"x":1}}}', "/params/_meta/x"],
    ['{"params":[{"a":1,"a":2}],"result":{"a":1,"a":2}}', undefined],
    ['{"params":{"constructor":{"a":1,"a":2},"toString":{"a":1,"a":2}}}', undefined],
    ['[1,[],{},{"a":{}}, {"a":1,"a":1}]', "/4/a"],
    ["[]", undefined],
    ["{}", undefined],
    ["7", undefined],
  ])("in %s finds %s", (text, found) => {
    expect(duplicateMemberIn(text)).toBe(found);
  });
});

test("A14: where one program alone reads a frame, the last one counts", async () => {
  const [near, far] = memoryChannels();
  openConnection(near, { handle: createService().method("last", () => "last").call });
  await using peer = rawPeer(far);
  peer.send('{"jsonrpc":"2.0","id":1,"id":2,"method":"first","method":"last"}');
  expect(await peer.next()).toBe('{"jsonrpc":"2.0","id":2,"result":"last"}');
});
