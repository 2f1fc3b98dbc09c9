import { expect, test } from "vitest";
import { inForm } from "../../../testing/forms.js";
import { initialize, ping } from "../../../testing/frames.js";
import { type Asked, sessionPost, statelessCall, statelessPost, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { heap } from "../heap.js";
import { read } from "../obeying.js";
import { shop } from "../shop.js";
import { type Site, site } from "../site.js";

/** Asks the same many times, on a few connections at once; how often each status came. */
async function flood(at: Site, asked: Asked, times: number, atOnce = 100): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {};
  const bytes = Buffer.from(written(asked));
  const lane = async (count: number): Promise<void> => {
    using wire = await at.open();
    for (let left = count; left > 0; left -= atOnce) {
      const some = Math.min(left, atOnce);
      wire.write(Buffer.concat(Array<Buffer>(some).fill(bytes)));
      for (let each = 0; each < some; each += 1) {
        const { status } = await wire.answer();
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
  };
  await Promise.all([1, 2, 3, 4].map(() => lane(times / 4)));
  return statuses;
}

const sessions = inForm({ long: 10_000, short: 500 });

/** All of them come from one address. */
const limits = { peerBytes: Number.POSITIVE_INFINITY };

test("many idle sessions: those used longest ago make room, a session in use is served, and in the end all comes back", async () => {
  await using at = await site(shop(), { sessions: { max: sessions, maxPerAddress: sessions }, limits });
  await flood(at, { body: initialize("2025-11-25") }, sessions / 5);
  at.clock.advance(16 * 60_000);
  const alive = await openSession(at);
  const before = await heap();
  expect(await flood(at, { body: initialize("2025-11-25") }, sessions + 400)).toEqual({ 200: sessions + 400 });
  const used = await openSession(at);
  expect((await at.ask(sessionPost(alive, ping))).status).toBe(404);
  expect(((await heap()) - before) / sessions, "bytes of a session").toBeLessThan(16 * 1024);
  at.clock.advance(14 * 60_000);
  expect((await at.ask(sessionPost(used, ping))).status).toBe(200);
  at.clock.advance(2 * 60_000);
  expect((await at.ask(sessionPost(used, ping))).status).toBe(200);
  expect((await heap()) / before, "of the heap that there was before").toBeLessThan(1.1);
});

test("nothing is kept of refused requests", async () => {
  await using at = await site(shop(), { sessions: { max: 1 }, report: () => undefined });
  using _reader = await read(at, await openSession(at));
  const refused: readonly (readonly [Asked, number])[] = [
    [{ body: initialize("2025-11-25") }, 503],
    [{ body: '{"jsonrpc":"2.0","id":1,"method":"initialize"}' }, 503],
    [{ body: "{" }, 400],
    [statelessCall("echo", { text: "x" }, { "mcp-name": "y" }), 400],
    [statelessPost("acme/none"), 404],
    [statelessCall("echo", { text: "x" }, { host: "evil.com" }), 403],
    [sessionPost("x", ping), 404],
    [{ headers: { "content-type": "text/plain" }, body: ping }, 415],
  ];
  for (const [asked] of refused) await flood(at, asked, inForm({ long: 200, short: 100 }), 1);
  const times = inForm({ long: 800, short: 120 });
  // A leak of a request grows with each round; other work of the process shows in one of them.
  const growth: number[] = [];
  let before = await heap();
  for (let rounds = 0; rounds < 3; rounds += 1) {
    for (const [asked, status] of refused) expect(await flood(at, asked, times, 1)).toEqual({ [status]: times });
    const after = await heap();
    growth.push(after - before);
    before = after;
  }
  expect(Math.min(...growth), "bytes that are kept").toBeLessThan(512 * 1024);
});
