import { writeFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { expect, test } from "vitest";
import { plainHttp } from "../plain-http.js";
import { expectGone, fixture, jsonLines, misbehaving, parlance, type Ran, startInForm, toolsServer } from "../run.js";
import { Scratch } from "../scratch.js";

function greeter(): Server {
  const server = createServer({ name: "greeter", version: "1.0.0" });
  server.tool("hello", { description: "Say hello" }, () => "hello");
  return server;
}

/** Runs the command, and leaves out how long each check took. */
async function doctor(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran> {
  const { stdout, ...ran } = await parlance(["doctor", ...args], env);
  return { ...ran, stdout: stdout.replace(/ +\d+(\.\d+)? m?s$/gm, "") };
}

/** The checks with what came of them, one line each. */
function checks(stdout: string): readonly string[] {
  return stdout
    .split("\n")
    .filter((line) => /^[✔✖·] /.test(line))
    .map((line) => line.replace(/ {2,}/g, ": "));
}

test.concurrent("a sound command passes every check", async () => {
  const { code, stdout, stderr } = await doctor([...toolsServer], { COLUMNS: "160" });
  expect(checks(stdout)).toEqual([
    `✔ command: ${process.execPath}`,
    "✔ starts: runs, and waits for input",
    "✔ stdout clean: nothing but messages",
    "✔ answers: server/discover: tools-server 1.2.3 speaks 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05",
    "✔ revision: 2026-07-28, stateless; 2025-11-25, with a handshake",
    "✔ capabilities: logging, tools (listChanged)",
    "✔ tools: 10 tools",
    "· resources: not offered",
    "· templates: not offered",
    "· prompts: not offered",
    "✔ messages: 4 frames, each as 2026-07-28 has it",
    "✔ ends: exited with code 0 when its input ended",
    "✔ 9 checks, and nothing is wrong; parlance check tests more: tools, and faulty messages",
  ]);
  expect(stdout).toContain("    · without a description a model cannot know what a tool is for: add, echo,");
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test.concurrent("a module is spoken to without being started", async () => {
  const { code, stdout } = await doctor([fixture("tools-server.js")]);
  expect(checks(stdout)[0]).toMatch(/^✔ answers: /);
  expect(checks(stdout).at(-1)).toBe(
    "✔ 5 checks, and nothing is wrong; parlance check tests more: tools, and faulty messages",
  );
  expect(code).toBe(0);
});

test.concurrent.each([
  [["--", "no-such-command"], "command: there is no no-such-command in any folder of PATH", "install it"],
  [["--", "nod", "x"], "command: there is no nod in any folder of PATH", "did you mean"],
  [["--", "./no/such"], "command: there is no file ", "check the path"],
  [["--", process.execPath, "srver.js"], "command: there is no file ", "check the path, and the folder"],
  [["--", fixture("tools-server.js")], "command: ", "chmod +x"],
])("a command that cannot be started, %j, says why", async (target, says, remedy) => {
  const { code, stdout } = await doctor([...target]);
  expect(checks(stdout)[0]).toContain(`✖ ${says}`);
  expect(stdout).toContain(`    → ${remedy}`);
  expect(checks(stdout).at(-2)).toMatch(
    /^· skipped, because they need the failed check: starts, stdout clean, answers,/,
  );
  expect(checks(stdout).at(-1)).toBe("✖ 1 of 1 check failed");
  expect(code).toBe(3);
});

test.concurrent("a server that exits at once is reported with its last lines on stderr, printed once", async () => {
  const { code, stdout } = await doctor([...misbehaving("dies")]);
  expect(stdout).toMatch(/✖ starts +exited with code 3 before it had answered/);
  expect(stdout.match(/│ cannot read config\.json/g)).toHaveLength(1);
  expect(stdout).toContain("│ \\u{1b}[2Jcheck the path\n");
  expect(code).toBe(3);
});

test.concurrent("a server in TypeScript that this Node does not run has the remedy that the other commands name", async () => {
  using folder = new Scratch();
  const stripsTypes = "typescript" in process.features && Boolean(process.features.typescript);
  const path = folder.at(stripsTypes ? "server.tsx" : "server.ts"); // No Node runs JSX.
  writeFileSync(path, "export {};");
  const { code, stdout } = await doctor(["--", process.execPath, path]);
  expect(stdout).toContain("    → the Node that was started does not run TypeScript: npx tsx in place of node");
  expect(code).toBe(3);
});

test.concurrent("of the lines of a long stack, the one with the error is shown", async () => {
  const script = "const deep = (n) => (n === 0 ? notThere() : deep(n - 1)); Error.stackTraceLimit = 15; deep(30);";
  const { stdout } = await doctor(["--", process.execPath, "-e", script]);
  expect(stdout).toContain("│ ReferenceError: notThere is not defined");
});

test.concurrent("noise on stdout is shown, and everything after it is still checked", async () => {
  const { code, stdout } = await doctor([...misbehaving("noisy")]);
  expect(stdout).toMatch(
    /✖ stdout clean +a line that is not a message\n {4}│ \[debug\] \\u\{1b\}\[31mstarting\\u\{202e\}\n/,
  );
  expect(stdout).toContain("    → stdout belongs to MCP: log to stderr,");
  expect(stdout).toMatch(/✔ revision +2025-11-25, with a handshake; the stateless era is not supported\n/);
  expect(stdout).toMatch(
    /✖ messages .*\n {4}│ frame \d+: R-5 \/id the request with the id 3 was answered already, by frame \d+\n/,
  );
  expect(code).toBe(2);
});

test.concurrent("a server that never responds is given up, and no process is left", async () => {
  const { code, stdout } = await doctor(["--timeout", "3s", ...misbehaving("silent")]);
  expect(stdout).toMatch(/✖ answers +initialize \(id 2\): no response/);
  expect(checks(stdout).at(-2)).toMatch(/^· skipped, because they need the failed check: revision,/);
  expectGone(stdout);
  expect(code).toBe(4);
});

test.concurrent("a program that is no server but sends everything back is seen through", async () => {
  const echo = ["--", process.execPath, "-e", "process.stdin.pipe(process.stdout)"];
  const { code, stdout } = await doctor([...echo]);
  expect(stdout).toMatch(/✖ answers +it repeats the messages of the client\n {4}→ is it an MCP server\?\n/);
  expect(code).toBe(3);
});

test.concurrent("a command that serves HTTP is sent to its URL", async () => {
  const program = "console.error('listening on http://127.0.0.1:3000/mcp'); setInterval(() => {}, 1000)";
  const args = ["--timeout", "3s", "--", process.execPath, "-e", program];
  const { stdout } = await doctor(args);
  expect(stdout).toContain("    → it seems to serve HTTP: parlance doctor http://127.0.0.1:3000/mcp\n");
});

test.concurrent.each([
  ["Content-Length: 20\\r\\n", "this is the framing of language servers"],
  ["{", "print JSON without line breaks"],
])("noise that begins with %j has a remedy of its own", async (line, remedy) => {
  const program = `console.log("${line}"); process.stdin.resume()`;
  const args = ["--timeout", "3s", "--", process.execPath, "-e", program];
  expect((await doctor(args)).stdout).toContain(`    → ${remedy}`);
});

test.concurrent("lists are judged by their items, their pages and their schemas", async () => {
  const { code, stdout } = await doctor([...misbehaving("lists")]);
  expect(stdout).toMatch(/✖ tools +3 tools, not all valid\n {4}│ item 0: it has no name\n/);
  expect(stdout).toContain("    │ \\u{1b}[31mred\\u{a}line: inputSchema is missing\n");
  expect(stdout).toMatch(/✖ resources +0 resources, and the server repeats a cursor/);
  expect(stdout).toMatch(/✖ prompts +the server answered with error -32603 \(Internal error\): no database/);
  expect(stdout).toContain("    → parlance explain -32603 says more\n");
  expect(stdout).toMatch(/│ frame \d+: \S+ \/result\/tools\/0 must be an object, got 7\n/);
  expect(code).toBe(2);
});

test.concurrent("a list that the server offers and never answers: the remedy is on the server", async () => {
  const program = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const serverInfo = { name: "mute", version: "1.0.0" };
      const result = { protocolVersion: "2025-11-25", capabilities: { prompts: {} }, serverInfo };
      if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;
  const { stdout } = await doctor(["--timeout", "5s", "--", process.execPath, "-e", program]);
  expect(stdout).toMatch(/✖ prompts +prompts\/list/);
  expect(stdout).toContain("→ answer prompts/list, or do not declare prompts; --timeout 2m waits longer");
});

test.concurrent("a server that dies in the middle makes going on useless", async () => {
  const { code, stdout } = await doctor([...misbehaving("breaks")]);
  expect(stdout).toMatch(/✖ tools +tools\/list \(id \d+\): .* exited with code 7/);
  expect(checks(stdout).at(-2)).toBe(
    "· skipped, because they need the failed check: resources, templates, prompts, messages, ends",
  );
  expect(code).toBe(3);
});

test.concurrent("a server that outlives its input is reported", async () => {
  const { code, stdout } = await doctor([...misbehaving("lingers")]);
  expect(stdout).toMatch(/✖ ends +was ended by SIGTERM; it did not exit when its input ended/);
  expect(stdout).toContain("    → exit when stdin ends");
  expect(code).toBe(2);
});

test.concurrent("--json has every check, tried or not", async () => {
  const { code, stdout } = await doctor(["--json", ...misbehaving("dies")]);
  const [result = {}] = jsonLines(stdout);
  expect(result).toMatchObject({ exitCode: 3, target: expect.stringContaining("misbehaving-server.js dies") });
  expect((result.checks as readonly { state: string }[]).map(({ state }) => state)).toEqual([
    "ok",
    "failed",
    ...Array.from({ length: 10 }, () => "not tried"),
  ]);
  expect(code).toBe(3);
});

test.concurrent("a server on HTTP is reached step by step", async () => {
  await using http = await serveHttp(greeter());
  const { code, stdout } = await doctor([http.url]);
  expect(checks(stdout).slice(0, 4)).toEqual([
    "✔ resolves: it is an address",
    expect.stringMatching(/^✔ connects: 127\.0\.0\.1 port \d+$/),
    "✔ HTTP answers: POST: 200 OK application/json",
    "✔ is MCP: a message in application/json",
  ]);
  expect(checks(stdout).at(-1)).toBe(
    "✔ 9 checks, and nothing is wrong; parlance check tests more: tools, and faulty messages",
  );
  expect(code).toBe(0);
});

test.concurrent("a server on a WebSocket is reached step by step", async () => {
  await using socket = await serveWebSocket(greeter());
  const { code, stdout } = await doctor([socket.url]);
  expect(checks(stdout).slice(0, 3)).toEqual([
    "✔ resolves: it is an address",
    expect.stringMatching(/^✔ connects: /),
    expect.stringMatching(/^✔ answers: /),
  ]);
  expect(code).toBe(0);
});

test.concurrent.each([
  ["/", "MCP is spoken at another path: parlance doctor http://127.0.0.1:"],
  ["/wrong", "MCP is spoken at another path: parlance doctor http://127.0.0.1:"],
])("a wrong path, %s, names the right one", async (path, remedy) => {
  await using http = await serveHttp(greeter());
  const { code, stdout } = await doctor([new URL(path, http.url).href]);
  expect(stdout).toMatch(/✖ is MCP +status 404 Not Found/);
  expect(stdout).toContain(`    → ${remedy}`);
  expect(stdout).toContain("/mcp\n");
  expect(code).toBe(3);
});

test.concurrent("a 401 names where tokens come from, and headers authenticate", async () => {
  const guarded = nodeHandler(greeter());
  await using http = await plainHttp((request, response) => {
    if (request.url === "/metadata") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ resource: http.url, authorization_servers: ["http://127.0.0.1:1"] }));
    } else if (request.headers.authorization === "Bearer abc") {
      guarded(request, response);
    } else {
      response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="/metadata"' }).end();
    }
  });
  const refused = await doctor([http.url]);
  expect(checks(refused.stdout)).toContain('✔ challenge: Bearer resource_metadata="/metadata"');
  expect(refused.stdout).toMatch(/✔ metadata +of http:\S+; tokens come from http:\/\/127.0.0.1:1$/m);
  expect(refused.stdout).toContain(`    → parlance login ${http.url}, or authenticate: --bearer-env TOKEN`);
  expect(refused.code).toBe(3);
  expect((await doctor(["--header", "Authorization: Bearer abc", http.url])).code).toBe(0);
});

test.concurrent("a 401 that names no metadata is for a key first, and for a sign-in only then", async () => {
  await using http = await plainHttp((_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end());
  const { stdout } = await doctor([http.url]);
  const words = stdout.replaceAll(/\s+/g, " ");
  expect(words).toMatch(/→ authenticate: --bearer-env TOKEN .*, or with an authorization server parlance login http/);
});

/** A server that refuses every token, whose metadata names its URL and an issuer. */
function refusingServer(issuer: string) {
  return plainHttp((request, response) => {
    if (request.url === "/metadata") {
      const resource = `http://${request.headers.host}/mcp`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ resource, authorization_servers: [issuer] }));
    } else response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="/metadata"' }).end();
  });
}

test.concurrent.each([
  [{ aud: "https://other.example/mcp" }, 'its audience is "https://other.example/mcp", and the server is http'],
  [{ iss: "https://other.example" }, 'its issuer is "https://other.example", and the server accepts tokens of http'],
  [{ exp: 1_700_000_000 }, "it expired at 2023-11-14T22:13:20.000Z"],
  [{}, "refused, although its audience, issuer and expiry are those of the metadata"],
])("a token that is refused is compared with the metadata: %j", async (differs, says) => {
  const issuer = "http://127.0.0.1:1";
  await using http = await refusingServer(issuer);
  const claims = { aud: http.url, iss: issuer, ...differs };
  const token = ["{}", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url"));
  const { stdout, code } = await doctor(["--header", `Authorization: Bearer ${token.join(".")}`, http.url]);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(`✖ token ${says}`);
  expect(stdout).toContain("→ the token is refused: see above");
  expect(stdout).not.toContain(token[1]);
  expect(code).toBe(3);
});

test.concurrent("a token that is no JSON Web Token is not looked into", async () => {
  await using http = await refusingServer("http://127.0.0.1:1");
  const { stdout } = await doctor(["--header", "Authorization: Bearer opaque", http.url]);
  expect(stdout).toMatch(/✖ token +refused; it is opaque/);
});

test.concurrent("an authorization server without metadata, and one that is not there, are named", async () => {
  await using named = await plainHttp((request, response) => {
    if (request.url === "/metadata")
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ resource: named.url, authorization_servers: [new URL(named.url).origin] }));
    else if (request.url?.startsWith("/.well-known/")) response.writeHead(404).end();
    else {
      const at = new URL("/metadata", named.url).href;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${at}"` }).end();
    }
  });
  const without = await doctor([named.url]);
  expect(without.stdout).toMatch(/✖ sign-in .*\n.*openid-configuration: status 404\n.*expected metadata of http:/);
  // A server with keys of its own has no authorization server, and none is looked for.
  await using bare = await plainHttp((_request, response) => response.writeHead(401).end());
  const alone = await doctor([bare.url]);
  expect(alone.stdout).toMatch(
    /✖ metadata +no Protected Resource Metadata\n[^✖]*a server with keys of its own has none/,
  );
  expect(alone.stdout).not.toContain("✖ sign-in");
  await using keyed = await plainHttp((_request, response) =>
    response.writeHead(401, { "www-authenticate": 'ApiKey realm="notes"' }).end(),
  );
  const { stdout } = await doctor([keyed.url]);
  expect(stdout).toMatch(/✔ challenge +ApiKey realm="notes": keys of its own\n/);
  expect(stdout).toMatch(/✔ bad tokens/);
  expect(stdout).not.toContain("metadata");
  await using http = await plainHttp((_request, response) =>
    response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="http://host.invalid/metadata"' }).end(),
  );
  expect((await doctor([http.url])).stdout).toMatch(/http:\/\/host\.invalid\/metadata: getaddrinfo \w+ host\.invalid/);
});

test.concurrent.each([
  [200, { "content-type": "text/html" }, "<h1>Welcome</h1>", "an answer with text/html", "this is not an MCP endpoint"],
  [301, { location: "/elsewhere" }, "", "it leads to /elsewhere", "parlance doctor http://127.0.0.1"],
  [500, { "content-type": "text/plain" }, "boom", "status 500 Internal Server Error", "the server failed"],
  [405, {}, "", "status 405 Method Not Allowed", "this path takes no POST"],
])("an answer with status %i and %j is no MCP", async (status, headers, body, says, remedy) => {
  await using http = await plainHttp((_request, response) => response.writeHead(status, headers).end(body));
  const { code, stdout } = await doctor([http.url]);
  expect(checks(stdout)[3]).toContain(`✖ is MCP: ${says}`);
  expect(stdout).toContain(`    → ${remedy}`);
  expect(code).toBe(3);
});

test.concurrent("a server of the first transport is known by its stream", async () => {
  const refusal = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Method not allowed"},"id":null}';
  await using http = await plainHttp((request, response) => {
    if (request.method !== "GET") response.writeHead(405, { "content-type": "application/json" }).end(refusal);
    else response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /messages\n\n");
  });
  const { stdout } = await doctor(["--timeout", "5s", http.url]);
  expect(checks(stdout)[3]).toBe("✔ is MCP: HTTP+SSE, the transport of the first revision");
});

test.concurrent("a closed port, an unknown name, a silent server and one without TLS fail where they fail", async () => {
  const gone = await plainHttp(() => undefined);
  await gone[Symbol.asyncDispose]();
  const closed = await doctor([gone.url]);
  expect(closed.stdout).toMatch(/✖ connects +connect ECONNREFUSED .*\n {4}→ nothing listens there/);
  expect(closed.code).toBe(3);
  const unknown = await doctor(["http://host.invalid/mcp"]);
  expect(unknown.stdout).toMatch(/✖ resolves .*\n {4}→ no such host name/);
  expect(unknown.code).toBe(3);
  await using silent = await plainHttp(() => undefined);
  const waited = await doctor(["--timeout", "3s", silent.url]);
  expect(waited.stdout).toMatch(/✖ HTTP answers +no answer for 3000 ms/);
  expect(waited.code).toBe(4);
  const plain = await doctor([silent.url.replace("http", "https")]);
  expect(plain.stdout).toMatch(/✖ TLS +wrong version number\n {4}→ the server does not use TLS: write http:/);
  expect(plain.code).toBe(3);
});

test.concurrent("a port that speaks no HTTP at all is named", async () => {
  const server = createTcpServer((socket) =>
    socket
      .on("error", () => undefined)
      .resume()
      .end("SSH-2.0-OpenSSH_9.0\r\n"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { code, stdout } = await doctor([`http://127.0.0.1:${port}/mcp`]);
  await new Promise((resolve) => server.close(resolve));
  expect(stdout).toMatch(/✖ HTTP answers .*\n {4}→ the server does not use HTTP/);
  expect(code).toBe(3);
});

test.concurrent("an interrupt ends the examination, and the server with it", async () => {
  const running = startInForm(["doctor", ...misbehaving("silent")]);
  await running.until("command");
  running.interrupt();
  expect((await running.ended).code).toBe(130);
});

test.concurrent("a server that takes the id 0 for none is named: clients on the official SDK begin with it", async () => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (!id) return;
    const serverInfo = { name: "zero", version: "1" };
    const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo }, ping: {} };
    const error = { code: -32601, message: "Method not found" };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(method in results ? { result: results[method] } : { error }) }));
  })`;
  const { code, stdout } = await doctor(["--timeout", "3s", "--", process.execPath, "-e", program]);
  expect(stdout).toContain("✖ messages      a request with the id 0 has no response");
  expect(stdout).toContain("→ a message is a notification if its id is undefined");
  expect(code).toBe(2);
});

test.concurrent.each([
  ["in place of nothing", "initialize", "✖ answers "],
  ["in place of a list", "tools/list", "✖ tools "],
])("a message without a line feed, %s, is named with the remedy", async (_when, silent, failed) => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const serverInfo = { name: "endless", version: "1" };
    const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo, tools: [] };
    const end = method === "${silent}" ? "" : "\\n";
    if (id !== undefined && method !== "server/discover") process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + end);
  })`;
  const { code, stdout } = await doctor(["--timeout", "1s", "--", process.execPath, "-e", program]);
  expect(stdout).toContain(failed);
  expect(stdout.replace(/\s+/g, " ")).toMatch(
    /the peer has sent \d+ bytes of a message, without the newline that ends it/,
  );
  expect(stdout.match(/→ .*/g)?.every((remedy) => remedy.startsWith("→ write a line feed after each message"))).toBe(
    true,
  );
  expect(stdout).not.toContain("the id 0");
  expect(code).toBe(4);
});

test.concurrent("what the server sent in place of a list is the cause, and not that the list is declared", async () => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const serverInfo = { name: "chunks", version: "1" };
    const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    const unread = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } };
    if (method === "tools/list") console.log(JSON.stringify(unread));
    else if (id !== undefined && method !== "server/discover") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  })`;
  const { stdout } = await doctor(["--timeout", "1s", "--", process.execPath, "-e", program]);
  expect(stdout).toContain("→ does the server take each chunk of stdin for a message?");
  expect(stdout).not.toContain("answer tools/list");
});
