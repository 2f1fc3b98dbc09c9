import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rpcHandler } from "@parlance/mcp/http";
import { type Call, createService, describeReport } from "@parlance/mcp/jsonrpc";
import { nodeRpcHandler } from "@parlance/mcp/node";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import type { RpcOptions } from "../../../packages/mcp/src/http/server/rpc-handler.js";
import { Wire } from "./wire.js";

const service = createService()
  .method("subtract", ({ minuend, subtrahend }) => minuend - subtrahend, { params: ["minuend", "subtrahend"] })
  .method("get_data", () => ["hello", 5])
  .method("late", () => new Promise((resolve) => setImmediate(() => resolve("late"))));

/** A service on HTTP, however it got there. */
interface Site extends AsyncDisposable {
  send(request: RequestInit): Promise<Response>;
  drain(grace?: number): Promise<void>;
}

const sites: Readonly<Record<string, (call: Call, options?: RpcOptions) => Promise<Site>>> = {
  async "a handler of Requests"(call, options) {
    const handler = rpcHandler(call, options);
    return {
      send: (init) => handler(new Request("http://localhost/", { method: "POST", ...init })),
      drain: (grace) => handler.drain(grace),
      [Symbol.asyncDispose]: async () => handler.close(),
    };
  },
  async "node:http"(call, options) {
    const handler = nodeRpcHandler(call, options);
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return {
      send: (init) => fetch(url, { method: "POST", ...init }),
      drain: (grace) => handler.drain(grace),
      async [Symbol.asyncDispose]() {
        handler.close();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
};

const waiting = '{"jsonrpc":"2.0","id":1,"method":"wait"}';

const json = { "content-type": "application/json" };

async function shown(answer: Response): Promise<string> {
  return `${answer.status} ${await answer.text()}`.trim();
}

function refused(reason: string): string {
  return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":{"reason":${JSON.stringify(reason)}}}}`;
}

describe.each(Object.entries(sites))("plain JSON-RPC over %s", (_name, siteOf) => {
  test("a handler that ends with the abort of a client that has gone is no fault", async () => {
    const reports: string[] = [];
    const begun = deferred<AbortSignal>();
    const wait: Call = (_method, _params, { signal }) => {
      begun.resolve(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    await using site = await siteOf(wait, { report: (report) => void reports.push(describeReport(report)) });
    const client = new AbortController();
    const answer = site.send({ headers: json, body: waiting, signal: client.signal }).catch(() => undefined);
    const signal = await begun.promise;
    client.abort();
    await answer;
    await expect.poll(() => signal.aborted).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reports).toEqual([]);
  });

  test.each([
    ['{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}', '200 {"jsonrpc":"2.0","id":1,"result":19}'],
    [
      '{"jsonrpc":"2.0","method":"subtract","params":{"subtrahend":23,"minuend":42},"id":"a"}',
      '200 {"jsonrpc":"2.0","id":"a","result":19}',
    ],
    ['{"jsonrpc":"2.0","method":"late","id":null}', '200 {"jsonrpc":"2.0","id":null,"result":"late"}'],
    ['{"jsonrpc":"2.0","method":"late"}', "204"],
    ['{"jsonrpc":"2.0","method":"foobar"}', "204"],
    ['{"jsonrpc":"2.0","result":1,"id":1}', "204"],
    [
      '{"jsonrpc":"2.0","method":"foobar","id":1}',
      '200 {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"method":"foobar"}}}',
    ],
    [
      '[{"jsonrpc":"2.0","method":"late","id":1},{"jsonrpc":"2.0","method":"get_data"},{"jsonrpc":"2.0","method":"get_data","id":2}]',
      '200 [{"jsonrpc":"2.0","id":1,"result":"late"},{"jsonrpc":"2.0","id":2,"result":["hello",5]}]',
    ],
    ['[{"jsonrpc":"2.0","method":"get_data"}]', "204"],
  ])("%s is answered as the specification says", async (body, expected) => {
    await using site = await siteOf(service.call);
    const answer = await site.send({ headers: json, body });
    const type = answer.headers.get("content-type");
    expect(await shown(answer)).toBe(expected);
    expect(type).toBe(expected === "204" ? null : "application/json");
  });

  test.each<[string, RequestInit, string]>([
    ["another method", { method: "GET" }, `405 ${refused("supported methods: POST")}`],
    [
      "no type",
      { body: new Uint8Array([0x5b, 0x5d]) },
      `415 ${refused("the body has no Content-Type: application/json is expected")}`,
    ],
    [
      "another type",
      { headers: { "content-type": "text/plain" }, body: "[]" },
      `415 ${refused("Content-Type is not application/json")}`,
    ],
    [
      "a compressed body",
      { headers: { ...json, "content-encoding": "gzip" }, body: "[]" },
      `415 ${refused("the body has a Content-Encoding: send it as it is")}`,
    ],
    [
      "a body that is too long",
      { headers: json, body: " ".repeat(1_001) },
      `413 ${refused("the body has more than 1000 bytes")}`,
    ],
    [
      "a body that is not UTF-8",
      { headers: json, body: new Uint8Array([0xff]) },
      `400 ${refused("the body is not UTF-8")}`,
    ],
    [
      "a page of another origin",
      { headers: { ...json, origin: "https://evil.example" }, body: "[]" },
      `403 ${refused('pages of "https://evil.example" may not call: name it in allowedOrigins')}`,
    ],
  ])("turns away %s", async (_what, request, expected) => {
    await using site = await siteOf(service.call, { limits: { frameBytes: 1_000 } });
    expect(await shown(await site.send(request))).toBe(expected);
  });

  test.each([
    ["{", "400", -32_700],
    ["", "400", -32_700],
    ["1", "400", -32_600],
    ["[]", "400", -32_600],
    ['{"jsonrpc":"2.0","method":1,"id":1}', "400", -32_600],
    ["[1]", "200", -32_600],
  ])("answers %j, which is no message, with status %s", async (body, status, code) => {
    const reports: string[] = [];
    await using site = await siteOf(service.call, { report: (each) => void reports.push(describeReport(each)) });
    const shownAnswer = await shown(await site.send({ headers: json, body }));
    expect(shownAnswer).toContain(`${status} `);
    expect(shownAnswer).toContain(`"code":${code}`);
    expect(reports).toHaveLength(1);
  });

  test("authenticates the caller, and passes the identity to handlers", async () => {
    const authenticate: RpcOptions["auth"] = ({ header }) => {
      const name = header("authorization");
      return name === undefined || name === "" || name === "eve" ? undefined : { principal: name };
    };
    await using site = await siteOf((_method, _params, { principal }) => principal, { auth: authenticate });
    const body = '{"jsonrpc":"2.0","method":"who","id":1}';
    const unknown = await site.send({ headers: json, body });
    expect(unknown.headers.get("www-authenticate")).toBe("Bearer");
    expect(await shown(unknown)).toBe(`401 ${refused("authentication is required")}`);
    const empty = await site.send({ headers: { ...json, authorization: "" }, body });
    expect(await shown(empty)).toBe(`401 ${refused("authentication is required")}`);
    const eve = await site.send({ headers: { ...json, authorization: "eve" }, body });
    expect(await shown(eve)).toContain("the Authorization that was sent is not accepted here");
    const known = await site.send({ headers: { ...json, authorization: "ada" }, body });
    expect(await shown(known)).toBe('200 {"jsonrpc":"2.0","id":1,"result":"ada"}');
  });

  test("lets pages of an origin that is named call, and read the answers", async () => {
    await using site = await siteOf(service.call, { allowedOrigins: ["https://app.example"] });
    const origin = "https://app.example";
    const preflight = await site.send({
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    const answer = await site.send({
      headers: { ...json, origin },
      body: '{"jsonrpc":"2.0","method":"get_data","id":1}',
    });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.status).toBe(200);
  });

  test("reports a failure of its own, and shows no caller the reason", async () => {
    const reports: string[] = [];
    const authenticate = (): never => {
      throw new Error("the directory is down");
    };
    const report: RpcOptions["report"] = (each) => void reports.push(describeReport(each));
    await using site = await siteOf(service.call, { auth: authenticate, report });
    expect(await shown(await site.send({ headers: json, body: "[]" }))).toBe(
      '401 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":{"reason":"the caller could not be authenticated"}}}',
    );
    expect(reports).toEqual([expect.stringContaining('"auth" failed: Error: the directory is down')]);
  });

  test("waits for what runs when it is drained, takes nothing new, and cancels what is left", async () => {
    const clock = createFakeClock();
    const seen: unknown[] = [];
    const call: Call = (method, _params, { signal }) => {
      seen.push(method);
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          seen.push((signal.reason as Error).message);
          resolve("given up");
        });
      });
    };
    await using site = await siteOf(call, { clock });
    const running = site.send({ headers: json, body: '{"jsonrpc":"2.0","method":"wait","id":1}' });
    await expect.poll(() => seen).toEqual(["wait"]);
    const drained = site.drain(1_000);
    const late = await site.send({ headers: json, body: '{"jsonrpc":"2.0","method":"late","id":2}' });
    expect(await shown(late)).toBe(`503 ${refused("the server is shutting down")}`);
    clock.advance(1_000);
    await drained;
    expect(await shown(await running)).toMatch(
      /^503 \{"jsonrpc":"2.0","id":1,"error":\{"code":-32603,.*was not finished/,
    );
    expect(seen).toEqual(["wait", "this side is shutting down"]);
  });
});

test("a client that hangs up cancels what it has asked", async () => {
  const reasons: string[] = [];
  let started: () => void = () => undefined;
  const hasStarted = new Promise<void>((resolve) => {
    started = resolve;
  });
  const call: Call = (_method, _params, { signal }) => {
    started();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        reasons.push((signal.reason as Error).message);
        resolve(undefined);
      });
    });
  };
  const handler = nodeRpcHandler(call);
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  using wire = await Wire.open((server.address() as AddressInfo).port);
  const body = '{"jsonrpc":"2.0","method":"wait","id":1}';
  wire.write(
    `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await hasStarted;
  wire.cut();
  await expect.poll(() => reasons).toEqual(["the client has closed the connection"]);
  await handler.drain();
  server.close();
});

test("a host of another name is turned away before its body is read", async () => {
  const handler = nodeRpcHandler(service.call);
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  using wire = await Wire.open((server.address() as AddressInfo).port);
  const { status, body } = await wire.ask(
    "POST / HTTP/1.1\r\nhost: evil.example\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n",
  );
  expect(`${status} ${body}`).toBe(`403 ${refused('Host "evil.example" is not served here: name it in allowedHosts')}`);
  server.close();
});
