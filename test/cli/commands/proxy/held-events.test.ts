import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { type EventHandling, forwardEvents } from "../../../../packages/cli/src/commands/proxy/held-events.js";

/** A passage without a breakpoint. */
const open: EventHandling = {
  isActive: () => false,
  chunk: () => undefined,
  fateOf: () => Promise.resolve({ did: "send" }),
  markOf: () => undefined,
  changed: () => undefined,
  rewriter: undefined,
};

const event = Buffer.from(`data: ${"x".repeat(100_000)}\n\n`);

test("an event stream to a slow reader leaves no listeners behind", async () => {
  let most = 0;
  let bytes = 0;
  const to = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      most = Math.max(most, to.listenerCount("close"), to.listenerCount("drain"));
      setImmediate(done);
    },
  });
  await forwardEvents(Readable.from(Array.from({ length: 30 }, () => event)), to, open);
  to.end();
  await once(to, "finish");
  expect(bytes).toBe(30 * event.length);
  expect(most).toBeLessThanOrEqual(1);
});

test("an event stream whose reader has gone away ends, and so does its source", async () => {
  const to = new PassThrough();
  const from = new PassThrough();
  from.write(event);
  const forwarded = forwardEvents(from, to, open);
  await once(to, "readable");
  to.destroy();
  from.write(event);
  await forwarded;
  expect(from.destroyed).toBe(true);
});
