import { connect } from "@parlance/mcp/client";
import { legacySseChannel, sessionChannel } from "@parlance/mcp/http";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "./opened.js";
import { event, result, said, stream, success } from "./played-server.js";
import { forgotten, playSession } from "./played-session.js";

describe("a session as a channel", () => {
  test("carries a client, which begins it anew when the server has forgotten it", async () => {
    await using server = await playSession();
    const client = await connect(() => sessionChannel(server.url), { era: "handshake", reopen: true });
    const call = client.tools.call("a");
    forgotten(await server.next());
    const again = await server.next();
    expect(again.headers["mcp-session-id"]).toBe("s2");
    result(again, said("ok"));
    await call;
    assertNoLeaks(client.connection);
    await client.close();
  });

  test("sends a batch as one POST, and takes its answers in any form", async () => {
    await using server = await playSession({ version: "2025-03-26" });
    const { channel, frames, lost } = opened(sessionChannel(server.url));
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    for (const answer of ["array", "stream", "nothing"]) {
      void channel.send(JSON.stringify(batch));
      const asked = await server.next();
      expect(asked.message).toEqual(batch);
      const answers = batch.map(({ id }) => ({ jsonrpc: "2.0", id, result: {} }));
      if (answer === "array") asked.response.writeHead(200, json).end(JSON.stringify(answers));
      else if (answer === "stream") stream(asked).end(answers.map(event).join(""));
      else stream(asked).end(event(answers[0]));
      await asked.over;
    }
    while (lost.length === 0) await new Promise(setImmediate);
    expect(frames.flatMap((frame) => JSON.parse(frame))).toMatchObject([
      { id: 1 },
      { id: 2 },
      { id: 1 },
      { id: 2 },
      { id: 1 },
    ]);
    expect(lost).toEqual([2]);
    await channel.close();
  });

  test.each([sessionChannel, legacySseChannel])("is not made of what is no URL of HTTP: %o", (make) => {
    expect(() => make("ftp://example.com/")).toThrow(TypeError);
    expect(() => make("nowhere")).toThrow(TypeError);
  });
});

const json = { "content-type": "application/json" };

/** A channel, and what it hands over. */
function opened(channel: Channel) {
  const frames: string[] = [];
  const lost: unknown[] = [];
  channel.open({
    frame: (text) => void frames.push(text),
    refuse: () => undefined,
    lost: (id) => void lost.push(id),
    end: () => undefined,
  });
  return { channel, frames, lost };
}

describe("what is too much", () => {
  test("fails its own call, and is not asked for again", async () => {
    await using server = await playSession();
    await using client = await open(server, { limits: { frameBytes: 1_024 } });
    const running = client.client.tools.call("long");
    const long = await server.next();
    const call = errorOf(client.client.tools.call("a"));
    const asked = await server.next();
    stream(asked).write(`id: 1\ndata:\n\ndata: ${"x".repeat(1_025)}\n\n`);
    expect(await call).toMatchObject({ reason: "protocol", message: expect.stringContaining("more than 1024 bytes") });
    await asked.over;
    stream(long).end(event(success(long, said("ok"))));
    await running;
    expect(server.asked.filter(({ headers }) => "last-event-id" in headers)).toEqual([]);
  });

  test("is not read while its receiver is paused", async () => {
    await using server = await playSession();
    const { channel, frames } = opened(sessionChannel(server.url));
    void channel.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`);
    const asked = await server.next();
    const response = stream(asked);
    channel.pause?.();
    const message = { jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(1_000_000) } };
    const count = 64;
    for (let sent = 0; sent < count; sent += 1) response.write(event(message));
    // The sockets buffer some bytes; when nothing moves any more, they are full.
    for (let left = -1; left !== response.writableLength; ) {
      left = response.writableLength;
      for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
    }
    expect(response.writableLength).toBeGreaterThan((count / 2) * 1_000_000);
    expect(frames.length).toBeLessThan(2);
    channel.resume?.();
    response.end(event(success(asked, {})));
    await asked.over;
    while (frames.length <= count) await new Promise(setImmediate);
    await channel.close();
  });
});

test("a fetch is called without `this`, as browsers and workers require", async () => {
  await using server = await playSession();
  const callers: unknown[] = [];
  function fetch(this: unknown, url: URL, init: RequestInit): Promise<Response> {
    callers.push(this);
    return globalThis.fetch(url, init);
  }
  await using _client = await open(server, { fetch, era: "handshake" });
  expect(callers).toEqual(callers.map(() => undefined));
  expect(callers.length).toBeGreaterThan(0);
});
