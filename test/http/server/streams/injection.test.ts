import { createServer, RawJson } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { parse, request, textOf } from "../../../testing/frames.js";
import { sessionPost, statelessPost, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { site, until } from "../site.js";
import type { StreamEvent, Wire } from "../wire.js";

const evil = "x\n\nid: 9-9\nevent: endpoint\ndata: {}\r\rretry: 0\r\n\0\u2028\u2029 \uD800";

async function events(wire: Wire): Promise<readonly StreamEvent[]> {
  const found: StreamEvent[] = [];
  for (let event = await wire.event(); event !== undefined; event = await wire.event()) {
    if (event.data !== "") found.push(event);
  }
  return found;
}

test("whatever a handler says is one event each, and nothing of it is a field", async () => {
  const server = createServer({ name: "evil", version: "1" });
  server.tool("say", {}, (_args, context) => {
    void context.progress(1, 2, evil);
    context.log("error", evil, evil);
    return evil;
  });
  await using at = await site(server);
  const session = await openSession(at);
  const params = { name: "say", arguments: {}, _meta: { progressToken: evil } };
  for (const asked of [
    sessionPost(session, request(evil, "tools/call", params)),
    statelessPost("tools/call", { name: "say", arguments: {} }, {}, { id: evil, meta: { progressToken: evil } }),
  ]) {
    using wire = await at.open();
    wire.write(written(asked));
    await wire.head();
    const found = await events(wire);
    expect(found.map(({ event, retry }) => [event, retry])).toEqual(found.map(() => ["message", undefined]));
    expect(parse(found[0]?.data ?? "").params).toMatchObject({ message: evil, progressToken: evil });
    expect(parse(found.at(-1)?.data ?? "").id).toBe(evil);
    expect(textOf(found.at(-1)?.data ?? "")).toBe(evil);
  }
});

test("JSON that a program made by itself, on several lines, is one event all the same", async () => {
  const server = createServer({ name: "evil", version: "1" });
  let answer: ((value: RawJson) => void) | undefined;
  server.method("acme/raw", () => new Promise<RawJson>((resolve) => (answer = resolve)));
  await using at = await site(server);
  const session = await openSession(at);
  using wire = await at.open();
  wire.write(written(sessionPost(session, request(1, "acme/raw"))));
  await until(() => answer !== undefined);
  at.clock.advance(15_000);
  await wire.head();
  answer?.(new RawJson('{\n"a":1,\r\n"b":[\r2]\n\n}'));
  const found = await events(wire);
  expect(found).toHaveLength(1);
  expect(parse(found[0]?.data ?? "")).toMatchObject({ id: 1, result: { a: 1, b: [2] } });
});
