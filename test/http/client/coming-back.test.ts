import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { errorOf, type OpenedClient, open } from "./opened.js";
import { type Asked, event, type PlayedServer, result, stream } from "./played-server.js";
import { playSession } from "./played-session.js";
import { patient, timers } from "./timers.js";

// R16: how often a client comes back for streams that a server ends, whatever the server says and does.

const isGet = ({ method }: Asked): boolean => method === "GET";

/** A session whose server answers every GET in one way, and a client of it on a clock. */
async function opened(answer: (asked: Asked) => unknown) {
  const clock = createFakeClock();
  const server = await playSession({ first: (asked) => isGet(asked) && answer(asked) !== false });
  const client = await open(server, { clock, ...patient, random: () => 0 });
  while (!server.asked.some(isGet)) await new Promise(setImmediate); // What comes before it has a timer too.
  return { clock, server, client, [Symbol.asyncDispose]: () => end(server, client) };
}

async function end(server: PlayedServer, client: OpenedClient): Promise<void> {
  await client[Symbol.asyncDispose]();
  await server.close();
}

/** Lets so much time pass, and gives the times at which the server was asked for a stream. */
async function timesWithin(clock: FakeClock, milliseconds: number, server: PlayedServer): Promise<readonly number[]> {
  const times: number[] = [];
  for (const until = clock.now() + milliseconds; clock.now() < until; clock.advance(50)) {
    await timers(clock, 1);
    const count = server.asked.filter(isGet).length;
    while (times.length < count) times.push(clock.now());
  }
  return times;
}

describe("a client comes back for the stream of its session", () => {
  test("a few times after the delay of the server, and then once a second", async () => {
    let events = 0;
    await using session = await opened((asked) => {
      events += 1;
      stream(asked).end(`id: ${events}\nretry: 0\n${event({ jsonrpc: "2.0", method: "notifications/message" })}`);
    });
    const times = await timesWithin(session.clock, 60_000, session.server);
    expect(times.slice(0, 9)).toEqual([0, 250, 500, 750, 1_000, 1_250, 1_500, 2_250, 3_250]);
    expect(times.length).toBeLessThan(67);
    expect(times.length).toBeGreaterThan(60);
  });

  test("more and more seldom where nothing comes of it", async () => {
    await using session = await opened((asked) => stream(asked).end("retry: 0\n\n"));
    const times = await timesWithin(session.clock, 600_000, session.server);
    expect(times.slice(0, 7)).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 15_750]);
    expect(times.length).toBeLessThan(20);
  });

  test("after a minute, if the server asks for a longer delay", async () => {
    await using session = await opened((asked) => stream(asked).end("retry: 86400000\ndata:\n\n"));
    expect(await timesWithin(session.clock, 130_000, session.server)).toEqual([0, 60_000, 120_000]);
  });

  test("after a second, where something on the way ends streams that are silent", async () => {
    const clock = createFakeClock();
    await using server = await playSession({ listens: true });
    await using client = await open(server, { clock, ...patient, random: () => 0 });
    for (let times = 0; times < 8; times += 1) {
      const asked = await server.next();
      const silent = stream(asked);
      await new Promise((resolve) => silent.write(":\n\n", resolve));
      // Messages after the stream arrive after it, because the client is reading.
      const ping = client.client.ping();
      result(await server.next(), {});
      await ping;
      clock.advance(30_000);
      silent.end();
      await timers(clock, 1);
      clock.advance(1_000);
    }
    await server.next();
  });

  test.each<readonly [what: string, answer: (asked: Asked) => unknown, report: string]>([
    ["lets it in", ({ response }) => response.writeHead(401).end(), "401"],
    ["sends it elsewhere", ({ response }) => response.writeHead(307, { location: "//a.example/" }).end(), "redirects"],
    ["sends it in a circle", ({ response, path }) => response.writeHead(307, { location: path }).end(), "redirects"],
    ["answers with something else", ({ response }) => response.writeHead(200).end(), "200"],
  ])("never again where the server no longer %s", async (_what, answer, report) => {
    let isFirst = true;
    await using session = await opened((asked) => {
      if (!isFirst) return answer(asked);
      isFirst = false;
      return stream(asked).end("data:\n\n");
    });
    await timers(session.clock, 1);
    session.clock.advance(1_000);
    while (session.client.reports.length === 0) await new Promise(setImmediate);
    expect(session.client.reports).toEqual([expect.stringContaining(report)]);
    expect(session.clock.armed).toBe(0);
  });
});

describe("an answer that breaks off", () => {
  test.each([
    ["has no id", "data:\n\n"],
    ["has taken its id back", "id: 1\ndata:\n\nid\ndata:\n\n"],
    ["has an id that no header holds", "id: \u{e9}\ndata:\n\n"],
    ["has an id that is too long", `id: ${"x".repeat(4_097)}\ndata:\n\n`],
  ])("is lost at once where it %s", async (_what, events) => {
    await using session = await opened(({ response }) => response.writeHead(405).end());
    const { client } = session.client;
    const call = errorOf(client.tools.call("a"));
    stream(await session.server.next()).end(events);
    expect(await call).toMatchObject({
      reason: "closed",
      message: expect.stringMatching(/ended without a JSON-RPC response$/),
    });
    expect(session.server.asked.filter(isGet)).toHaveLength(1);
  });

  test("is asked for once a second, for as long as somebody waits for it", async () => {
    let polls = 0;
    await using session = await opened((asked) => {
      if (asked.headers["last-event-id"] === undefined) return asked.response.writeHead(405).end();
      polls += 1;
      return stream(asked).end(`id: ${polls}\nretry: 0\ndata:\n\n`);
    });
    const { clock, server, client } = session;
    const user = new AbortController();
    const call = errorOf(client.client.tools.call("a", {}, { signal: user.signal }));
    stream(await server.next()).end("id: 0\nretry: 0\ndata:\n\n");
    await timesWithin(clock, 20_000, server);
    expect(polls).toBeGreaterThan(20);
    expect(polls).toBeLessThan(28);
    user.abort();
    expect(await call).toMatchObject({ reason: "cancelled" });
    (await server.next()).response.writeHead(202).end();
    while (clock.armed > 0) await new Promise(setImmediate);
  });
});
