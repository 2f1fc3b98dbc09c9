import type { ProgressParams } from "@parlance/mcp";
import { LocalError, RpcError } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { claim, failure, modern, notification, request, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, info, openWith } from "../session/openings.js";

const latest = "2025-11-25";
const done = { content: [{ type: "text", text: "done" }] };
const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientInfo": info,
  "io.modelcontextprotocol/clientCapabilities": claim["io.modelcontextprotocol/clientCapabilities"],
};

describe("a call of a tool", () => {
  test("in a session is a name and arguments", async () => {
    await using open = await openWith(latest);
    const call = open.client.tools.call("add", { a: 1 });
    expect(await open.peer.next()).toBe(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}',
    );
    open.peer.send(success(2, done));
    expect(await call).toEqual(done);
  });

  test("without one says what it speaks as well", async () => {
    await using open = await openWith(modern);
    const call = open.client.tools.call("add");
    expect(await open.peer.next()).toBe(request(2, "tools/call", { name: "add", arguments: {}, _meta: meta }));
    open.peer.send(success(2, { ...done, resultType: "complete" }));
    expect(await call).toEqual({ ...done, resultType: "complete" });
  });

  test("that fails has a result for the model", async () => {
    await using open = await openWith(latest);
    const call = open.client.tools.call("add");
    await open.peer.next();
    open.peer.send(success(2, { ...done, isError: true }));
    expect((await call).isError).toBe(true);
  });

  test("that the server refuses throws its error", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add"));
    await open.peer.next();
    open.peer.send(failure(2, -32_602, "Unknown tool: add", { near: "ad" }));
    expect(await call).toEqual(new RpcError(-32_602, "Unknown tool: add", { near: "ad" }));
  });

  test.each<[string, unknown, string]>([
    ["null", null, "tools/call: the result is not an object"],
    ["an array", [], "tools/call: the result is not an object"],
    ["a text", "done", "tools/call: the result is not an object"],
    [
      "an object without content",
      {},
      "tools/call: the server's answer is invalid: content must be an array, got nothing",
    ],
    [
      "content that is a text",
      { content: "done" },
      "tools/call: the server's answer is invalid: content must be an array, got a string",
    ],
  ])("answered by %s is invalid", async (_name, result, why) => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add"));
    await open.peer.next();
    open.peer.send(success(2, result));
    expect(await call).toEqual(new LocalError("protocol", why));
  });

  test.each<[unknown, string]>([
    ["task", '"task"'],
    ["\u202e".repeat(500), `"${"\\u{202e}".repeat(120)}…"`],
    [5, "a number"],
    [null, "null"],
  ])("answered by a result of a kind that was not offered is invalid: %j", async (resultType, named) => {
    await using open = await openWith(modern);
    const call = errorOf(open.client.tools.call("add"));
    await open.peer.next();
    open.peer.send(success(2, { ...done, resultType }));
    expect(await call).toEqual(
      new LocalError(
        "protocol",
        `tools/call: the server answered with resultType ${named}, which this client did not offer`,
      ),
    );
  });

  test("with arguments that are not JSON is refused before it is sent", async () => {
    await using open = await openWith(latest);
    expect(await errorOf(open.client.tools.call("add", { n: 1n }))).toMatchObject({
      name: "LocalError",
      reason: "refused",
    });
  });
});

describe("progress", () => {
  test.each([latest, modern])("is requested if there is a listener, and arrives in order: %s", async (version) => {
    await using open = await openWith(version);
    const heard: ProgressParams[] = [];
    const call = open.client.tools.call("add", {}, { onProgress: (each) => void heard.push(each) });
    expect(JSON.parse(await open.peer.next()).params._meta.progressToken).toBe(1);
    const told = [
      { progressToken: 1, progress: 1, total: 3, message: "one" },
      { progressToken: 1, progress: 2 },
    ];
    for (const each of told) open.peer.send(notification("notifications/progress", each));
    open.peer.send(success(2, done));
    await call;
    expect(heard).toEqual(told);
  });

  test("of two calls goes to its own call; without a call, or after the result, it is dropped", async () => {
    await using open = await openWith(latest);
    const heard: string[] = [];
    const calling = (name: string): Promise<unknown> =>
      open.client.tools.call(name, {}, { onProgress: ({ progress }) => void heard.push(`${name} ${progress}`) });
    const calls = [calling("a"), calling("b")];
    await open.peer.next();
    await open.peer.next();
    const tell = (progressToken: unknown, progress: number): void =>
      open.peer.send(notification("notifications/progress", { progressToken, progress }));
    tell(2, 1);
    tell(1, 2);
    tell("01", 3);
    tell(9, 4);
    tell(undefined, 5);
    open.peer.send(success(2, done));
    tell(1, 6);
    tell(2, 7);
    open.peer.send(success(3, done));
    await Promise.all(calls);
    expect(heard).toEqual(["b 1", "a 2", "b 7"]);
  });

  test("whose listener throws does not disturb the call", async () => {
    const reports: string[] = [];
    await using open = await openWith(latest, { report: (each) => void reports.push(describeReport(each)) });
    const onProgress = (): void => {
      throw new Error("no ears");
    };
    const call = open.client.tools.call("add", {}, { onProgress });
    await open.peer.next();
    open.peer.send(notification("notifications/progress", { progressToken: 1, progress: 1 }));
    open.peer.send(success(2, done));
    expect(await call).toEqual(done);
    expect(reports).toEqual([expect.stringContaining("no ears")]);
  });

  test("keeps a call alive that is slow, but not for ever", async () => {
    await using open = await openWith(latest);
    const call = errorOf(
      open.client.tools.call("add", {}, { timeout: 100, totalTimeout: 250, onProgress: () => undefined }),
    );
    await open.peer.next();
    for (let progress = 1; progress <= 4; progress += 1) {
      open.clock.advance(60);
      open.peer.send(notification("notifications/progress", { progressToken: 1, progress }));
      await turn();
    }
    expect(open.client.connection.inFlight.outgoing).toBe(1);
    open.clock.advance(10);
    expect(await call).toEqual(
      new LocalError("timeout", "tools/call (id 2): no response within 250 ms (totalTimeout)"),
    );
    expect(await open.peer.next()).toBe(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"timeout"}}',
    );
  });
});

describe("the end of a call", () => {
  test.each([latest, modern])(
    "by its caller is told to the server, whose late answer is ignored: %s",
    async (version) => {
      const reports: string[] = [];
      await using open = await openWith(version, { report: (each) => void reports.push(describeReport(each)) });
      const user = new AbortController();
      const call = errorOf(open.client.tools.call("add", {}, { signal: user.signal }));
      await open.peer.next();
      const reason = new Error("the user left");
      user.abort(reason);
      expect(await call).toMatchObject({
        reason: "cancelled",
        message: "tools/call (id 2): cancelled by the caller",
        cause: reason,
      });
      expect(await open.peer.next()).toBe(
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"the user left"}}',
      );
      open.peer.send(success(2, done));
      await turn();
      expect(reports).toEqual(["received a result to id 2, which no call waits for"]);
      const next = open.client.tools.call("add");
      expect(JSON.parse(await open.peer.next()).id).toBe(3);
      open.peer.send(success(3, done));
      expect(await next).toEqual(done);
    },
  );

  test("after a timeout is sent to the server", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add", {}, { timeout: 100 }));
    await open.peer.next();
    open.clock.advance(100);
    expect(await call).toEqual(new LocalError("timeout", "tools/call (id 2): no response or notification for 100 ms"));
    expect(await open.peer.next()).toContain('"params":{"requestId":2,"reason":"timeout"}');
  });

  test("by the time of the client, where the call says none", async () => {
    await using open = await openWith(latest, { timeout: 50 });
    const call = errorOf(open.client.tools.call("add"));
    await open.peer.next();
    open.clock.advance(50);
    expect(await call).toMatchObject({ reason: "timeout" });
    await open.peer.next();
  });

  test("before its start sends nothing", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add", {}, { signal: AbortSignal.abort() }));
    expect(await call).toMatchObject({ reason: "cancelled" });
  });

  test("by noise instead of an answer names the noise", async () => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add", {}, { timeout: 100 }));
    await open.peer.next();
    open.peer.send("Warning: \u001b[31mdeprecated");
    await turn();
    open.clock.advance(100);
    expect((await call).message).toMatch(
      /^tools\/call \(id 2\): no response or notification for 100 ms; before that, this side received "Warning: \\u001b\[31mdeprecated": a frame must be JSON/,
    );
    await open.peer.next();
  });

  test.each<[string, string, string]>([
    [
      "both a result and an error",
      '{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"x"}}',
      "at /error: a response must not have both result and error",
    ],
    [
      "an error without a message",
      '{"jsonrpc":"2.0","id":2,"error":{"code":1}}',
      "at /error/message: message must be a string, got nothing",
    ],
    [
      "the wrong version of JSON-RPC",
      '{"jsonrpc":"1.0","id":2,"result":{}}',
      'at /jsonrpc: jsonrpc must be "2.0", got "1.0"',
    ],
  ])("by %s is the end of it", async (_name, frame, why) => {
    await using open = await openWith(latest);
    const call = errorOf(open.client.tools.call("add"));
    await open.peer.next();
    open.peer.send(frame);
    expect(await call).toEqual(new LocalError("protocol", `tools/call (id 2): the answer is not a response ${why}`));
  });
});
