import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { expect, test } from "vitest";
import { hexLines } from "../../../packages/cli/src/shared/output/hex.js";
import { plainHttp } from "../plain-http.js";
import { expectGone, fixture, jsonLines, misbehaving, parlance, toolsServer } from "../run.js";

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/**
 * A program that prints its input in hex, when that has ended; one of a shell, which starts fast, and deaf to SIGTERM, because on a busy
 * machine even that may be sent before it has read its input.
 */
const hexOfInput = ["--", "/bin/sh", "-c", "trap '' TERM; echo \"got $(od -An -v -tx1 | tr -d ' \\n')\" >&2"];

/** A server that reads its input, and answers nothing; it prints its number well within any timeout. */
const silent = ["--", "/bin/sh", "-c", 'echo "pid $$" >&2; exec cat >/dev/null'];

/** The rows, without their times. */
function rows(stdout: string): readonly string[] {
  return stdout
    .split("\n")
    .slice(1)
    .filter((line) => /^ {0,2}\d/.test(line))
    .map((line) =>
      line
        .replace(/^ *(\d+) +[\d.]+ /, "$1 ")
        .replace(/ +[\d.]+ m?s(?= )/, "")
        .replace(/ {2,}/g, " "),
    );
}

test.concurrent("a message is sent, its answer is shown whole, and the server is ended", async () => {
  const { code, stdout, stderr } = await parlance(["send", "--line", ping, ...toolsServer]);
  expect(rows(stdout)).toEqual(["1 client → req 1 ping 40 B", "2 server ← res 1 ↔1 ping: 36 B"]);
  expect(stdout).toContain('\n              {"jsonrpc":"2.0","id":1,"result":{}}\n');
  expect(stdout).toMatch(/server +life +exited with code 0\n$/);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test.concurrent("bytes arrive as they are: nothing is added, nothing is repaired", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-send-"));
  const file = join(folder, "bytes");
  writeFileSync(file, Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x22]));
  const fromFile = await parlance(["send", "--wait", "200ms", `@${file}`, ...hexOfInput]);
  const fromText = await parlance(["send", "--wait", "200ms", "é", ...hexOfInput]);
  const asLine = await parlance(["send", "--wait", "200ms", "--line", "é", ...hexOfInput]);
  rmSync(folder, { recursive: true });
  expect(fromFile.stdout).toContain("got 7bff000d0a22\n");
  expect(fromText.stdout).toContain("got c3a9\n");
  expect(asLine.stdout).toContain("got c3a90a\n");
});

test.concurrent("bytes can come from stdin", async () => {
  const { stdout } = await parlance(["send", "--wait", "200ms", "-", ...hexOfInput], {}, Buffer.from([1, 2, 3]));
  expect(stdout).toContain("got 010203\n");
});

test.concurrent("half a line is waited for by the server, and said so", async () => {
  const { stdout } = await parlance(["send", '{"jsonrpc"', "--wait", "300ms", ...toolsServer]);
  expect(stdout).toContain("no newline ends this: a server on stdio waits for one (--line adds it)");
});

test.concurrent("garbage is answered with an error, which breaks no rule", async () => {
  const { code, stdout } = await parlance(["send", "--line", "hello", ...toolsServer]);
  expect(rows(stdout)).toEqual([
    '1 client → noise "hello" 5 B',
    "2 server ← err -32700 Parse error: a frame must be JSON 106 B",
  ]);
  expect(code).toBe(0);
});

test.concurrent("an error without an id is shown, and leaves open what it answers", async () => {
  const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';
  const program = `process.stdin.once("data", () => { console.log('{"jsonrpc":"2.0","id":1,"result":{}}'); console.log('${error}'); }).resume()`;
  const { code, stdout } = await parlance(["send", "--line", ping, "--", process.execPath, "-e", program]);
  expect(rows(stdout)[2]).toBe("3 server ← err null -32600 Invalid Request 79 B");
  expect(code).toBe(0);
});

test.concurrent("--open shakes hands first, in the revision that is asked for", async () => {
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}';
  const args = ["send", "--open", "--revision", "2024-11-05", "--line", call, ...toolsServer];
  const { code, stdout } = await parlance(args);
  expect(rows(stdout)).toEqual([
    '1 client → req "open" initialize asks for 2024-11-05 167 B',
    expect.stringMatching(/^2 server ← res .*↔1 initialize: tools-server 1\.2\.3/),
    "3 client → ntf notifications/initialized 54 B",
    "4 client → req 1 tools/call hello 72 B",
    "5 server ← res 1 ↔4 tools/call: hello hello … 85 B",
  ]);
  expect(code).toBe(0);
});

test.concurrent("without it the server says what it misses", async () => {
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const { stdout } = await parlance(["send", "--line", list, ...toolsServer], { COLUMNS: "160" });
  expect(stdout).toContain("tools/list: -32600 Invalid Request: tools/list came before initialize");
});

test.concurrent("--hex shows the bytes of both sides", async () => {
  const { stdout } = await parlance(["send", "--line", "--hex", ping, ...toolsServer]);
  expect(stdout).toContain('→ 0000  7b 22 6a 73 6f 6e 72 70 63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"\n');
  expect(stdout).toContain('→ 0020  3a 22 70 69 6e 67 22 7d 0a                       :"ping"}.\n');
  expect(stdout).toContain('← 0000  7b 22 6a 73 6f 6e 72 70 63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"\n');
});

test.concurrent("a hex dump goes on where it has stopped", () => {
  expect(hexLines(Buffer.from("a\n"), 16)).toEqual([`0010  61 0a${" ".repeat(42)}  a.`]);
  expect(hexLines(Buffer.from("0123456789abcdefX"))).toHaveLength(2);
});

test.concurrent("--json has frames as they crossed, and bytes in hex", async () => {
  const { stdout } = await parlance(["send", "--json", "--hex", "--line", ping, ...toolsServer]);
  const lines = jsonLines(stdout);
  expect(lines[0]).toMatchObject({ kind: "bytes", from: "client", hex: Buffer.from(`${ping}\n`).toString("hex") });
  expect(lines.map(({ kind }) => kind)).toEqual(["bytes", "req", "bytes", "res", "life"]);
  expect(lines[3]).toMatchObject({ raw: '{"jsonrpc":"2.0","id":1,"result":{}}' });
});

test.concurrent("a request without an answer is waited for, and gives 4", async () => {
  const { code, stdout } = await parlance(["send", "--timeout", "300ms", "--line", ping, ...silent]);
  expect(stdout).toContain("1 request without an answer\n");
  expectGone(stdout);
  expect(code).toBe(4);
});

test.concurrent("a server that starts slowly is waited for", async () => {
  const slow = `setTimeout(() => process.stdin.once("data", () => console.log('{"jsonrpc":"2.0","id":1,"result":{}}')).resume(), 1500)`;
  const { code, stdout } = await parlance(["send", "--line", ping, "--", process.execPath, "-e", slow]);
  expect(rows(stdout)[1]).toBe("2 server ← res 1 ↔1 ping: 36 B");
  expect(code).toBe(0);
});

test.concurrent("a notification needs no answer", async () => {
  const told = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  expect((await parlance(["send", "--wait", "100ms", "--line", told, ...toolsServer])).code).toBe(0);
});

test.concurrent("a server that breaks rules gives 2, one that dies says how, one that is not there gives 3", async () => {
  const list = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}';
  const noisy = await parlance(["send", "--open", "--line", list, ...misbehaving("noisy")]);
  expect(noisy.stdout).toMatch(/R-5 server: \/id the request with the id 2 was answered already/);
  expect(noisy.code).toBe(2);
  const dies = await parlance(["send", "--line", ping, ...misbehaving("dies")]);
  expect(dies.stdout).toMatch(/server +stderr +cannot read config\.json\n/);
  expect(dies.stderr).toMatch(/^✖ .* exited with code 3/);
  expect(dies.code).toBe(3);
  const missing = await parlance(["send", "--line", ping, "--", "no-such-command"]);
  expect(missing.stderr).toContain("no such command: check the name and PATH");
  expect(missing.code).toBe(3);
});

test.concurrent("a module takes a frame, and a WebSocket a message", async () => {
  const server = createServer({ name: "pinged", version: "1" });
  await using socket = await serveWebSocket(server);
  for (const target of [fixture("tools-server.js"), socket.url]) {
    const { code, stdout } = await parlance(["send", target, ping]);
    expect(rows(stdout)[1]).toBe("2 server ← res 1 ↔1 ping: 36 B");
    expect(code).toBe(0);
  }
});

test.concurrent("bytes that are no text cannot be a message of a module, and are not made one", async () => {
  const args = ["send", fixture("tools-server.js"), "-"];
  const { code, stderr } = await parlance(args, {}, Buffer.from([0x22, 0xff, 0x22]));
  expect(stderr).toContain("✖ these bytes are not UTF-8");
  expect(code).toBe(1);
});

test.concurrent("over HTTP one POST has exactly these bytes, and the response is shown as it is", async () => {
  const posts: { readonly headers: IncomingMessage["headers"]; readonly body: Buffer }[] = [];
  await using http = await plainHttp(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    posts.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(418, { "content-type": "text/plain", "x-odd": "yes" }).end("short\u001b and stout");
  });
  const args = ["send", "--header", "Accept: text/html", "--header", "X-Trace: 7", http.url, "{é"];
  const { code, stdout } = await parlance(args);
  expect(posts).toMatchObject([{ headers: { accept: "text/html", "x-trace": "7" }, body: Buffer.from("{é") }]);
  expect(stdout).toContain("              HTTP 418 I'm a Teapot\n");
  expect(stdout).toContain("              x-odd: yes\n");
  expect(stdout).toContain("              short\\u{1b} and stout\n");
  expect(code).toBe(0);
});

test.concurrent("over HTTP --open carries the session along, and ends it", async () => {
  const server = createServer({ name: "posted", version: "1" });
  const said: string[] = [];
  await using http = await serveHttp(server);
  await using door = await plainHttp(async (request, response) => {
    said.push(`${request.method} ${request.headers["mcp-session-id"] === undefined ? "without" : "in"} a session`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host, connection, "content-length": length, "transfer-encoding": encoding, ...headers } = request.headers;
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    const init = { method: request.method ?? "", headers: headers as Record<string, string>, ...body };
    const answer = await fetch(http.url, init);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  const { code, stdout } = await parlance(["send", "--open", door.url, ping]);
  expect(said).toEqual(["POST without a session", "POST in a session", "POST in a session", "DELETE in a session"]);
  expect(rows(stdout).at(-1)).toBe("5 server ← res 1 ↔4 ping: 36 B");
  expect(code).toBe(0);
});

test.concurrent("an event stream that does not end is read until it is quiet", async () => {
  await using http = await plainHttp((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n`);
  });
  const { code, stdout } = await parlance(["send", http.url, ping]);
  expect(stdout).toContain('              data: {"jsonrpc":"2.0","id":1,"result":{}}\n');
  expect(rows(stdout)[1]).toBe("2 server ← res 1 ↔1 ping: 36 B");
  expect(code).toBe(0);
});

test.concurrent("a URL that cannot be reached, and one that says nothing, say why", async () => {
  await using silent = await plainHttp(() => undefined);
  const waited = await parlance(["send", "--timeout", "300ms", silent.url, ping]);
  expect(waited.stderr).toContain("✖ no answer for 300 ms\n");
  expect(waited.code).toBe(4);
  const gone = await plainHttp(() => undefined);
  await gone[Symbol.asyncDispose]();
  const refused = await parlance(["send", gone.url, ping]);
  expect(refused.stderr).toMatch(/✖ connect ECONNREFUSED .*\n {2}→ nothing listens there/);
  expect(refused.code).toBe(3);
});

test.concurrent.each([
  [["node x"], "there is nothing to send"],
  [["node x", "a", "b"], "there is more than one thing to send: a b"],
  [["node x", "@no/such/file"], "no/such/file cannot be read"],
  [["node x", "a", "--wait", "long"], "Write it as 500ms, 10s or 2m"],
  [["node x", "a", "--open", "--revision", "2026-07-28"], "2026-07-28 has no handshake"],
])("send %j is a wrong command line", async (args, words) => {
  const { code, stdout, stderr } = await parlance(["send", ...args]);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
});
