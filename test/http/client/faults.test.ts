import { connect, HttpError, RpcError } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "./opened.js";
import {
  type Asked,
  event,
  failure,
  json,
  type PlayedServer,
  playModern,
  playServer,
  result,
  said,
  stream,
  success,
} from "./played-server.js";

/** Calls a tool, lets the server answer, and gives the error. */
async function failWith(answer: (asked: Asked) => unknown): Promise<Error> {
  await using server = await playModern();
  await using opened = await open(server);
  const call = errorOf(opened.client.tools.call("a"));
  await answer(await server.next());
  return await call; // The client lives until then.
}

const html =
  (status: number, body: string) =>
  ({ response }: Asked) =>
    response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(body);

describe("what is no answer fails the call at once, and says what it was:", () => {
  const result1 = { jsonrpc: "2.0", id: "own", result: {} };

  test.each<readonly [what: string, answer: (asked: Asked) => unknown, reason: string, message: RegExp]>([
    [
      "a page",
      html(200, "<h1>Log\u202ein</h1>"),
      "protocol",
      /status 200 and Content-Type "text\/html": "<h1>Log\\u\{202e\}in<\/h1>"$/,
    ],
    [
      "nothing",
      ({ response }) => response.writeHead(202).end(),
      "protocol",
      /status 202 and no Content-Type: it is empty$/,
    ],
    [
      "no JSON",
      ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
      "closed",
      /ended without a JSON-RPC response; before that, this side received "\{": a frame must be JSON/,
    ],
    [
      "no UTF-8",
      ({ response }) =>
        response.writeHead(200, { "content-type": "application/json" }).end(Buffer.from([0x22, 0xff, 0x22])),
      "protocol",
      /a response that is not UTF-8$/,
    ],
    [
      "a batch",
      (asked) => json(asked, 200, [success(asked, {})]),
      "protocol",
      /the answer is not a response: a response must not be in an array$/,
    ],
    [
      "a result for somebody else",
      (asked) => json(asked, 200, { ...result1, id: 4_711 }),
      "closed",
      /received a result to id 4711/,
    ],
    [
      "a result with its id as a string",
      (asked) => json(asked, 200, { ...result1, id: String(asked.message.id) }),
      "protocol",
      /the answer is not a response: id must be that of the request, got "\d+"$/,
    ],
    [
      "a result without an id",
      (asked) => json(asked, 200, { jsonrpc: "2.0", result: {} }),
      "closed",
      /a response must have an id/,
    ],
    [
      "a message that is no response",
      (asked) => json(asked, 200, { jsonrpc: "2.0", id: asked.message.id, result: 1, error: 2 }),
      "protocol",
      /the answer is not a response at \/error/,
    ],
    [
      "a request",
      (asked) => json(asked, 200, { jsonrpc: "2.0", id: 1, method: "ping" }),
      "closed",
      /ended without a JSON-RPC response$/,
    ],
    ["a stream that ends", (asked) => stream(asked).end(": bye\n\n"), "closed", /ended without a JSON-RPC response$/],
    [
      "a stream that ends within an event",
      (asked) => stream(asked).end(event(success(asked, {})).trimEnd()),
      "closed",
      /ended without a JSON-RPC response$/,
    ],
    [
      "a stream that is no UTF-8",
      (asked) => stream(asked).end(Buffer.from([0x64, 0xff])),
      "protocol",
      /an event stream that is not UTF-8$/,
    ],
    [
      "a stream that breaks",
      (asked) => stream(asked).write(": a\n\n", () => asked.response.destroy()),
      "closed",
      /the HTTP response broke off: /,
    ],
    [
      "a connection that breaks",
      ({ response }) => response.destroy(),
      "closed",
      /http:\/\/127\.0\.0\.1:\d+ cannot be reached: /,
    ],
  ])("%s", async (_what, answer, reason, message) => {
    const error = await failWith(answer);
    expect(error).toMatchObject({ reason });
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/^tools\/call \(id \d+\): /);
  });
});

describe("what is too long is not read to its end:", () => {
  const limits = { frameBytes: 1_024 };

  test.each<readonly [what: string, answer: (asked: Asked) => void, message: RegExp]>([
    [
      "JSON",
      (asked) => json(asked, 200, success(asked, said("x".repeat(2_000)))),
      /a response of more than 1024 bytes$/,
    ],
    [
      "JSON that never ends",
      ({ response }) => flood(response.writeHead(200, { "content-type": "application/json" })),
      /a response of more than 1024 bytes$/,
    ],
    ["an event", (asked) => flood(stream(asked)), /an event of more than 1024 bytes or 200000 lines$/],
  ])("%s", async (_what, answer, message) => {
    await using server = await playModern();
    await using opened = await open(server, { limits });
    const call = errorOf(opened.client.tools.call("a"));
    const asked = await server.next();
    answer(asked);
    const error = await call;
    expect(error).toMatchObject({ reason: "protocol" });
    expect(error.message).toMatch(message);
    await asked.over;
    const next = opened.client.tools.call("a");
    result(await server.next(), said("ok"));
    await next;
  });

  test("a refusal", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const call = errorOf(opened.client.tools.call("a"));
    const asked = await server.next();
    flood(asked.response.writeHead(500, { "content-type": "text/plain" }));
    const error = await call;
    expect(error).toMatchObject({ reason: "protocol", status: 500 });
    expect(error.message.length).toBeLessThan(300);
    await asked.over;
  });
});

/** Writes for as long as somebody reads. */
function flood(response: Asked["response"]): void {
  const more = (): void => {
    if (!response.destroyed && response.write("data: x".repeat(1_000))) setImmediate(more);
    else if (!response.destroyed) response.once("drain", more);
  };
  more();
}

describe("a status that refuses", () => {
  test("gives the error of the server where it has told one", async () => {
    for (const status of [400, 404, 500]) {
      const error = await failWith((asked) => failure(asked, status, -32_601, "Method not found", { method: "x" }));
      expect(error).toBeInstanceOf(RpcError);
      expect(error).toMatchObject({ code: -32_601, message: "Method not found", data: { method: "x" } });
      expect(error.cause).toBeInstanceOf(HttpError);
      expect(error.cause).toMatchObject({ status });
    }
  });

  test.each([null, undefined])("gives the error of a server that could not read the request: id %s", async (id) => {
    const error = await failWith((asked) =>
      json(asked, 400, { jsonrpc: "2.0", id, error: { code: -32_700, message: "?" } }),
    );
    expect(error).toMatchObject({ code: -32_700 });
  });

  test.each<readonly [status: number, answer: (asked: Asked) => unknown, message: RegExp]>([
    [404, html(404, "Not <b>here</b>"), /the server responded with status 404: "Not <b>here<\/b>"$/],
    [
      413,
      html(
        413,
        "<!DOCTYPE html>\n<html>\n<title>Error</title>\n<pre>PayloadTooLargeError: too large<br> &nbsp;at read</pre>",
      ),
      /status 413, with a page of HTML, as a body parser or proxy before the MCP handler sends it \(its limit is smaller than that of the MCP handler\): "Error PayloadTooLargeError: too large at read"$/,
    ],
    [502, html(502, ""), /the server responded with status 502$/],
    [429, (asked) => json(asked, 429, { error: "slow down" }), /status 429: "\{\\"error\\":\\"slow down\\"\}"$/],
    [400, (asked) => failure({ ...asked, message: { id: 99 } }, 400, -32_600), /status 400: /],
    [
      401,
      ({ response }) => response.writeHead(401, { "www-authenticate": 'Bearer realm="x"' }).end(),
      /401, the server requires authentication \("Bearer realm=\\"x\\""\)$/,
    ],
    [
      401,
      (asked) => failure(asked, 401, -32_001, "Unauthorized"),
      /401, the server requires authentication: "Unauthorized"$/,
    ],
    [403, html(403, "no"), /403, the server denied access: "no"$/],
  ])("says so: %i", async (status, answer, message) => {
    const error = await failWith(answer);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ reason: "protocol", status });
    expect(error.message).toMatch(message);
  });
});

describe("a redirect", () => {
  const redirect =
    (status: number, location?: string) =>
    ({ response }: Asked) =>
      response.writeHead(status, location === undefined ? {} : { location }).end();

  test("to another path of the server is followed, with the same request", async () => {
    await using server = await playModern();
    await using opened = await open(server);
    const call = opened.client.tools.call("a", { secret: 1 });
    redirect(308, "/mcp/")(await server.next());
    const again = await server.next();
    expect(again).toMatchObject({ method: "POST", path: "/mcp/", message: { method: "tools/call" } });
    result(again, said("ok"));
    await call;
  });

  test.each([
    [
      307,
      "https://ada:pw@elsewhere.example/mcp?code=c0de",
      /redirects with 307 to "https:\/\/elsewhere\.example\/mcp", which is not followed/,
    ],
    [302, "/login", /redirects with 302 to "http:\/\/127\.0\.0\.1:\d+\/login"/],
    [308, undefined, /redirects with 308 elsewhere/],
    [307, "http://[", /redirects with 307 elsewhere/],
  ])("with %i to %s is not", async (status, location, message) => {
    const error = await failWith(redirect(status, location));
    expect(error).toMatchObject({ reason: "protocol" });
    expect(error.message).toMatch(message);
  });

  test("S29: to another origin takes nothing there", async () => {
    await using other = await playServer();
    const error = await failWith(redirect(307, other.url));
    expect(error.message).toContain(JSON.stringify(other.url));
    expect(other.asked).toEqual([]);
  });

  test("that leads in a circle ends", async () => {
    await using server = await playServer((asked) => redirect(307, "/mcp")(asked));
    expect(await errorOf(connect(server.url))).toMatchObject({ reason: "protocol", status: 307 });
    expect(server.asked).toHaveLength(6);
  });
});

test("what is no message in a stream is reported, and the call goes on", async () => {
  await using server = await playModern();
  await using opened = await open(server);
  const call = opened.client.tools.call("a");
  const asked = await server.next();
  stream(asked).end(
    `data: {no JSON\n\n${event({ jsonrpc: "2.0", id: 7, method: "sampling/createMessage" })}${event(success(asked, said("ok")))}`,
  );
  await call;
  expect(opened.reports).toEqual([
    expect.stringContaining("a frame must be JSON"),
    'received the request "sampling/createMessage" (id 7), but this side answers none',
  ]);
});

test("headers that cannot be made are refused on this side", async () => {
  await using server = await playModern();
  let given: () => Record<string, string> = () => ({});
  await using opened = await open(server, { headers: () => given() });
  given = () => ({ "x-line": "a\nb" });
  expect(await errorOf(opened.client.tools.call("a"))).toMatchObject({ reason: "refused" });
  given = () => {
    throw new Error("no token");
  };
  const error = await errorOf(opened.client.tools.call("a"));
  expect(error).toMatchObject({ reason: "refused", message: expect.stringContaining("Error: no token") });
  given = () => ({ Host: "other.example" });
  expect(await errorOf(opened.client.tools.call("a"))).toMatchObject({
    reason: "refused",
    message: expect.stringContaining("put it in the URL, or give a fetch of your own"),
  });
  given = () => ({});
  expect(await errorOf(opened.client.call("方法"))).toMatchObject({ reason: "refused" });
  expect(server.asked).toHaveLength(1);
});

test.each(["ftp://example.com/", "http://user:secret@example.com/", "nowhere"])("%s is no server", async (url) => {
  const error = await errorOf(connect(url));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).not.toContain("secret");
});

describe("nothing is known of a server", () => {
  const statuses = [401, 403, 500, 503];

  test.each(statuses)("that answers with %i: no other era is tried", async (status) => {
    await using server = await playServer((asked) => html(status, "no")(asked));
    expect(await errorOf(connect(server.url))).toMatchObject({ status });
    expect(server.asked).toHaveLength(1);
  });

  test("that answers with 500 and an error of its own", async () => {
    await using server = await playServer((asked) => failure(asked, 500, -32_603, "Internal error"));
    expect(await errorOf(connect(server.url))).toMatchObject({ code: -32_603 });
    expect(server.asked).toHaveLength(1);
  });

  test("that does not answer in time", async () => {
    await using server = await playServer();
    expect(await errorOf(connect(server.url, { probeTimeout: 20 }))).toMatchObject({ reason: "timeout" });
    const [asked] = server.asked;
    await asked?.over;
  });

  test("that is not there", async () => {
    const server: PlayedServer = await playServer();
    await server.close();
    const error = await errorOf(connect(server.url));
    expect(error).toMatchObject({
      reason: "closed",
      message: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
    });
  });

  test("that misses a header which was sent", async () => {
    await using server = await playServer((asked) => failure(asked, 400, -32_020, "Header mismatch"));
    expect(await errorOf(connect(server.url))).toMatchObject({ code: -32_020 });
    expect(server.asked).toHaveLength(1);
  });
});

test("an opening that is given up ends its request", async () => {
  await using server = await playServer();
  const user = new AbortController();
  const opening = errorOf(connect(server.url, { signal: user.signal }));
  const asked = await server.next();
  user.abort();
  expect(await opening).toMatchObject({ reason: "cancelled" });
  await asked.over;
});

test("a server that is known from an earlier time is asked nothing", async () => {
  await using server = await playModern();
  await using first = await open(server);
  const { serverHint } = first.client;
  await using second = await open(server, { serverHint });
  expect(server.asked).toHaveLength(1);
  const call = second.client.tools.call("a");
  result(await server.next(), said("ok"));
  await call;
});
