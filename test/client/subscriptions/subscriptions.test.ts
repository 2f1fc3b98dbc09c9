import { handshakeVersions, versions } from "@parlance/mcp";
import { connect, RpcError, type ServerChange, type Subscription } from "@parlance/mcp/client";
import type { Report } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { failure, modern, notification, parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, type Opened, openWith } from "../session/openings.js";

function library(): Server {
  const server = createServer({ name: "library", version: "1" });
  for (const uri of ["book:1", "book:2"]) server.resource(uri, { name: uri }, () => "text");
  server.tool("t", {}, () => "");
  return server;
}

/** Takes `count` changes, and stops reading. */
async function changes(subscription: Subscription, count: number): Promise<readonly ServerChange[]> {
  const taken: ServerChange[] = [];
  for await (const change of subscription) {
    taken.push(change);
    if (taken.length === count) break;
  }
  return taken;
}

describe.each(versions)("in %s, a subscription", (revision) => {
  test("receives a change right after it was opened, over HTTP", async () => {
    const server = library();
    await using http = await serveHttp(server, { port: 0 });
    await using client = await connect(http.url, { revision });
    await using lists = await client.subscribe({ toolsListChanged: true });
    server.tool("late", {}, () => "");
    expect(await changes(lists, 1)).toEqual([{ kind: "list", list: "tools" }]);
    await using book = await client.resources.subscribe("book:1");
    server.changed.resource("book:1");
    expect(await changes(book, 1)).toEqual([{ kind: "resource", uri: "book:1" }]);
  });

  test("receives updates of a resource until it is closed", async () => {
    const server = library();
    await using client = await connect(server, { revision });
    const subscription = await client.resources.subscribe("book:1");
    expect(subscription.filter).toEqual({ resourceSubscriptions: ["book:1"] });
    server.changed.resource("book:2");
    server.changed.resource("book:1");
    expect(await changes(subscription, 1)).toEqual([{ kind: "resource", uri: "book:1" }]);
    await subscription.close();
    expect(await subscription.closed).toEqual({ reason: "closed" });
    server.changed.resource("book:1");
    await turn();
    expect(await changes(subscription, 1)).toEqual([]);
    assertNoLeaks(client.connection);
  });

  test("receives changes of lists, of all lists by default", async () => {
    const server = library();
    await using client = await connect(server, { revision });
    await using subscription = await client.subscribe();
    expect(subscription.filter).toEqual({ toolsListChanged: true, resourcesListChanged: true });
    server.tool("late", {}, () => "");
    expect(await changes(subscription, 1)).toEqual([{ kind: "list", list: "tools" }]);
    server.resource("book:3", { name: "late" }, () => "");
    expect(await changes(subscription, 1)).toEqual([{ kind: "list", list: "resources" }]);
  });

  test("can call a function instead", async () => {
    const server = library();
    const told: ServerChange[] = [];
    await using client = await connect(server, { revision });
    await using _ = await client.resources.subscribe("book:1", { onChange: (change) => void told.push(change) });
    server.changed.resource("book:1");
    await turn();
    await turn();
    expect(told).toEqual([{ kind: "resource", uri: "book:1" }]);
  });

  test("is one of several, each with its own", async () => {
    const server = library();
    await using client = await connect(server, { revision });
    const [one, other, same] = await Promise.all([
      client.resources.subscribe("book:1"),
      client.resources.subscribe("book:2"),
      client.resources.subscribe("book:1"),
    ]);
    server.changed.resource("book:1");
    server.changed.resource("book:2");
    expect(await changes(one, 1)).toEqual([{ kind: "resource", uri: "book:1" }]);
    expect(await changes(other, 1)).toEqual([{ kind: "resource", uri: "book:2" }]);
    expect(await changes(same, 1)).toEqual([{ kind: "resource", uri: "book:1" }]);
    await one.close();
    server.changed.resource("book:1");
    expect(await changes(same, 1)).toEqual([{ kind: "resource", uri: "book:1" }]);
  });

  test("that is not read keeps one entry for each list or resource", async () => {
    const server = library();
    await using client = await connect(server, { revision });
    await using subscription = await client.resources.subscribe("book:1");
    for (let at = 0; at < 5; at += 1) {
      server.changed.resource("book:1");
      await turn();
    }
    await subscription.close();
    expect(await changes(subscription, 2)).toEqual([{ kind: "resource", uri: "book:1" }]);
  });

  test("ends with the session", async () => {
    const client = await connect(library(), { revision });
    const subscription = await client.resources.subscribe("book:1");
    await client.close();
    expect(await subscription.closed).toEqual({ reason: "closed" });
  });

  test("is not opened when it is cancelled before, or the session is closed", async () => {
    const client = await connect(library(), { revision });
    const signal = AbortSignal.abort();
    expect(await errorOf(client.subscribe(undefined, { signal }))).toMatchObject({ reason: "cancelled" });
    await client.close();
    expect(await errorOf(client.subscribe())).toMatchObject({ name: "LocalError", reason: "closed" });
  });

  test.each([
    [Number.NaN, "The options of subscribe: timeout: expected a number, got NaN"],
    [-1, "subscribe: timeout must be 0 ms or more, got -1"],
  ])("is not waited for with a timeout of %s", async (timeout, message) => {
    await using client = await connect(library(), { revision });
    expect(await errorOf(client.subscribe(undefined, { timeout }))).toMatchObject({ message });
  });

  test("to changes that the server does not advertise is refused here", async () => {
    const server = createServer({ name: "plain", version: "1", resourceSubscriptions: false });
    server.resource("a:b", { name: "b" }, () => "");
    await using client = await connect(server, { revision });
    expect(await errorOf(client.resources.subscribe("a:b"))).toMatchObject({
      reason: "refused",
      message:
        "subscribe to resourceSubscriptions: the server has not advertised the capability resources.subscribe; { unadvertised: true } sends it anyway",
    });
    expect(await errorOf(client.subscribe({ promptsListChanged: true }))).toMatchObject({ reason: "refused" });
  });
});

describe("the server of a handshake", () => {
  const capabilities = { resources: { subscribe: true } };

  test.each(handshakeVersions)(
    "subscribes once for several subscribers, and unsubscribes after the last: %s",
    async (version) => {
      await using open = await openWith(version, {}, capabilities);
      const answer = async (method: string): Promise<void> => {
        const asked = parse(await open.peer.next());
        expect(asked).toMatchObject({ method, params: { uri: "a:b" } });
        open.peer.send(success(asked.id ?? "", {}));
      };
      const first = open.client.resources.subscribe("a:b");
      const second = open.client.resources.subscribe("a:b");
      await answer("resources/subscribe");
      const [one, other] = await Promise.all([first, second]);
      await one.close();
      const closing = other.close();
      await answer("resources/unsubscribe");
      await closing;
      const again = open.client.resources.subscribe("a:b");
      await answer("resources/subscribe");
      const third = (await again).close();
      await answer("resources/unsubscribe");
      await third;
    },
  );

  test("that refuses one of several resources notifies of the others", async () => {
    await using open = await openWith("2025-11-25", {}, capabilities);
    const opening = open.client.subscribe({ resourceSubscriptions: ["a:1", "a:2"] });
    for (const uri of ["a:1", "a:2"]) {
      const { id = "" } = parse(await open.peer.next());
      open.peer.send(uri === "a:1" ? failure(id, -32_002, "Resource not found", { uri }) : success(id, {}));
    }
    const subscription = await opening;
    expect(subscription.filter).toEqual({ resourceSubscriptions: ["a:2"] });
    const closing = subscription.close();
    open.peer.send(success(parse(await open.peer.next()).id ?? "", {}));
    await closing;
  });

  test("that refuses all of them has refused", async () => {
    await using open = await openWith("2025-11-25", {}, capabilities);
    const opening = errorOf(open.client.resources.subscribe("a:1"));
    open.peer.send(failure(parse(await open.peer.next()).id ?? "", -32_002, "Resource not found", { uri: "a:1" }));
    expect(await opening).toBeInstanceOf(RpcError);
  });
});

describe("a server that is listened to", () => {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const filter = { toolsListChanged: true, resourceSubscriptions: ["a:b"] };

  /** The server takes the next request to listen. */
  const taken = async ({ peer }: Opened): Promise<string | number> => {
    const { id = "", method } = parse(await peer.next());
    expect(method).toBe("subscriptions/listen");
    return id;
  };
  const about = (id: string | number): object => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } });
  const acknowledge = (open: Opened, id: string | number, notifications: object = filter): void =>
    open.peer.send(notification("notifications/subscriptions/acknowledged", { notifications, ...about(id) }));
  const listening = async (open: Opened): Promise<readonly [Subscription, string | number]> => {
    const opening = open.client.subscribe(filter);
    const id = await taken(open);
    acknowledge(open, id);
    return [await opening, id];
  };
  /** Closes it, and reads the message that ends it. */
  const close = async (open: Opened, subscription: Subscription): Promise<void> => {
    await subscription.close();
    expect(parse(await open.peer.next()).method).toBe("notifications/cancelled");
  };

  test("names the changes that it notifies of, and the client keeps them", async () => {
    const heard: string[] = [];
    await using open = await openWith(modern, { onNotification: (method) => heard.push(method) }, capabilities);
    const opening = open.client.subscribe(filter);
    acknowledge(open, await taken(open), { toolsListChanged: true });
    const subscription = await opening;
    expect(subscription.filter).toEqual({ toolsListChanged: true });
    expect(heard, "of what belongs to no call").toEqual([]);
    await close(open, subscription);
  });

  test("and notifies of nothing is not subscribed to", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const opening = errorOf(open.client.subscribe(filter));
    acknowledge(open, await taken(open), {});
    expect(await opening).toMatchObject({
      reason: "refused",
      message: 'subscribe: the server accepted nothing of the filter: toolsListChanged, "a:b"',
    });
    expect(parse(await open.peer.next()).method).toBe("notifications/cancelled");
  });

  test("may be waited for longer than a timer of the runtime can", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const { armed } = open.clock;
    const opening = open.client.subscribe(filter, { timeout: 2 ** 31 });
    const id = await taken(open);
    expect(open.clock.armed).toBe(armed); // A longer one would fire at once.
    acknowledge(open, id);
    await close(open, await opening);
  });

  test("and never agrees is given up", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const opening = errorOf(open.client.subscribe(filter, { timeout: 500 }));
    await taken(open);
    open.clock.advance(500);
    expect(await opening).toMatchObject({ reason: "timeout" });
    expect(parse(await open.peer.next()).method).toBe("notifications/cancelled");
  });

  test("and does not acknowledge it can be cancelled", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const first = open.client.subscribe(filter);
    const id = await taken(open);
    const abort = new AbortController();
    const second = errorOf(open.client.subscribe(filter, { signal: abort.signal }));
    await turn();
    abort.abort();
    expect(await second).toMatchObject({ name: "LocalError", reason: "cancelled" });
    const third = open.client.subscribe(filter);
    await turn();
    expect(open.sent).toHaveLength(2); // One after the other.
    acknowledge(open, id);
    acknowledge(open, await taken(open));
    await close(open, await first);
    await close(open, await third);
  });

  test("and refuses has refused", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const opening = errorOf(open.client.subscribe(filter));
    open.peer.send(failure(await taken(open), -32_602, "Invalid params"));
    expect(await opening).toBeInstanceOf(RpcError);
  });

  test("notifies each subscriber of its own changes only", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [one, id] = await listening(open);
    const [other, otherId] = await listening(open);
    open.peer.send(notification("notifications/tools/list_changed", about(otherId)));
    open.peer.send(notification("notifications/prompts/list_changed", about(id)));
    open.peer.send(notification("notifications/resources/updated", { uri: "a:c", ...about(id) }));
    open.peer.send(notification("notifications/resources/updated", { uri: "a:b#part", ...about(id) }));
    expect(await changes(one, 1)).toEqual([{ kind: "resource", uri: "a:b#part" }]);
    expect(await changes(other, 1)).toEqual([{ kind: "list", list: "tools" }]);
    await close(open, one);
    await close(open, other);
  });

  test("ends it in order, by its result", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [subscription, id] = await listening(open);
    open.peer.send(success(id, { resultType: "complete", ...about(id) }));
    expect(await subscription.closed).toEqual({ reason: "ended" });
    expect(await changes(subscription, 1)).toEqual([]);
  });

  test("ends it in order, by saying that it ends", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [subscription, id] = await listening(open);
    open.peer.send(notification("notifications/cancelled", { requestId: id }));
    open.peer.send(success(id, { resultType: "complete", ...about(id) }));
    expect(await subscription.closed).toEqual({ reason: "ended" });
  });

  test("drops it, and it is opened again, and says that something may have been missed", async () => {
    await using open = await openWith(modern, { random: () => 0 }, capabilities);
    const [subscription, id] = await listening(open);
    open.peer.send(failure(id, -32_603, "Internal error"));
    await turn();
    open.clock.advance(999);
    await turn();
    expect(open.sent).toHaveLength(2);
    open.clock.advance(1);
    const again = await taken(open);
    expect(again).not.toBe(id);
    acknowledge(open, again);
    expect(await changes(subscription, 1)).toEqual([{ kind: "missed" }]);
    open.peer.send(notification("notifications/tools/list_changed", about(again)));
    expect(await changes(subscription, 1)).toEqual([{ kind: "list", list: "tools" }]);
    await close(open, subscription);
  });

  test("drops it, and the listener for missed changes throws: it goes on, and the error is reported", async () => {
    const reports: Report[] = [];
    const report = (each: Report): void => void reports.push(each);
    await using open = await openWith(modern, { random: () => 0, report }, capabilities);
    const error = new Error("nobody is at home");
    const onChange = (): never => {
      throw error;
    };
    const opening = open.client.subscribe(filter, { onChange });
    const first = await taken(open);
    acknowledge(open, first);
    const subscription = await opening;
    open.peer.send(failure(first, -32_603, "Internal error"));
    await turn();
    open.clock.advance(1_000);
    acknowledge(open, await taken(open));
    await turn();
    expect(reports).toEqual([{ kind: "fault", method: "onChange", error }]);
    await close(open, subscription);
    expect(await subscription.closed).toEqual({ reason: "closed" });
  });

  test.each([[null], [5], ["a:b"], [[7]]])(
    "and agrees to resources that are none tells of no resource: %j",
    async (resourceSubscriptions) => {
      await using open = await openWith(modern, {}, capabilities);
      const opening = open.client.subscribe(filter);
      acknowledge(open, await taken(open), { toolsListChanged: true, promptsListChanged: 1, resourceSubscriptions });
      const subscription = await opening;
      expect(subscription.filter).toEqual({ toolsListChanged: true });
      await close(open, subscription);
    },
  );

  test("writes an invalid id, and its notifications are delivered all the same", async () => {
    const reports: Report[] = [];
    const report = (each: Report): void => void reports.push(each);
    await using open = await openWith(modern, { report }, capabilities);
    const [subscription] = await listening(open);
    const id = { toString: 5 }; // No text can be made of it.
    open.peer.send(notification("notifications/cancelled", { requestId: id }));
    open.peer.send(
      notification("notifications/tools/list_changed", { _meta: { "io.modelcontextprotocol/subscriptionId": id } }),
    );
    expect(await changes(subscription, 1)).toEqual([{ kind: "list", list: "tools" }]);
    expect(reports).toEqual([]);
    await close(open, subscription);
  });

  test("drops it again and again, and is asked less and less often", async () => {
    await using open = await openWith(modern, { random: () => 1 }, capabilities);
    const [subscription, first] = await listening(open);
    open.peer.send(failure(first, -32_603, "Internal error"));
    for (const wait of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      await turn();
      const before = open.sent.length;
      open.clock.advance(wait - 1);
      await turn();
      expect(open.sent).toHaveLength(before);
      open.clock.advance(1);
      open.peer.send(failure(await taken(open), -32_603, "Internal error"));
    }
    await turn();
    await subscription.close();
    expect(open.clock.armed).toBe(0);
  });

  test("drops it for good with an error that asking again would not mend", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [subscription, id] = await listening(open);
    open.peer.send(failure(id, -32_601, "Method not found"));
    expect(await subscription.closed).toMatchObject({ reason: "failed", error: { code: -32_601 } });
    await expect(changes(subscription, 1)).rejects.toMatchObject({ code: -32_601 });
  });

  test("cannot fill the memory of who does not read", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [subscription, id] = await listening(open);
    for (let at = 0; at <= 1_000; at += 1) {
      open.peer.send(notification("notifications/resources/updated", { uri: `a:b/${at}`, ...about(id) }));
    }
    await turn();
    expect(await changes(subscription, 1)).toEqual([{ kind: "missed" }]);
    await close(open, subscription);
  });

  test("and went away while it was to be opened again is not asked any more", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const [subscription, id] = await listening(open);
    open.peer.send(failure(id, -32_603, "Internal error"));
    await turn();
    await open.peer.close();
    expect(await subscription.closed).toEqual({ reason: "closed" });
  });
});
