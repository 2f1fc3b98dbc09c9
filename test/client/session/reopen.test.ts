import { handshakeVersions, versions } from "@parlance/mcp";
import { type Client, type ClientOptions, connect, type ServerChange } from "@parlance/mcp/client";
import type { RawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import {
  discoverResult,
  failure,
  initializeResult,
  modern,
  notification,
  parse,
  success,
} from "../../testing/frames.js";
import { dialler, serverProcess, startedProcesses } from "../../testing/processes.js";
import { type Played, play, turn } from "../../testing/talks.js";
import { errorOf, info } from "./openings.js";

const capabilities = { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } };
const done = { resultType: "complete", content: [] };

/** The server answers the next request of the client, which must be this one. */
async function answer(peer: RawPeer, method: string, result: object): Promise<string> {
  const frame = await peer.next();
  expect(parse(frame).method).toBe(method);
  const { id = "" } = parse(frame);
  peer.send(success(id, result));
  return frame;
}

/** The server takes part in an opening in that revision, the first one or a later one. */
async function greet(played: Played, version: string, isFirst = true): Promise<RawPeer> {
  const peer = await played.next();
  if (version !== modern) {
    const { id = "" } = parse(await peer.next());
    peer.send(initializeResult(id, version, capabilities));
    expect(parse(await peer.next()).method).toBe("notifications/initialized");
  } else if (isFirst) {
    const { id = "" } = parse(await peer.next());
    peer.send(discoverResult(id, [modern], capabilities));
  }
  return peer;
}

interface Reopening extends AsyncDisposable {
  readonly client: Client;
  readonly played: Played;
  readonly peer: RawPeer;
}

async function openWith(version: string, options: ClientOptions = {}): Promise<Reopening> {
  const played = play();
  const opening = connect(played.dial, {
    info,
    clock: played.clock,
    revision: version,
    reopen: true,
    random: () => 0,
    ...options,
  });
  const peer = await greet(played, version);
  const client = await opening;
  return {
    client,
    played,
    peer,
    async [Symbol.asyncDispose]() {
      await client.close();
      await played[Symbol.asyncDispose]();
    },
  };
}

describe.each(versions)("in %s, when the server goes away", (version) => {
  test("calls in flight fail, and the next call opens a new session", async () => {
    await using open = await openWith(version);
    const lost = errorOf(open.client.tools.call("t"));
    await open.peer.next();
    await open.peer.close();
    expect(await lost).toMatchObject({ reason: "closed" });
    const calls = Promise.all([open.client.tools.call("t"), open.client.tools.call("t")]);
    const peer = await greet(open.played, version, false);
    await answer(peer, "tools/call", done);
    await answer(peer, "tools/call", done);
    expect(await calls).toEqual([done, done]);
  });

  test("middleware wraps the requests of the new session", async () => {
    await using open = await openWith(version);
    const methods: string[] = [];
    open.client.use((next) => (method, params, options) => {
      methods.push(method);
      return next(method, params, options);
    });
    await open.peer.close();
    const call = open.client.tools.call("t");
    await answer(await greet(open.played, version, false), "tools/call", done);
    await call;
    expect(methods).toEqual(["tools/call"]);
  });

  test("the log goes on as it was asked for", async () => {
    await using open = await openWith(version);
    const set = open.client.setLogLevel("error");
    if (version !== modern) await answer(open.peer, "logging/setLevel", {});
    await set;
    await open.peer.close();
    const call = open.client.tools.call("t");
    const peer = await greet(open.played, version, false);
    const first = version === modern ? "" : await answer(peer, "logging/setLevel", {});
    const called = await answer(peer, "tools/call", done);
    expect(`${first}${called}`).toContain('"error"');
    await call;
  });

  test("a subscription is opened again by itself, and says that something may have been missed", async () => {
    const told: ServerChange[] = [];
    await using open = await openWith(version);
    const opening = open.client.resources.subscribe("a:b", { onChange: (change) => void told.push(change) });
    await agree(open.peer);
    const subscription = await opening;
    await open.peer.close();
    await turn();
    open.played.clock.advance(1_000);
    const peer = await greet(open.played, version, false);
    await agree(peer);
    await turn();
    expect(told).toEqual([{ kind: "missed" }]);
    const closing = subscription.close();
    const ending = parse(await peer.next());
    expect(ending.method).toBe(version === modern ? "notifications/cancelled" : "resources/unsubscribe");
    if (ending.id !== undefined) peer.send(success(ending.id, {}));
    await closing;
  });

  test("and does not come back, each call says why", async () => {
    await using open = await openWith(version);
    await open.peer.close();
    for (const pause of [0, 1_000]) {
      const call = errorOf(open.client.ping({ timeout: 100 }));
      await turn();
      if (pause > 0) open.played.clock.advance(pause); // The second in a row that is short.
      const peer = await open.played.next();
      await peer.next();
      await peer.close();
      expect(await call).toMatchObject({ name: "LocalError", reason: "closed" });
    }
  });

  test("a client that is closed opens nothing any more", async () => {
    const open = await openWith(version);
    await open.peer.close();
    await open.client.close();
    expect(await errorOf(open.client.tools.call("t"))).toMatchObject({ reason: "closed" });
    expect((await open.client.closed).reason).toBe("ended");
    await open.played[Symbol.asyncDispose]();
  });

  test("a client that is closed while it comes back leaves what it waits for", async () => {
    await using open = await openWith(version);
    await open.peer.close();
    const call = errorOf(open.client.tools.call("t"));
    const peer = await open.played.next();
    await peer.next(); // It greets, or calls at once.
    await open.client.close();
    expect(await call).toMatchObject({ name: "LocalError", reason: "closed" });
    expect(open.played.clock.armed).toBe(0);
  });

  test("a call that is not wanted any more does not wait for it to come back", async () => {
    await using open = await openWith(version);
    await open.peer.close();
    const abort = new AbortController();
    const calls = [open.client.tools.call("t", {}, { signal: abort.signal }), open.client.tools.call("t")];
    const [left, stays = Promise.reject(new Error("there is no such call"))] = calls;
    const outcome = errorOf(left ?? Promise.resolve());
    abort.abort();
    expect(await outcome).toMatchObject({ name: "LocalError", reason: "cancelled" });
    const peer = await greet(open.played, version, false);
    await answer(peer, "tools/call", done);
    expect(await stays).toEqual(done);
  });

  test("a client that was not told to come back is over", async () => {
    await using open = await openWith(version, { reopen: false });
    await open.peer.close();
    expect((await open.client.closed).reason).toBe("ended");
    expect(await errorOf(open.client.tools.call("t"))).toMatchObject({ reason: "closed" });
  });
});

/** The server agrees to tell of changes. */
async function agree(peer: RawPeer): Promise<void> {
  const { id = "", method, params } = parse(await peer.next());
  if (method === "resources/subscribe") {
    peer.send(success(id, {}));
    return;
  }
  const agreed = { notifications: params?.notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } };
  peer.send(notification("notifications/subscriptions/acknowledged", agreed));
}

test.each(handshakeVersions)(
  "a server that has changed its revision since is refused, and left: %s",
  async (version) => {
    await using open = await openWith(version);
    await open.peer.close();
    const call = errorOf(open.client.tools.call("t"));
    const peer = await open.played.next();
    const other = handshakeVersions.find((each) => each !== version) ?? "";
    peer.send(initializeResult(parse(await peer.next()).id ?? "", other));
    expect(parse(await peer.next()).method).toBe("notifications/initialized");
    expect(await call).toMatchObject({ reason: "protocol" });
  },
);

test.each(["2025-11-25", modern])(
  "a process that dies is started again, and hears of what changes: %s",
  async (revision) => {
    const program = serverProcess(`
    server.resource("a:b", { name: "b" }, () => String(process.pid));
    server.tool("crash", {}, () => process.exit(3));
    server.tool("touch", {}, () => (server.changed.resource("a:b"), "done"));
  `);
    await using client = await connect(dialler(program), { revision, reopen: true, random: () => 1 });
    const subscription = await client.resources.subscribe("a:b");
    const pid = async (): Promise<unknown> => (await client.resources.read("a:b")).contents[0];
    const before = await pid();
    expect(await errorOf(client.tools.call("crash"))).toMatchObject({ reason: "closed" });
    expect(await pid()).not.toEqual(before);
    expect(startedProcesses()).toBe(2);
    const changes = subscription[Symbol.asyncIterator]();
    expect((await changes.next()).value).toEqual({ kind: "missed" });
    await client.tools.call("touch");
    expect((await changes.next()).value).toEqual({ kind: "resource", uri: "a:b" });
  },
);

test("a server that came back without a log is called all the same", async () => {
  await using open = await openWith("2025-11-25");
  const set = open.client.setLogLevel("error");
  await answer(open.peer, "logging/setLevel", {});
  await set;
  await open.peer.close();
  const call = open.client.tools.call("t");
  const peer = await greet(open.played, "2025-11-25", false);
  const asked = parse(await peer.next());
  expect(asked.method).toBe("logging/setLevel");
  peer.send(failure(asked.id ?? "", -32_601, "Method not found"));
  await answer(peer, "tools/call", done);
  expect(await call).toEqual(done);
});

test("a server that came back is not held to what it listed before, and is asked what it lists now", async () => {
  await using open = await openWith("2025-11-25");
  const tool = { name: "t", inputSchema: { type: "object" } };
  const listing = open.client.tools.list().all();
  await answer(open.peer, "tools/list", { tools: [{ ...tool, outputSchema: { type: "object", required: ["days"] } }] });
  await listing;
  await open.peer.close();
  const call = open.client.tools.call("t");
  const peer = await open.played.next();
  peer.send(initializeResult(parse(await peer.next()).id ?? "", "2025-11-25", capabilities));
  await peer.next();
  await answer(peer, "tools/call", { content: [] });
  expect(await call).toEqual({ content: [] });
  const next = open.client.tools.call("t");
  await answer(peer, "tools/list", { tools: [tool] });
  await answer(peer, "tools/call", { content: [] });
  expect(await next).toEqual({ content: [] });
});
