import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeHandler } from "@parlance/mcp/node";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { request, textOf } from "../../../testing/frames.js";
import { type Asked, sessionGet, sessionPost, statelessCall, written } from "../asked.js";
import { type Door, openSession } from "../handlers.js";
import { shop } from "../shop.js";
import { site, until, watchTools } from "../site.js";
import { Wire } from "../wire.js";

const waiting = "until-cancelled";

/** A server that finds out who calls only when the caller is gone, if that is wanted. */
interface SlowDoor extends Door {
  readonly port: number;
  readonly running: ReadonlySet<string>;
  /** Asks, and leaves while it is found out who asks. */
  leaveEarly(asked: Asked): Promise<void>;
}

async function slowDoor(): Promise<SlowDoor> {
  const clock = createFakeClock();
  const server = shop();
  const running = watchTools(server);
  const held: ServerResponse[] = [];
  let isHeld = false;
  const handler = nodeHandler(server, {
    clock,
    auth: async () => {
      if (isHeld) await once(held.at(-1) as ServerResponse, "close");
      return { principal: "a" };
    },
  });
  const http = createServer((incoming, response) => {
    held.push(response);
    handler(incoming, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return {
    port,
    running,
    async ask(asked) {
      using wire = await Wire.open(port);
      return await wire.ask(written(asked));
    },
    async leaveEarly(asked) {
      isHeld = true;
      const before = held.length;
      const wire = await Wire.open(port);
      wire.write(written(asked));
      await until(() => held.length > before);
      const gone = once(held.at(-1) as ServerResponse, "close");
      wire.cut();
      await gone;
      isHeld = false;
    },
    async [Symbol.asyncDispose]() {
      handler.close();
      http.close();
      http.closeAllConnections();
      await until(() => server.changes.size === 0 && running.size === 0);
      clock.advance(15_000);
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

describe("a client that leaves before anybody knows who it is", () => {
  test("keeps no stream of its session", async () => {
    await using door = await slowDoor();
    const session = await openSession(door);
    await door.leaveEarly(sessionGet(session));
    using reader = await Wire.open(door.port);
    reader.write(written(sessionGet(session)));
    expect((await reader.head()).status).toBe(200);
  });

  test("takes its call of the stateless era with it", async () => {
    await using door = await slowDoor();
    await door.leaveEarly(statelessCall(waiting));
    expect(textOf((await door.ask(statelessCall("echo", { text: "alive" }))).body)).toBe("alive");
    await until(() => door.running.size === 0);
  });
});

describe("a client that leaves", () => {
  test("cancels its call in the stateless era, with or without earlier notifications", async () => {
    await using at = await site();
    using silent = await at.open();
    silent.write(written(statelessCall(waiting)));
    await until(() => at.running.has(waiting));
    silent.cut();
    await until(() => at.running.size === 0);
    using told = await at.open();
    told.write(written(statelessCall(waiting)));
    await until(() => at.running.has(waiting));
    at.clock.advance(15_000);
    at.clock.advance(15_000);
    expect((await told.head()).headers.get("content-type")).toBe("text/event-stream");
    told.cut();
    await until(() => at.running.size === 0);
    expect(at.reports).toEqual([]);
  });

  test("leaves its call in a session running: that is no cancellation there", async () => {
    await using at = await site();
    const session = await openSession(at);
    using wire = await at.open();
    wire.write(written(sessionPost(session, request(1, "tools/call", { name: waiting }))));
    await until(() => at.running.has(waiting));
    wire.cut();
    // The same id is still in flight.
    const again = await at.ask(sessionPost(session, request(1, "ping")));
    expect(again).toMatchObject({ status: 400, body: expect.stringContaining("still in flight") as unknown });
    expect(at.running.has(waiting)).toBe(true);
  });
});
