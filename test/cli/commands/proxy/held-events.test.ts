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

/** What is forwarded with a breakpoint set: the events that were held, and all bytes. */
async function held(chunks: readonly Uint8Array[]): Promise<{ readonly events: number; readonly text: string }> {
  let events = 0;
  const written: Buffer[] = [];
  const to = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void written.push(chunk)) });
  const fateOf: EventHandling["fateOf"] = () => {
    events += 1;
    return Promise.resolve({ did: "send" });
  };
  await forwardEvents(Readable.from(chunks), to, { ...open, isActive: () => true, fateOf });
  to.end();
  await once(to, "finish");
  return { events, text: Buffer.concat(written).toString() };
}

test.each(["\n", "\r", "\r\n"])(
  "held events are found however their bytes are cut, with the line break %j",
  async (end) => {
    const text = [": comment", "", "data: 1", "id: 7", "", "data: 2", "data: 3", "", "", "data: 4", "", "rest"].join(
      end,
    );
    for (const length of [1, 2, 3, 5, 8, 100]) {
      const chunks = Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
        Buffer.from(text.slice(index * length, (index + 1) * length)),
      );
      expect(await held(chunks), `${length}`).toEqual({ events: 3, text });
    }
  },
);

// Bytes that are looked at or copied again with each chunk would be half a terabyte here.
test("an event of 4 MiB that comes in tiny chunks is looked at once", async () => {
  const chunks = Array.from({ length: 4 * 65_536 - 16 }, () => Buffer.from("data: 123456789\n"));
  const { events, text } = await held([...chunks, Buffer.from("\n")]);
  expect(events).toBe(1);
  expect(text).toHaveLength(16 * chunks.length + 1);
});
