import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { inForm } from "../../../testing/forms.js";
import { request } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { type Asked, sessionPost, statelessPost, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { site } from "../site.js";
import type { Wire } from "../wire.js";

const clients = inForm({ long: 64, short: 16 });
const calls = inForm({ long: 1_000, short: 100 });

/** Tells what it was told, twice, after a while that differs from call to call. */
function parrot(): Server {
  const server = createServer({ name: "parrot", version: "1" });
  const inputSchema = { type: "object", properties: { word: { type: "string" } } } as const;
  let seed = 1;
  server.tool("say", { inputSchema }, async ({ word }, context) => {
    seed = (seed * 48_271) % 2_147_483_647;
    for (let turns = seed % 4; turns > 0; turns -= 1) await turn();
    void context.progress(1, 2, `${word}`);
    if (seed % 3 === 0) await turn();
    return `${word}`;
  });
  return server;
}

interface Say {
  readonly name: string;
  readonly arguments: object;
  readonly _meta: object;
}

/** Calls that are under way on one connection. */
const atOnce = 20;

/** Makes all calls of one client; everything that came back, without what HTTP says around it. */
async function callAll(wire: Wire, ask: (id: number, params: Say) => Asked, name: string): Promise<string> {
  let heard = "";
  for (let first = 1; first <= calls; first += atOnce) {
    const some = Array.from({ length: atOnce }, (_none, index) => {
      const id = first + index;
      return written(ask(id, { name: "say", arguments: { word: `${name}/${id}` }, _meta: { progressToken: id } }));
    });
    wire.write(Buffer.concat(some));
    heard += await wire.bytes(atOnce, "\r\n0\r\n\r\n");
  }
  return heard;
}

/** Messages that one client received and that are not its own, or not in order. */
function foreign(name: string, heard: string): readonly string[] {
  const data = heard.match(/(?<=^data: )\{.*/gm) ?? [];
  const expected = Array.from({ length: calls }, (_none, index) => {
    const word = `${name}/${index + 1}`;
    const token = `"progressToken":${index + 1},"progress":1,"total":2,"message":"${word}"`;
    return [
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{${token}}}`,
      `{"jsonrpc":"2.0","id":${index + 1},"result":{"content":[{"type":"text","text":"${word}"}]`,
    ];
  }).flat();
  const found = data.filter((message, index) => !message.startsWith(expected[index] ?? "nothing"));
  return data.length === expected.length ? found : [...found, `${name} has heard ${data.length} messages`];
}

const names = Array.from({ length: clients }, (_none, index) => `client-${index}`);
describe("of many clients with the same ids, each gets its own responses and notifications", () => {
  test("in the stateless era", async () => {
    await using at = await site(parrot());
    const found = names.map(async (name) => {
      using wire = await at.open();
      const heard = await callAll(
        wire,
        (id, params) => {
          const { _meta: meta, ...rest } = params;
          return statelessPost("tools/call", rest, {}, { id, meta });
        },
        name,
      );
      return foreign(name, heard);
    });
    expect((await Promise.all(found)).flat()).toEqual([]);
  });

  test("in sessions", async () => {
    await using at = await site(parrot());
    const found = names.map(async (name) => {
      const session = await openSession(at);
      using wire = await at.open();
      const heard = await callAll(wire, (id, params) => sessionPost(session, request(id, "tools/call", params)), name);
      return foreign(name, heard);
    });
    expect((await Promise.all(found)).flat()).toEqual([]);
  });
});
