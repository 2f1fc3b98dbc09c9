import { describe, expect, test } from "vitest";
import { type Frame, initialized, notification, ping, request, success } from "../../testing/frames.js";
import { sessionPost, written } from "./asked.js";
import { doors, openSession } from "./handlers.js";
import { gist, obeyFrame, obeying } from "./obeying.js";
import { shop } from "./shop.js";
import { site, until } from "./site.js";
import type { Answer } from "./wire.js";

const batching = "2025-03-26";

/** Ids and codes of what is answered, in any order. */
function answers({ status, body }: Answer): readonly (readonly [unknown, unknown])[] {
  expect(status).toBe(200);
  const frames = JSON.parse(body) as readonly Frame[];
  return frames
    .map(({ id, error }) => [id, error?.code ?? "ok"] as const)
    .sort((one, other) => `${one}`.localeCompare(`${other}`));
}

const batch = (...frames: readonly string[]): string => `[${frames.join(",")}]`;

describe.each(doors)("a batch on $on", ({ open }) => {
  test("is answered in one: what is right, what is not, and nothing for what needs no answer", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    const posted = batch(
      request(1, "ping"),
      notification("notifications/roots/list_changed"),
      request(2, "acme/none"),
      request(3, "tools/call", { name: "echo", arguments: { text: "hi" } }),
      "1",
      batch(ping),
      success(9, {}),
    );
    expect(answers(await door.ask(sessionPost(session, posted)))).toEqual([
      [undefined, -32_600],
      [undefined, -32_600],
      [1, "ok"],
      [2, -32_601],
      [3, "ok"],
    ]);
  });

  test("without requests is accepted", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    const posted = batch(initialized, success(9, {}), notification("notifications/cancelled", { requestId: 4 }));
    expect(await door.ask(sessionPost(session, posted))).toMatchObject({ status: 202, body: "" });
  });

  test("without any valid message gets an error for each", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    expect(answers(await door.ask(sessionPost(session, "[1,{},null]")))).toEqual([
      [undefined, -32_600],
      [undefined, -32_600],
      [undefined, -32_600],
    ]);
  });

  test("with one id twice answers the first of them", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    const posted = batch(request(1, "ping"), request(1, "ping"), request("1", "ping"));
    expect(answers(await door.ask(sessionPost(session, posted)))).toEqual([
      [1, -32_600],
      [1, "ok"],
      ["1", "ok"],
    ]);
  });

  test("of 100 is taken", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    const posted = batch(...Array.from({ length: 100 }, (_none, id) => request(id, "ping")));
    expect(answers(await door.ask(sessionPost(session, posted)))).toHaveLength(100);
  });

  test("with initialize in it opens the conversation of its session anew", async () => {
    await using door = await open(shop());
    const session = await openSession(door, batching);
    const params = { protocolVersion: batching, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const posted = batch(request(1, "initialize", params), request(2, "ping"));
    expect(answers(await door.ask(sessionPost(session, posted)))).toEqual([
      [1, "ok"],
      [2, "ok"],
    ]);
  });
});

describe("a batch whose requests take their time", () => {
  test("is one stream: notifications, and then all responses in one message", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at, batching);
    using wire = await at.open();
    wire.write(written(sessionPost(session, batch(obeyFrame("one", 1), obeyFrame("two", 2), request(3, "ping")))));
    await until(() => calls.size === 2);
    calls.get("two")?.("2a", "end");
    calls.get("one")?.("1a");
    await wire.head();
    expect([gist(await wire.message()), gist(await wire.message())]).toEqual(["2a", "1a"]);
    // Another with one of its ids is refused whole, and none of it runs.
    const other = await at.ask(sessionPost(session, batch(request(2, "ping"), obeyFrame("three", 4))));
    expect(other.status).toBe(400);
    expect(calls.has("three")).toBe(false);
    calls.get("one")?.("end");
    const [answered = "", ...more] = await wire.messages();
    expect(more).toEqual([]);
    expect((JSON.parse(answered) as readonly Frame[]).map(({ id }) => id).sort()).toEqual([1, 2, 3]);
  });

  test("is answered for those that were not cancelled", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at, batching);
    using wire = await at.open();
    wire.write(written(sessionPost(session, batch(obeyFrame("one", 1), obeyFrame("two", 2)))));
    await until(() => calls.size === 2);
    await at.ask(sessionPost(session, notification("notifications/cancelled", { requestId: 1 })));
    calls.get("two")?.("end");
    expect(answers(await wire.answer())).toEqual([[2, "ok"]]);
  });

  test("that were all cancelled ends without an answer", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at, batching);
    using wire = await at.open();
    wire.write(written(sessionPost(session, batch(obeyFrame("one", 1), obeyFrame("two", 2)))));
    await until(() => calls.size === 2);
    for (const requestId of [1, 2])
      await at.ask(sessionPost(session, notification("notifications/cancelled", { requestId })));
    expect((await wire.head()).status).toBe(200);
    expect(await wire.messages()).toEqual([]);
  });
});
