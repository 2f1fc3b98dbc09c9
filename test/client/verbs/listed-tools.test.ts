import { type Client, connect, LocalError } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { failure, initializeResult, modern, notification, parse, request, success } from "../../testing/frames.js";
import { echoServer, echoTool } from "../../testing/servers.js";
import { play, turn } from "../../testing/talks.js";
import { errorOf, info, openWith } from "../session/openings.js";

const latest = "2025-11-25";
const tool = (name: string): object => ({ name, inputSchema: { type: "object" } });

describe("the list of tools", () => {
  test("is fetched page by page, as it is read", async () => {
    await using open = await openWith(latest);
    const tools = open.client.tools.list()[Symbol.asyncIterator]();
    const first = tools.next();
    expect(await open.peer.next()).toBe('{"jsonrpc":"2.0","id":2,"method":"tools/list"}');
    open.peer.send(success(2, { tools: [tool("a")], nextCursor: "" }));
    expect((await first).value).toMatchObject({ name: "a" });
    const second = tools.next();
    expect(await open.peer.next()).toBe('{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}');
    open.peer.send(success(3, { tools: [tool("b")] }));
    expect((await second).value).toMatchObject({ name: "b" });
    expect((await tools.next()).done).toBe(true);
  });

  test("can be had whole", async () => {
    await using open = await openWith(latest);
    const all = open.client.tools.list().all();
    await open.peer.next();
    open.peer.send(success(2, { tools: [tool("a"), tool("b")], nextCursor: "2" }));
    await open.peer.next();
    open.peer.send(success(3, { tools: [tool("c")], nextCursor: null }));
    expect((await all).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("is not read further than its reader goes", async () => {
    await using open = await openWith(latest);
    const listed = (async () => {
      for await (const { name } of open.client.tools.list()) return name;
      return "none";
    })();
    await open.peer.next();
    open.peer.send(success(2, { tools: [tool("a"), tool("b")], nextCursor: "more" }));
    expect(await listed).toBe("a");
  });

  test("that repeats a cursor ends there", async () => {
    await using open = await openWith(latest);
    const all = open.client.tools.list().all();
    for (const id of [2, 3, 4]) {
      await open.peer.next();
      open.peer.send(success(id, { tools: [tool(`t${id}`)], nextCursor: id === 3 ? "b" : "a" }));
    }
    expect((await all).map(({ name }) => name)).toEqual(["t2", "t3", "t4"]);
  });

  test("of more than 64 pages is endless", async () => {
    await using open = await openWith(latest);
    const all = errorOf(open.client.tools.list().all());
    for (let page = 1; page <= 64; page += 1) {
      const { id = 0 } = parse(await open.peer.next());
      open.peer.send(success(id, { tools: [tool(`t${page}`)], nextCursor: `${page}` }));
    }
    expect(await all).toMatchObject({ reason: "protocol", message: expect.stringContaining("more than 64 pages") });
  });

  test("of more than 10,000 tools is endless", async () => {
    await using open = await openWith(latest);
    const all = errorOf(open.client.tools.list().all());
    await open.peer.next();
    open.peer.send(success(2, { tools: Array.from({ length: 10_000 }, () => tool("t")), nextCursor: "2" }));
    expect(await all).toMatchObject({ reason: "protocol", message: expect.stringContaining("or 10000 items") });
  });

  test("that is an object is invalid", async () => {
    await using open = await openWith(latest);
    const all = errorOf(open.client.tools.list().all());
    await open.peer.next();
    open.peer.send(success(2, { tools: {} }));
    expect(await all).toEqual(
      new LocalError("protocol", "tools/list: the server's answer is invalid: tools must be an array, got an object"),
    );
  });
});

describe("what a server asks of its client", () => {
  test("is answered to ping alone", async () => {
    await using open = await openWith(latest);
    open.peer.send(request(1, "ping"));
    expect(await open.peer.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
    for (const method of ["roots/list", "sampling/createMessage", "elicitation/create", "tools/list", "no/such"]) {
      open.peer.send(request("s", method, {}));
      expect(await open.peer.next()).toBe(failure("s", -32_601, "Method not found", { method }));
    }
  });

  test("may have the id of a call of the client", async () => {
    await using open = await openWith(latest);
    const call = open.client.call("tools/list");
    await open.peer.next();
    open.peer.send(request(2, "ping"));
    expect(await open.peer.next()).toBe(success(2, {}));
    open.peer.send(success(2, { tools: [] }));
    expect(await call).toEqual({ tools: [] });
  });

  test("may come before its answer to initialize, if it is a ping", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock, revision: latest });
    const peer = await played.next();
    await peer.next();
    peer.send(request(7, "ping"));
    expect(await peer.next()).toBe(success(7, {}));
    peer.send(initializeResult(1, latest));
    await peer.next();
    await (await opening).close();
  });
});

describe("the notifications of a server to its client", () => {
  test("goes to the listener, in order, whatever it is", async () => {
    const heard: unknown[] = [];
    await using open = await openWith(latest, {
      onNotification: (method, params) => void heard.push([method, params]),
    });
    open.peer.send(notification("notifications/message", { level: "info", data: "hi" }));
    open.peer.send(notification("notifications/tools/list_changed"));
    open.peer.send(notification("notifications/unheard/of", { a: 1 }));
    await turn();
    expect(heard).toEqual([
      ["notifications/message", { level: "info", data: "hi" }],
      ["notifications/tools/list_changed", undefined],
      ["notifications/unheard/of", { a: 1 }],
    ]);
  });

  test("is dropped without a listener", async () => {
    await using open = await openWith(latest);
    open.peer.send(notification("notifications/message", { level: "info", data: "hi" }));
    open.peer.send('{"jsonrpc":"2.0","method":"notifications/message","params":[1]}');
    await turn();
  });

  test("and is no message at all is reported, and never answered", async () => {
    const reports: string[] = [];
    await using open = await openWith(latest, { report: (each) => void reports.push(describeReport(each)) });
    for (const frame of ["Listening on port 3000", "[]", "1", "{}", '{"jsonrpc":"2.0","id":99,"result":{}}']) {
      open.peer.send(frame);
    }
    await turn();
    expect(reports).toEqual([
      expect.stringContaining('received "Listening on port 3000": a frame must be JSON'),
      expect.stringContaining('received "[]": batches are not part of this protocol revision'),
      expect.stringContaining('received "1": a message must be an object, got a number'),
      'received "{}": jsonrpc must be "2.0", it is missing',
      "received a result to id 99, which no call waits for",
    ]);
  });

  test("may come in arrays in the revision that has them", async () => {
    const heard: string[] = [];
    await using open = await openWith("2025-03-26", { onNotification: (method) => void heard.push(method) });
    const call = open.client.call("tools/list");
    await open.peer.next();
    open.peer.send(`[${notification("notifications/message", { level: "info", data: 1 })},${request(9, "ping")}]`);
    expect(await open.peer.next()).toBe(`[${success(9, {})}]`);
    open.peer.send(`[${success(2, { tools: [] })}]`);
    expect(await call).toEqual({ tools: [] });
    expect(heard).toEqual(["notifications/message"]);
  });
});

describe("the end of a session", () => {
  test("by the client: calls fail, closed has the reason, later calls are refused", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("a"));
    await open.peer.next();
    await open.client.close();
    await open.client.close();
    expect(await call).toEqual(new LocalError("closed", "tools/call (id 2): the connection was closed"));
    expect(await open.client.closed).toEqual({ reason: "closed" });
    expect(await errorOf(open.client.tools.call("a"))).toEqual(
      new LocalError("closed", "tools/call (id 3): the connection is closed"),
    );
  });

  test("by the server", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("a"));
    await open.peer.next();
    await open.peer.close();
    expect(await call).toEqual(new LocalError("closed", "tools/call (id 2): the peer closed the connection"));
    expect(await open.client.closed).toEqual({ reason: "ended" });
  });

  test("by the end of the block that uses the client", async () => {
    const server = echoServer();
    let kept: Client | undefined;
    {
      await using client = await connect(server);
      kept = client;
      expect(await client.tools.call("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    }
    expect(await kept.closed).toEqual({ reason: "closed" });
    assertNoLeaks(kept.connection);
  });

  test("during initialize: nothing is cancelled at the server, the transport is left", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: latest, timeout: 100 }));
    await (await played.next()).next();
    played.clock.advance(100);
    expect(await opening).toMatchObject({ reason: "timeout" });
    expect(played.sent).toHaveLength(1);
  });

  test("during the probe of a server that goes away for good: the error of the handshake", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock }));
    for (const method of ["server/discover", "initialize"]) {
      const peer = await played.next();
      expect(parse(await peer.next()).method).toBe(method);
      await peer.close();
    }
    expect(await opening).toEqual(new LocalError("closed", "initialize (id 1): the peer closed the connection"));
  });
});

describe.each(["2024-11-05", "2025-03-26", "2025-06-18", latest, modern])(
  "a server in the same process, in %s,",
  (revision) => {
    test("is listed and called like any other", async () => {
      await using client = await connect(echoServer(), { revision });
      expect(client.revision).toBe(revision);
      expect(client.server).toEqual({
        info: { name: "echo", version: "1.0.0" },
        capabilities: { logging: {}, tools: { listChanged: true } },
        instructions: undefined,
      });
      expect(await client.tools.list().all()).toEqual([echoTool]);
      expect(await client.tools.call("echo", { text: "hi" })).toMatchObject({
        content: [{ type: "text", text: "hi" }],
      });
      assertNoLeaks(client.connection);
    });
  },
);

test("a server in the same process is spoken to in the newest revision", async () => {
  await using client = await connect(echoServer());
  expect(client.revision).toBe(modern);
});
