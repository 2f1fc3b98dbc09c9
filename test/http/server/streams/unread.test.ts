import type { Report } from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { ByteBudget } from "../../../../packages/mcp/src/base/byte-budget.js";
import { SessionChannel } from "../../../../packages/mcp/src/http/server/sessions/session-channel.js";
import type { StoredEvent } from "../../../../packages/mcp/src/http/server/streams/event-store.js";
import { EventStream, KeepAlive } from "../../../../packages/mcp/src/http/server/streams/event-stream.js";
import { ReplayableStreams } from "../../../../packages/mcp/src/http/server/streams/replayable-stream.js";
import { peerSettings } from "../../../../packages/mcp/src/jsonrpc/peer-settings.js";

const clock = createFakeClock();
const streams = { clock, maxQueuedBytes: 1024, stallTimeout: 1_000, report: () => undefined };
const frame = '{"jsonrpc":"2.0","method":"notifications/message"}';

test("unread messages wait for a reader up to a limit, and lost ones are reported", () => {
  const lost: Report[] = [];
  const report = (each: Report): void => void lost.push(each);
  const endpoint = {
    server: createServer({ name: "unread", version: "1.0.0" }),
    settings: peerSettings({ report, clock }),
    streams,
    keepAlive: new KeepAlive(clock, 15_000),
    authorization: undefined,
    closing: new AbortController().signal,
  };
  const budget = new ByteBudget(Number.POSITIVE_INFINITY);
  const none = new ReplayableStreams("s", undefined, budget, report);
  const channel = new SessionChannel(endpoint, none, budget, () => undefined);
  for (let sent = 0; sent < 1_002; sent += 1) channel.send(frame);
  const dropped = {
    kind: "fault",
    error: { message: expect.stringContaining("was dropped: too many messages are queued") },
  };
  expect(lost).toMatchObject([dropped, dropped]);
});

test("a reader that waits too long for the store is sent away, and misses nothing when it comes back", async () => {
  const stored: StoredEvent[] = [];
  const answers: ((events: readonly StoredEvent[]) => void)[] = [];
  const store = {
    append: (_name: object, event: StoredEvent) => void stored.push(event),
    after: () => new Promise<readonly StoredEvent[]>((resolve) => answers.push(resolve)),
    forget: () => undefined,
  };
  const outlet = new ReplayableStreams("s", store, new ByteBudget(Number.POSITIVE_INFINITY), () => undefined).add("1");
  outlet.message(frame);
  const reader = new EventStream(streams, new ByteBudget(Number.POSITIVE_INFINITY));
  const resumed = outlet.resume(reader, 0);
  for (let told = 0; told < 1_500; told += 1) outlet.message(frame);
  answers[0]?.(stored.slice(0, 1));
  await resumed;
  expect(reader.isOpen).toBe(false);
  expect(stored.length).toBe(1_501);
});
