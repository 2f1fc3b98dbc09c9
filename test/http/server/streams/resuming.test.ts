import { describe, expect, test } from "vitest";
import { parse, request } from "../../../testing/frames.js";
import { type AskedHeaders, sessionGet, sessionPost, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { gist, obey, obeying, read, rest } from "../obeying.js";
import { type Site, site, until } from "../site.js";
import type { StreamEvent, Wire } from "../wire.js";

const last = (event: StreamEvent | undefined): AskedHeaders => ({ "last-event-id": event?.id });

/** Events up to that message. */
async function readTo(wire: Wire, message: string): Promise<StreamEvent> {
  for (;;) {
    const event = await readToMessage(wire);
    if (gist(event.data) === message) return event;
  }
}

async function readToMessage(wire: Wire): Promise<StreamEvent> {
  for (;;) {
    const event = await wire.event();
    if (event === undefined) throw new Error("the stream has ended");
    if (event.data !== "") return event;
  }
}

function uriOf({ data }: StreamEvent): string {
  return String(parse(data).params?.uri);
}

describe("a reader that comes back", () => {
  test.each(["2025-03-26", "2025-06-18", "2025-11-25"])(
    "gets the rest of an answer, once and in order, in %s",
    async (version) => {
      const { server, calls } = obeying();
      await using at = await site(server);
      const session = await openSession(at, version);
      using caller = await at.open();
      caller.write(obey(session, "call"));
      await until(() => calls.has("call"));
      const tell = calls.get("call");
      tell?.("1", "2");
      await caller.head();
      const seen = await readTo(caller, "1");
      caller.cut();
      tell?.("3");
      using second = await read(at, session, last(seen));
      const again = await readTo(second, "3");
      tell?.("4");
      second.cut();
      tell?.("5");
      using third = await read(at, session, last(again));
      tell?.("6", "end");
      expect(await rest(third)).toEqual(["4", "5", "6", "call has ended"]);
      using fourth = await read(at, session, last(again));
      expect(await rest(fourth)).toEqual(["4", "5", "6", "call has ended"]);
    },
  );

  test("gets what the stream of its session told meanwhile, all of it, once and in order, wherever it was cut", async () => {
    const { server } = obeying();
    server.resourceTemplate("n:{x}", {}, () => "");
    await using at = await site(server);
    const session = await openSession(at);
    const uris = Array.from({ length: 60 }, (_none, index) => `n:${index}`);
    for (const uri of uris) await at.ask(sessionPost(session, request(uri, "resources/subscribe", { uri })));
    const heard: string[] = [];
    const untold = [...uris];
    let from: StreamEvent | undefined;
    for (let cut = 0; heard.length < uris.length; cut += 1) {
      using reader = await read(at, session, last(from));
      for (const uri of untold.splice(0, 4)) server.changed.resource(uri);
      for (let events = 1 + (cut % 5); events > 0 && heard.length < uris.length - untold.length; events -= 1) {
        from = await readToMessage(reader);
        heard.push(uriOf(from));
      }
      reader.cut();
      if (cut % 3 === 0) for (const uri of untold.splice(0, 2)) server.changed.resource(uri);
    }
    expect(heard).toEqual(uris);
  });

  test("replaces the one that it was: that one ends, and nothing goes to both", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    using caller = await at.open();
    caller.write(obey(session, "call"));
    await until(() => calls.has("call"));
    calls.get("call")?.("1");
    await caller.head();
    const seen = await readTo(caller, "1");
    using second = await read(at, session, last(seen));
    calls.get("call")?.("2", "end");
    expect(await rest(caller)).toEqual([]);
    expect(await rest(second)).toEqual(["2", "call has ended"]);
  });

  test("receives nothing of another stream, and nothing of another session", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    const other = await openSession(at);
    const seen: StreamEvent[] = [];
    for (const as of ["one", "two"]) {
      using wire = await at.open();
      wire.write(obey(session, as, seen.length));
      await until(() => calls.has(as));
      calls.get(as)?.(`${as} begins`, `${as} goes on`, "end");
      await wire.head();
      seen.push(await readTo(wire, `${as} begins`));
    }
    for (const [index, as] of ["one", "two"].entries()) {
      using wire = await read(at, session, last(seen[index]));
      expect(await rest(wire)).toEqual([`${as} goes on`, `${as} has ended`]);
      const stranger = await at.ask(sessionGet(other, last(seen[index])));
      expect(stranger.status).toBe(400);
    }
  });
});

describe("what is kept for a reader that comes back has bounds:", () => {
  /** A call that has told so many things. The first event of it, and the name of its session. */
  async function longCall(at: Site, tell: (steps: readonly string[]) => void): Promise<readonly [string, StreamEvent]> {
    const session = await openSession(at);
    using wire = await at.open();
    wire.write(obey(session, "call"));
    await until(() => at.running.has("obey"));
    tell(["begins"]);
    await wire.head();
    const seen = await readTo(wire, "begins");
    return [session, seen];
  }

  test.each([
    ["a thousand events", 999, 200],
    ["more than that", 1_000, 400],
  ])("%s", async (_name, count, status) => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const tell = (steps: readonly string[]): void => calls.get("call")?.(...steps);
    const [session, seen] = await longCall(at, tell);
    tell([...Array<string>(count).fill("x"), "end"]);
    await until(() => !at.running.has("obey"));
    const wire = await at.open();
    wire.write(written(sessionGet(session, last(seen))));
    const { status: found } = await wire.head();
    expect(found).toBe(status);
    if (status === 200) expect(await rest(wire)).toHaveLength(count + 1);
    else expect(await wire.body()).toContain("no longer stored");
    wire[Symbol.dispose]();
  });

  test("five minutes", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const [session, seen] = await longCall(at, (steps) => calls.get("call")?.(...steps, "end"));
    at.clock.advance(299_999);
    using wire = await read(at, session, last(seen));
    expect(await rest(wire)).toEqual(["call has ended"]);
    at.clock.advance(1);
    expect((await at.ask(sessionGet(session, last(seen)))).status).toBe(400);
  });

  test("32 answers that have ended; the oldest goes first", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    const seen: StreamEvent[] = [];
    for (let call = 0; call < 34; call += 1) {
      using wire = await at.open();
      wire.write(obey(session, `${call}`));
      await until(() => calls.has(`${call}`));
      calls.get(`${call}`)?.("begins", "end");
      await wire.head();
      seen.push(await readTo(wire, "begins"));
    }
    const statuses = [];
    for (const event of seen) {
      using wire = await at.open();
      wire.write(written(sessionGet(session, last(event))));
      statuses.push((await wire.head()).status);
    }
    expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(3);
    expect(statuses.slice(-31)).toEqual(Array(31).fill(200));
    expect(statuses[0]).toBe(400);
  });

  test("none at all, where nothing is to be kept: events have no ids, and a stream that is lost is lost", async () => {
    const { server, calls } = obeying();
    await using at = await site(server, { sessions: { eventStore: false } });
    const session = await openSession(at);
    using wire = await at.open();
    wire.write(obey(session, "call"));
    await until(() => calls.has("call"));
    calls.get("call")?.("1", "release", "2", "end");
    await wire.head();
    const event = await wire.event();
    expect([event?.id, gist(event?.data ?? "")]).toEqual([undefined, "1"]);
    expect(await rest(wire)).toEqual(["2", "call has ended"]);
    expect((await at.ask(sessionGet(session, { "last-event-id": "1-1" }))).status).toBe(400);
  });
});

describe("a client that polls", () => {
  test("is let go with the time to wait, and comes back for the rest", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    using wire = await at.open();
    wire.write(obey(session, "call"));
    await until(() => calls.has("call"));
    calls.get("call")?.("release");
    await wire.head();
    const primed = await wire.event();
    expect(primed).toMatchObject({ id: expect.stringMatching(/./) as unknown, data: "" });
    expect(await wire.event()).toMatchObject({ retry: "500", data: "" });
    expect(await wire.event()).toBeUndefined();
    calls.get("call")?.("while it waits");
    using second = await read(at, session, last(primed));
    const told = await readTo(second, "while it waits");
    calls.get("call")?.("release", "while it waits again", "end");
    expect(await rest(second)).toEqual([]);
    using third = await read(at, session, last(told));
    expect(await rest(third)).toEqual(["while it waits again", "call has ended"]);
  });

  test.each(["2025-03-26", "2025-06-18"])("is none in %s, and is not let go", async (version) => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at, version);
    using wire = await at.open();
    wire.write(obey(session, "call"));
    await until(() => calls.has("call"));
    calls.get("call")?.("release", "1", "end");
    await wire.head();
    expect(await wire.body()).not.toContain("retry");
  });
});
