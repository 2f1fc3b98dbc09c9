import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { expect, test } from "vitest";
import { plainHttp } from "../plain-http.js";
import { jsonLines, parlance, startInForm, toolsServer } from "../run.js";

function greeter(): Server {
  const server = createServer({ name: "greeter", version: "1.0.0" });
  server.tool("hello", { annotations: { readOnlyHint: true } }, (_args, context) => {
    void context.progress(1, 2, "clearing the throat");
    return "hello";
  });
  return server;
}

function frames(stdout: string): readonly string[] {
  return jsonLines(stdout)
    .filter(({ raw }) => raw !== undefined)
    .map(({ n, from, kind, method, pair }) =>
      [n, from, kind, method, ...(pair === undefined ? [] : [`↔${pair}`])].join(" "),
    );
}

function remarks(stdout: string): readonly unknown[] {
  return jsonLines(stdout).flatMap(({ kind, text }) => (kind === "http" ? [text] : []));
}

const handshake = [
  "1 client req initialize",
  "2 server res initialize ↔1",
  "3 client ntf notifications/initialized",
  "4 client req tools/list",
  "5 server res tools/list ↔4",
  "6 client req tools/call",
  "7 server ntf notifications/progress ↔6",
  "8 server res tools/call ↔6",
];
const stateless = [
  "1 client req server/discover",
  "2 server res server/discover ↔1",
  "3 client req tools/list",
  "4 server res tools/list ↔3",
  "5 client req tools/call",
  "6 server ntf notifications/progress ↔5",
  "7 server res tools/call ↔5",
];

test.concurrent("a talk over HTTP shows the frames of a session, its stream and its end", async () => {
  await using http = await serveHttp(greeter());
  const { code, stdout, stderr } = await parlance(["talk", "--once", "--json", "--revision", "2025-11-25", http.url]);
  expect(frames(stdout)).toEqual(handshake);
  expect(remarks(stdout)).toEqual([
    "GET /mcp: 200 OK text/event-stream: the stream is open",
    "DELETE /mcp: 204 No Content",
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test.concurrent("a talk over HTTP shows the frames of the stateless era", async () => {
  await using http = await serveHttp(greeter());
  const { code, stdout } = await parlance(["talk", "--once", "--json", http.url]);
  expect(frames(stdout)).toEqual(stateless);
  expect(remarks(stdout)).toEqual([]);
  expect(code).toBe(0);
});

test.concurrent("a frame over HTTP is what crossed, byte by byte", async () => {
  await using http = await serveHttp(greeter());
  const { stdout } = await parlance(["talk", "--once", "--json", "--revision", "2025-11-25", http.url]);
  const crossed = jsonLines(stdout).filter(({ raw }) => raw !== undefined);
  expect(crossed[2]?.raw).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  for (const { raw, bytes } of crossed) expect(bytes).toBe(Buffer.byteLength(String(raw)));
});

test.concurrent.each([
  ["2025-11-25", handshake],
  ["2026-07-28", stateless],
])("a talk over a WebSocket in %s has the same frames", async (revision, expected) => {
  await using socket = await serveWebSocket(greeter());
  const { code, stdout } = await parlance(["talk", "--once", "--json", "--revision", revision, socket.url]);
  expect(frames(stdout)).toEqual(expected);
  expect(code).toBe(0);
});

test.concurrent("a server that knows sessions alone is shown refusing the question, and then in its session", async () => {
  const session = nodeHandler(greeter());
  const refusal = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: no session"},"id":null}';
  await using http = await plainHttp((request, response) => {
    if (request.headers["mcp-method"] === undefined) session(request, response);
    else response.writeHead(400, { "content-type": "application/json" }).end(refusal);
  });
  const { code, stdout } = await parlance(["talk", "--once", "--json", http.url]);
  expect(frames(stdout).slice(0, 4)).toEqual(["1 client req server/discover", ...handshake.slice(0, 3).map(later)]);
  expect(remarks(stdout)[0]).toBe("POST /mcp: 400 Bad Request application/json: -32000 Bad Request: no session");
  expect(jsonLines(stdout).at(-1)).toMatchObject({ kind: "summary", violations: 0, errors: 0 });
  expect(stdout).not.toContain('"violation"');
  expect(code).toBe(0);
});

/** The same frame with the numbers of a conversation that one frame precedes. */
function later(frame: string): string {
  return frame.replace(/^\d+|(?<=↔)\d+/g, (n) => String(Number(n) + 1));
}

test.concurrent("a call over HTTP and over a WebSocket prints what the tool returns", async () => {
  await using http = await serveHttp(greeter());
  await using socket = await serveWebSocket(greeter());
  for (const { url } of [http, socket]) {
    const { code, stdout, stderr } = await parlance(["call", url, "hello"]);
    expect(stdout).toBe("hello\n");
    expect(stderr).toMatch(/^\d+(\.\d+)? m?s · \d+ B · ok\n$/);
    expect(code).toBe(0);
  }
});

test.concurrent("a key without the scopes of a tool is the reason of a refusal", async () => {
  const server = createServer({ name: "s", version: "1.0.0" });
  server.tool("hello", { scopes: ["greet"] }, () => "hello");
  await using http = await serveHttp(server, { auth: () => ({ principal: "me", scopes: [] }) });
  const { code, stderr } = await parlance(["call", http.url, "hello"]);
  expect(stderr).toContain("error 40300: Forbidden: the tool hello requires the scope greet");
  expect(stderr).toContain("  → the key or token does not have these scopes: use one that has them\n");
  expect(code).toBe(5);
});

test.concurrent("headers go with every request, and without them a 401 says what to give", async () => {
  const seen: (string | undefined)[] = [];
  await using http = await serveHttp(greeter(), {
    auth: ({ header }) => {
      seen.push(header("x-trace"));
      return header("authorization") === "Bearer abc" ? { principal: "me" } : undefined;
    },
  });
  const refused = await parlance(["call", http.url, "hello"]);
  expect(refused.stderr).toContain("401, the server requires authentication");
  expect(refused.stderr).toContain("  → authenticate: --bearer-env TOKEN sends the key or token in that variable");
  expect(refused.code).toBe(3);
  const given = ["--header", "Authorization: Bearer abc", "--header", "X-Trace: 7"];
  seen.length = 0;
  const { code, stdout } = await parlance(["call", ...given, http.url, "hello"]);
  expect(stdout).toBe("hello\n");
  expect(new Set(seen)).toEqual(new Set(["7"]));
  expect(code).toBe(0);
});

test.concurrent.each([
  ["a web page", 200, "text/html", "<h1>Welcome</h1>", /Content-Type "text\/html".*\n {2}→ this is a web page/],
  ["nothing at that path", 404, "text/plain", "Cannot POST /mcp", /status 404.*\n {2}→ nothing is at this path/],
  ["a path without POST", 405, "text/plain", "", /status 405.*\n {2}→ this path takes no POST: .* often \/mcp/],
  ["a caller that may not", 403, "text/plain", "", /403, .*\n {2}→ the token has no permission for this/],
  ["a server that has failed", 500, "text/plain", "boom", /status 500: "boom"\n {2}→ the server failed/],
])("%s is named, with what to do", async (_what, status, type, body, words) => {
  await using http = await plainHttp((_request, response) => {
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const { code, stdout, stderr } = await parlance(["talk", "--once", http.url]);
  expect(stderr).toMatch(words);
  expect(stdout).toContain(`http          POST /mcp: ${status} `);
  expect(code).toBe(3);
});

test.concurrent("an API that answers JSON of its own is named, with what to do", async () => {
  await using http = await plainHttp((_request, response) => {
    response.writeHead(201, { "content-type": "application/json" }).end('{"id":5,"title":"x"}');
  });
  const { code, stderr } = await parlance(["list", http.url]);
  expect(stderr).toMatch(/"2.0", it is missing\n {2}→ what answers there does not speak JSON-RPC: .* often \/mcp/);
  expect(code).toBe(3);
});

test.concurrent("a redirect is not followed, and says where it leads, without a code", async () => {
  await using http = await plainHttp((_request, response) => {
    response.writeHead(301, { location: "https://a.b/?code=c0de-4711" }).end();
  });
  const { code, stdout, stderr } = await parlance(["talk", "--once", http.url]);
  expect(stdout).toContain("POST /mcp: 301 Moved Permanently, go to https://a.b/?code=███");
  expect(stdout + stderr).not.toContain("c0de");
  expect(stderr).toContain("connect to where it really is");
  expect(code).toBe(3);
});

test.concurrent("a body that is no message is noise, and one that breaks off is shown as far as it came", async () => {
  await using noisy = await plainHttp((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end("hello");
  });
  const noise = await parlance(["talk", "--once", "--revision", "2025-11-25", noisy.url]);
  expect(noise.stdout).toMatch(
    /server ← noise +"hello" +5 B\n +✖ E-2 server: it is not JSON: expected a value at byte 0, but found "h"\n/,
  );
  await using broken = await plainHttp((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc":', () => response.destroy());
  });
  const half = await parlance(["talk", "--once", "--revision", "2025-11-25", broken.url]);
  expect(half.stdout).toMatch(/server ← frag +"\{"jsonrpc":" +11 B\n +✖ the body broke off/);
  expect(half.code).toBe(3);
});

test.concurrent.each([
  ["http", (url: string) => url, "ECONNREFUSED", "nothing listens there"],
  ["ws", (url: string) => url.replace("http", "ws"), "ECONNREFUSED", "nothing listens there"],
  ["a host", () => "http://host.invalid/mcp", "host.invalid", "no such host name"],
])("%s that cannot be reached says why", async (_what, written, words, remedy) => {
  const gone = await plainHttp(() => undefined);
  await gone[Symbol.asyncDispose]();
  const { code, stderr } = await parlance(["call", written(gone.url), "hello"]);
  expect(stderr).toContain(words);
  expect(stderr).toContain(`  → ${remedy}`);
  expect(code).toBe(3);
});

test.concurrent("https to a server without TLS, and a WebSocket where there is none, say which scheme to write", async () => {
  await using http = await serveHttp(greeter());
  const tls = await parlance(["call", http.url.replace("http", "https"), "hello"]);
  expect(tls.stderr).toContain("  → the server does not use TLS: write http:// or ws://\n");
  const socket = await parlance(["call", http.url.replace("http", "ws"), "hello"]);
  expect(socket.stderr).toContain("  → the server opens no WebSocket: does it use http:// or https://?\n");
  expect([tls.code, socket.code]).toEqual([3, 3]);
});

test.concurrent("a server that takes a request and says nothing is given up after the timeout", async () => {
  await using http = await plainHttp(() => undefined);
  const { code, stderr } = await parlance(["call", "--timeout", "300ms", http.url, "hello"]);
  expect(stderr).toMatch(/no response.*\n {2}→ the server accepted the request and does not respond/);
  expect(stderr).toMatch(/client → req +1 +server\/discover/);
  expect(code).toBe(4);
});

test.concurrent("an interrupt gives up what is under way", async () => {
  await using http = await plainHttp(() => undefined);
  const talk = startInForm(["talk", http.url]);
  await talk.until("server/discover");
  talk.interrupt();
  expect((await talk.ended).code).toBe(130);
});

test.concurrent.each([
  [["http://"], "http:// is not a URL"],
  [["ftp://example.com"], "ftp:// is not supported: use http, https, ws or wss"],
  [["http://me:secret@example.com/mcp"], "a URL with a password ends up in logs"],
  [["localhost:3000/mcp"], "write http://localhost:3000/mcp"],
  [["--header", "nonsense", "http://example.com"], "Write 'Name: value'"],
  [["--header", "Host: other.example", "http://example.com"], "the Host of an HTTP request is that of the URL"],
  [["--header", "a: b", ...toolsServer], "--header is for requests to a URL"],
  [["--env", "a=b", "http://example.com"], "--env is for a command"],
])("talk %j is a wrong command line", async (args, words) => {
  const { code, stdout, stderr } = await parlance(["talk", ...args]);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("secret");
  expect(stdout).toBe("");
  expect(code).toBe(1);
});
