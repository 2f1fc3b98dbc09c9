import { latest } from "@parlance/mcp";
import { describeReport, type Reporter } from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { HttpTarget } from "../../../packages/mcp/src/http/client/http-target.js";
import { HttpRemote } from "../../../packages/mcp/src/http/client/remote.js";
import { errorOf, open } from "./opened.js";
import {
  event,
  failure,
  json,
  playModern,
  playServer,
  progressTokenOf,
  result,
  said,
  stream,
  success,
} from "./played-server.js";

const progress = (params: object): object => ({ jsonrpc: "2.0", method: "notifications/progress", params });
const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } };

describe("a call of the stateless era", () => {
  test("is one POST that says in headers what its body says", async () => {
    await using server = await playModern({ tools: {}, resources: {}, prompts: {} });
    await using opened = await open(server);
    const calls = [
      opened.client.tools.call("räume"),
      opened.client.resources.read("file:///a%20b.txt"),
      opened.client.prompts.get(" padded"),
      opened.client.call("vendor/own", { name: "no header for it" }),
    ];
    const answers = [said("ok"), { contents: [] }, { messages: [] }, {}];
    for (const answer of answers) result(await server.next(), answer);
    await Promise.all(calls);
    expect(server.asked.every(({ method, path }) => method === "POST" && path === "/mcp")).toBe(true);
    const told = server.asked.map(({ headers, message }) => [
      message.method,
      headers["mcp-method"],
      headers["mcp-name"],
      headers["mcp-protocol-version"],
    ]);
    expect(new Set(told)).toEqual(
      new Set([
        ["server/discover", "server/discover", undefined, latest.version],
        ["tools/call", "tools/call", "=?base64?csOkdW1l?=", latest.version],
        ["resources/read", "resources/read", "file:///a%20b.txt", latest.version],
        ["prompts/get", "prompts/get", "=?base64?IHBhZGRlZA==?=", latest.version],
        ["vendor/own", "vendor/own", undefined, latest.version],
      ]),
    );
    for (const { headers } of server.asked) {
      expect(headers).toMatchObject({
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      });
      expect(headers["mcp-session-id"]).toBeUndefined();
    }
  });

  test("is answered by an event stream with whatever else an event stream may hold", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const call = opened.client.tools.call("a");
    const asked = await server.next();
    const text = JSON.stringify(success(asked, said("ok")), null, 2).replaceAll("\n", "\r\ndata: ");
    stream(asked).end(
      `\ufeff: hello\n\nid: 7\nretry: 1\ndata:\n\nevent: other\ndata: {"no": "message"}\n\nfoo: bar\n\nevent: message\ndata: ${text}\r\n\r\n`,
    );
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
    expect(opened.reports).toEqual([]);
  });

  test("receives its progress, and every call receives the log", async () => {
    const told: string[] = [];
    await using server = await playModern();
    await using opened = await open(server, { onNotification: (method) => void told.push(method) });
    const steps: number[] = [];
    const call = opened.client.tools.call("a", {}, { onProgress: (each) => void steps.push(each.progress) });
    const asked = await server.next();
    const progressToken = progressTokenOf(asked);
    const response = stream(asked);
    response.write(event(progress({ progressToken, progress: 1 })) + event(log));
    response.write(event(progress({ progressToken: 99, progress: 50 })));
    response.end(event(progress({ progressToken, progress: 2 })) + event(success(asked, said("ok"))));
    await call;
    expect(steps).toEqual([1, 2]);
    expect(told).toEqual(["notifications/message", "notifications/progress"]);
  });

  test("receives progress whose token is the text of its number", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const steps: number[] = [];
    const call = opened.client.tools.call("a", {}, { onProgress: (each) => void steps.push(each.progress) });
    const asked = await server.next();
    const progressToken = String(progressTokenOf(asked));
    stream(asked).end(event(progress({ progressToken, progress: 1 })) + event(success(asked, said("ok"))));
    await call;
    expect(steps).toEqual([1]);
    expect(opened.reports).toHaveLength(1);
  });

  test("goes on when a listener throws, and the fault is reported", async () => {
    await using server = await playModern();
    await using opened = await open(server, {
      onNotification: () => {
        throw new Error("mine");
      },
    });
    const call = opened.client.tools.call("a");
    const asked = await server.next();
    stream(asked).end(event(log) + event(success(asked, said("ok"))));
    await call;
    expect(opened.reports).toEqual([expect.stringContaining("Error: mine")]);
  });

  test("that is cancelled gives up its request, in JSON and in a stream", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    for (const begin of [() => undefined, stream]) {
      const user = new AbortController();
      const call = errorOf(opened.client.tools.call("slow", {}, { signal: user.signal }));
      const asked = await server.next();
      begin(asked);
      user.abort(new Error("enough"));
      expect(await call).toMatchObject({ reason: "cancelled" });
      await asked.over;
    }
    expect(server.asked.some(({ message }) => message.method === "notifications/cancelled")).toBe(false);
  });

  test("waits for a sign of the server, and each one counts; but not for ever", async () => {
    const clock = createFakeClock();
    await using server = await playModern();
    await using opened = await open(server, { clock, timeout: 100, totalTimeout: 250 });
    let signs = 0;
    const heard: (() => void)[] = [];
    const onProgress = (): void => {
      signs += 1;
      heard.shift()?.();
    };
    const call = errorOf(opened.client.tools.call("slow", {}, { onProgress }));
    const asked = await server.next();
    const progressToken = progressTokenOf(asked);
    const response = stream(asked);
    for (const step of [1, 2]) {
      clock.advance(90);
      const sign = new Promise<void>((resolve) => heard.push(resolve));
      response.write(event(progress({ progressToken, progress: step })));
      await sign;
    }
    clock.advance(90);
    expect(await call).toMatchObject({
      reason: "timeout",
      message: expect.stringContaining("within 250 ms (totalTimeout)"),
    });
    expect(signs).toBe(2);
    await asked.over;

    const silent = errorOf(opened.client.tools.call("slow"));
    const second = await server.next();
    clock.advance(100);
    expect(await silent).toMatchObject({ reason: "timeout", message: expect.stringContaining("for 100 ms") });
    await second.over;
    expect(clock.armed).toBe(0);
  });

  test("takes whatever the server says meanwhile for a sign", async () => {
    const clock = createFakeClock();
    const heard: (() => void)[] = [];
    await using server = await playModern();
    await using opened = await open(server, { clock, timeout: 100, onNotification: () => heard.shift()?.() });
    const call = opened.client.tools.call("slow");
    const asked = await server.next();
    const response = stream(asked);
    for (let times = 0; times < 2; times += 1) {
      clock.advance(90);
      const sign = new Promise<void>((resolve) => heard.push(resolve));
      response.write(event(log));
      await sign;
    }
    response.end(event(success(asked, said("ok"))));
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
  });

  test("ends with its session, and the server sees the connection close", async () => {
    await using server = await playModern();
    const opened = await open(server);
    const call = errorOf(opened.client.tools.call("slow"));
    const asked = await server.next();
    stream(asked).write(event(log));
    await opened.client.close();
    expect(await call).toMatchObject({ reason: "closed" });
    await asked.over;
    expect(await opened.client.closed).toEqual({ reason: "closed" });
    expect(opened.client.connection.phase).toBe("closed");
    expect(await errorOf(opened.client.tools.call("late"))).toMatchObject({ reason: "closed" });
  });

  test("ends a stream that continues after its response, and ignores its messages", async () => {
    const clock = createFakeClock();
    const told: string[] = [];
    await using server = await playModern();
    await using opened = await open(server, { clock, onNotification: (method) => void told.push(method) });
    const call = opened.client.tools.call("a");
    const asked = await server.next();
    stream(asked).write(event(success(asked, said("ok"))) + event(log) + event(success(asked, said("again"))));
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
    clock.advance(1_000);
    await asked.over;
    expect(told).toEqual([]);
    expect(opened.reports).toEqual([expect.stringMatching(/^received a result to id \d+, which no call waits for$/)]);
  });

  test("with a result that is asked for in rounds is made again with the answers", async () => {
    await using server = await playModern();
    await using opened = await open(server, { handlers: { roots: [{ uri: "file:///home" }] } });
    const call = opened.client.tools.call("ask");
    const first = await server.next();
    result(first, {
      resultType: "input_required",
      inputRequests: { r: { method: "roots/list", params: {} } },
      requestState: "s",
    });
    const second = await server.next();
    expect(second.message.params).toMatchObject({
      name: "ask",
      requestState: "s",
      inputResponses: { r: { roots: [{ uri: "file:///home" }] } },
    });
    expect(second.message.id).not.toBe(first.message.id);
    result(second, said("done"));
    expect((await call).content).toEqual([{ type: "text", text: "done" }]);
  });
});

describe("a tool whose arguments go in headers", () => {
  const region = { type: "string", "x-mcp-header": "Region" };
  const tool = (name: string, properties: object): object => ({ name, inputSchema: { type: "object", properties } });

  test("is called with them as it was listed, and without what is not there", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const list = opened.client.tools.list().all();
    const place = { type: "object", properties: { zone: { type: "integer", "x-mcp-header": "Zone" } } };
    result(await server.next(), {
      tools: [tool("run", { region, place, dry: { type: "boolean", "x-mcp-header": "Dry" } })],
    });
    await list;
    const call = opened.client.tools.call("run", { region: "zürich", place: { zone: 7 }, dry: null });
    const asked = await server.next();
    const { headers } = asked;
    expect(headers["mcp-param-region"]).toBe("=?base64?esO8cmljaA==?=");
    expect(headers["mcp-param-zone"]).toBe("7");
    expect(headers["mcp-param-dry"]).toBeUndefined();
    result(asked, said("ok"));
    await call;
  });

  test("is called without them where it was not listed", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const call = opened.client.tools.call("run", { region: "eu" });
    const asked = await server.next();
    expect(Object.keys(asked.headers).filter((name) => name.startsWith("mcp-param-"))).toEqual([]);
    result(asked, said("ok"));
    await call;
  });

  test("is called without them once it is listed without", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    for (const properties of [{ region }, { region: { type: "string" } }]) {
      const list = opened.client.tools.list().all();
      result(await server.next(), { tools: [tool("run", properties)] });
      await list;
    }
    const call = opened.client.tools.call("run", { region: "eu" });
    const asked = await server.next();
    expect(asked.headers["mcp-param-region"]).toBeUndefined();
    result(asked, said("ok"));
    await call;
  });

  test("is listed again, and called once more, when the server misses a header", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const call = opened.client.tools.call("run", { region: "eu" }, { onProgress: () => undefined });
    failure(await server.next(), 400, -32_020, "Header mismatch");
    const first = await server.next();
    expect(first.message).toMatchObject({ method: "tools/list" });
    // It names the client, as every request does, and has no progress token.
    expect(first.message.params?._meta).toEqual(server.asked[0]?.message.params?._meta);
    result(first, { tools: [tool("other", {})], nextCursor: "2" });
    const second = await server.next();
    expect(second.message.params?.cursor).toBe("2");
    result(second, { tools: [tool("run", { region })] });
    const again = await server.next();
    expect(again.headers["mcp-param-region"]).toBe("eu");
    result(again, said("ok"));
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
  });

  test("is not called once more when nothing else can be sent, nor a second time", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    for (const tools of [[tool("run", {})], [tool("run", { region })]]) {
      const call = errorOf(opened.client.tools.call("run", { region: "eu" }));
      failure(await server.next(), 400, -32_020, "Header mismatch");
      result(await server.next(), { tools });
      if (JSON.stringify(tools).includes("x-mcp-header")) failure(await server.next(), 400, -32_020);
      expect(await call).toMatchObject({ code: -32_020 });
    }
  });

  test("is left out of the list, with a report, when its annotation is wrong; the others stay", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const list = opened.client.tools.list().all();
    const wrong = { type: "number", "x-mcp-header": "A\u202e b" };
    result(await server.next(), { tools: [tool("bad\u202etool", { wrong }), tool("good", { region })] });
    expect((await list).map(({ name }) => name)).toEqual(["good"]);
    expect(opened.reports).toEqual([
      String.raw`left "bad\u{202e}tool" out of the answer to tools/list: /properties/wrong/x-mcp-header: ` +
        String.raw`x-mcp-header must be the name of a header, got "A\u{202e} b"`,
    ]);
  });
});

test("requests carry the headers of the program, asked for each time, and none of those that the protocol needs", async () => {
  await using server = await playModern();
  let count = 0;
  const headers = (): Record<string, string> => {
    count += 1;
    return { authorization: `Bearer ${count}`, "mcp-method": "forged", accept: "text/plain" };
  };
  await using opened = await open(server, { headers });
  const call = opened.client.tools.call("a");
  result(await server.next(), said("ok"));
  await call;
  expect(server.asked.map((each) => [each.headers.authorization, each.headers["mcp-method"]])).toEqual([
    ["Bearer 1", "server/discover"],
    ["Bearer 2", "tools/call"],
  ]);
  expect(server.asked[1]?.headers.accept).toBe("application/json, text/event-stream");
});

test("requests are made by the fetch of the program", async () => {
  await using server = await playModern();
  const urls: string[] = [];
  const fetch = (url: URL, init: RequestInit): Promise<Response> => {
    urls.push(`${init.method} ${url.href}`);
    return globalThis.fetch(url, init);
  };
  await using opened = await open(server, { fetch });
  await Promise.all([opened.client.ping(), server.asked]);
  expect(urls).toEqual([`POST ${server.url}`, `POST ${server.url}`]);
});

test("a notification is a POST, and one that is refused is reported", async () => {
  await using server = await playServer();
  const reports: string[] = [];
  const report: Reporter = (each) => void reports.push(describeReport(each));
  const remote = new HttpRemote(new HttpTarget(new URL(server.url), {}), { report });
  const call = remote.call("a", { _meta: { "io.modelcontextprotocol/protocolVersion": "some" } });
  result(await server.next(), {});
  await call;
  remote.notify("notifications/vendor", { a: 1 });
  const accepted = await server.next();
  expect(accepted.message).toEqual({ jsonrpc: "2.0", method: "notifications/vendor", params: { a: 1 } });
  expect(accepted.headers).toMatchObject({ "mcp-method": "notifications/vendor", "mcp-protocol-version": "some" });
  accepted.response.writeHead(202).end();
  remote.notify("notifications/vendor");
  json(await server.next(), 400, {});
  const ping = remote.call("b");
  result(await server.next(), {});
  await ping;
  await remote.close();
  expect(() => remote.notify("late")).not.toThrow();
  expect(reports.join()).toMatch(/^"notifications\/vendor" failed: .*status 400: "{}"/);
});
