import type { EventStore } from "@parlance/mcp/http";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { MemoryEventStore } from "../../../../packages/mcp/src/http/server/streams/event-store.js";
import { sessionGet, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { gist, obey, obeying, rest } from "../obeying.js";
import { type Site, site, until } from "../site.js";
import type { StreamEvent, Wire } from "../wire.js";

/** A store elsewhere, which answers when a test says so. */
class SlowStore implements EventStore {
  readonly #memory = new MemoryEventStore(createFakeClock());
  /** Those who wait for events: give them what was kept when they asked, what is kept now, nothing, or a failure. */
  readonly waiting: ((how: "asked" | "now" | "none" | "fail") => void)[] = [];

  append(...args: Parameters<EventStore["append"]>): void {
    this.#memory.append(...args);
  }

  after(...args: Parameters<EventStore["after"]>): Promise<readonly { sequence: number; frame: string }[] | undefined> {
    const found = this.#memory.after(...args);
    return new Promise((resolve, reject) => {
      this.waiting.push((how) => {
        if (how === "fail") reject(new Error("the store is away"));
        else if (how === "now") resolve(this.#memory.after(...args));
        else resolve(how === "asked" ? found : undefined);
      });
    });
  }

  forget(session: string): void {
    this.#memory.forget(session);
  }
}

interface Scene extends AsyncDisposable {
  readonly at: Site;
  readonly store: SlowStore;
  /** The reader that the call has had from its beginning. */
  readonly first: Wire;
  tell(...steps: readonly string[]): void;
  /** Asks for what came behind "begins", and waits until the store is asked for it. */
  comeBack(): Promise<Wire>;
}

async function scene(): Promise<Scene> {
  const { server, calls } = obeying();
  const store = new SlowStore();
  const at = await site(server, { sessions: { eventStore: store } });
  const session = await openSession(at);
  const first = await at.open();
  first.write(obey(session, "call"));
  await until(() => calls.has("call"));
  const tell = (...steps: readonly string[]): void => calls.get("call")?.(...steps);
  tell("begins", "goes on");
  await first.head();
  let begins: StreamEvent | undefined;
  while (begins === undefined || begins.data === "") begins = await first.event();
  expect(gist(await first.message())).toBe("goes on");
  const opened: Wire[] = [first];
  return {
    at,
    store,
    first,
    tell,
    async comeBack() {
      const wire = await at.open();
      opened.push(wire);
      const before = store.waiting.length;
      wire.write(written(sessionGet(session, { "last-event-id": begins.id })));
      await until(() => store.waiting.length > before);
      return wire;
    },
    async [Symbol.asyncDispose]() {
      for (const wire of opened) wire[Symbol.dispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

test.each(["asked", "now"] as const)(
  "what is told while the store looks is told once, whether it finds it or not: %s",
  async (how) => {
    await using on = await scene();
    const second = await on.comeBack();
    on.tell("meanwhile");
    on.store.waiting[0]?.(how);
    expect((await second.head()).status).toBe(200);
    on.tell("later", "end");
    expect(await rest(second)).toEqual(["goes on", "meanwhile", "later", "call has ended"]);
    expect(await rest(on.first)).toEqual([]);
  },
);

test.each([
  ["finds nothing", "none", 400],
  ["fails", "fail", 500],
] as const)("the reader that is there misses nothing when the store %s", async (_name, how, status) => {
  await using on = await scene();
  const second = await on.comeBack();
  on.tell("meanwhile", "end");
  on.store.waiting[0]?.(how);
  expect((await second.answer()).status).toBe(status);
  expect(await rest(on.first)).toEqual(["meanwhile", "call has ended"]);
});

test("of two that come back at once the later one gets everything", async () => {
  await using on = await scene();
  const second = await on.comeBack();
  on.tell("meanwhile");
  const third = await on.comeBack();
  on.store.waiting[0]?.("asked");
  await second.head();
  on.tell("later");
  on.store.waiting[1]?.("asked");
  await third.head();
  on.tell("end");
  expect(await rest(third)).toEqual(["goes on", "meanwhile", "later", "call has ended"]);
  expect(await rest(second)).not.toContain("call has ended");
});
