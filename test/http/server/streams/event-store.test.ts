import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import {
  MemoryEventStore,
  type MemoryEventStoreOptions,
} from "../../../../packages/mcp/src/http/server/streams/event-store.js";
import { heap } from "../heap.js";

function storeWith(options: MemoryEventStoreOptions = {}) {
  const clock = createFakeClock();
  return { clock, store: new MemoryEventStore(clock, options) };
}

const name = (stream: number | string, session = "s") => ({ session, stream: `${stream}` });
const kilobyte = "x".repeat(512);

/** The places of the events that are kept of a stream; undefined for none. */
function kept(store: MemoryEventStore, stream: number | string, session = "s"): readonly number[] | undefined {
  for (let from = 0; from < 100; from += 1) {
    const events = store.after(name(stream, session), from);
    if (events !== undefined) return events.map(({ sequence }) => sequence);
  }
  return undefined;
}

test("events of one stream are kept up to a number, then up to their size; the oldest go first", () => {
  const { store } = storeWith({ maxEvents: 3 });
  for (let sequence = 1; sequence <= 5; sequence += 1) store.append(name(0), { sequence, frame: "x" });
  expect(store.after(name(0), 1)).toBeUndefined();
  expect(kept(store, 0)).toEqual([3, 4, 5]);
  const { store: small } = storeWith({ maxStreamBytes: 4 * 1_024 });
  for (let sequence = 1; sequence <= 5; sequence += 1) small.append(name(0), { sequence, frame: kilobyte });
  const places = kept(small, 0) ?? [];
  expect(places.at(-1)).toBe(5);
  expect(places.length).toBeLessThan(4);
});

test("what a session keeps pushes out its own oldest; what all keep, that which was written to longest ago", () => {
  const { store } = storeWith({ maxSessionBytes: 4 * 1_024, maxBytes: 16 * 1_024 });
  store.append(name(0, "other"), { sequence: 1, frame: kilobyte });
  for (let stream = 0; stream < 6; stream += 1) store.append(name(stream), { sequence: 1, frame: kilobyte });
  expect(kept(store, 0)).toBeUndefined();
  expect(kept(store, 5)).toEqual([1]);
  expect(kept(store, 0, "other")).toEqual([1]);
  for (let session = 0; session < 16; session += 1) {
    store.append(name(0, `${session}`), { sequence: 1, frame: kilobyte });
  }
  expect(kept(store, 0, "other")).toBeUndefined();
  expect(kept(store, 0, "15")).toEqual([1]);
});

test("events without a message count too", () => {
  const { store } = storeWith({ maxBytes: 64 * 1_024 });
  for (let session = 0; session < 1_000; session += 1) store.append(name(0, `${session}`), { sequence: 1, frame: "" });
  expect(kept(store, 0, "0")).toBeUndefined();
  expect(kept(store, 0, "999")).toEqual([1]);
});

test("a session that is over is forgotten, and counts no more", () => {
  const { store } = storeWith({ maxBytes: 4 * 1_024 });
  store.append(name(0, "first"), { sequence: 1, frame: kilobyte });
  store.append(name(0, "second"), { sequence: 1, frame: kilobyte });
  store.forget("first");
  store.forget("first");
  expect(kept(store, 0, "first")).toBeUndefined();
  expect(kept(store, 0, "second")).toEqual([1]);
});

test("nothing is left of streams that have expired, however many a session had", async () => {
  const { clock, store } = storeWith();
  const before = await heap();
  for (let stream = 0; stream < 60_000; stream += 1) {
    store.append(name(stream), { sequence: 1, frame: "x" });
    clock.advance(1_000);
  }
  expect((await heap()) - before, "bytes that are kept").toBeLessThan(2 * 1024 * 1024);
  expect(kept(store, 59_999)).toEqual([1]);
});
