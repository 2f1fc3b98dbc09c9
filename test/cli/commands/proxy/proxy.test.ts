import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { bytesOf } from "@parlance/wire";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { runs } from "../../../testing/forms.js";
import { parlance } from "../../run.js";
import { ask, bodyOf, headsOf, proxied } from "./proxied.js";

const json = { "Content-Type": "application/json" };
const events = { "Content-Type": "text/event-stream" };

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("bodies arrive as they were sent, both ways, and stand in the recording", async () => {
  await using stand = await proxied((request, response) => {
    response.writeHead(200, json);
    request.pipe(response);
  });
  const sums: string[] = [];
  let crossed = 0;
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.integer({ min: 1, max: 300_000 }).map((size) => new Uint8Array(size).fill(0x61)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { minLength: 1, maxLength: 10 }), async (chunks) => {
      const sent = Buffer.concat(chunks);
      const { body } = await ask(`${stand.near}/mcp`, { method: "POST" }, chunks);
      expect(sha256(body)).toBe(sha256(sent));
      if (sent.length > 0) sums.push(sha256(sent), sha256(sent));
      // A recorder that gets no CPU time leaves a gap beyond 32 MiB, so the next body waits until this one is written.
      crossed += 2 * sent.length;
      await vi.waitFor(() => expect(statSync(stand.recording).size).toBeGreaterThanOrEqual(crossed), {
        timeout: 60_000,
        interval: 5,
      });
    }),
    { numRuns: runs(20) },
  );
  const frames = (await stand.recorded()).flatMap((entry) => (entry.k === "f" ? [sha256(bytesOf(entry))] : []));
  expect(frames).toEqual(sums);
});

test("headers keep their order and their case both ways; only the host is the server's", async () => {
  let seen: readonly string[] = [];
  await using stand = await proxied((request, response) => {
    seen = request.rawHeaders;
    response.sendDate = false;
    response.writeHead(200, "Fine", ["X-Zeta", "1", "x-Alpha", "2", "X-Zeta", "3", "Content-Length", "2"]).end("{}");
  });
  const headers = ["X-b", "1", "HOST", new URL(stand.near).host, "x-A", "2", "Origin", stand.near, "X-b", "3"];
  const { rawHeaders } = await ask(`${stand.near}/mcp?a=1`, { headers: headers as never, setHost: false });
  const { host } = new URL(stand.far);
  expect(seen.slice(0, 10)).toEqual(["X-b", "1", "HOST", host, "x-A", "2", "Origin", stand.far, "X-b", "3"]);
  expect(rawHeaders.slice(0, 8)).toEqual(["X-Zeta", "1", "x-Alpha", "2", "X-Zeta", "3", "Content-Length", "2"]);
  const entries = await stand.recorded();
  const [head] = headsOf(entries, "req");
  expect(head).toMatchObject({ method: "GET", url: "/mcp?a=1" });
  expect(head?.headers?.slice(0, 2)).toEqual([
    ["X-b", "1"],
    ["HOST", new URL(stand.near).host],
  ]);
  expect(headsOf(entries, "res")[0]?.headers?.slice(0, 3)).toEqual([
    ["X-Zeta", "1"],
    ["x-Alpha", "2"],
    ["X-Zeta", "3"],
  ]);
});

test("each event passes at once, and is a frame with what stood in it", async () => {
  let stream: import("node:http").ServerResponse | undefined;
  await using stand = await proxied((request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, events);
      response.write(': hello\n\nid: 1\nevent: message\nretry: 10\ndata: {"a":\r\ndata:  1}\n\n');
    } else {
      stream?.end('id: 2\ndata: "\u00e9"\r\rdata: cut');
      response.writeHead(202).end();
    }
  });
  const asked = request(`${stand.near}/mcp`, { headers: { "Last-Event-ID": "0" } }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let seen = "";
  response.setEncoding("utf8").on("data", (text: string) => {
    seen += text;
  });
  const first = ': hello\n\nid: 1\nevent: message\nretry: 10\ndata: {"a":\r\ndata:  1}\n\n';
  await vi.waitFor(() => expect(seen).toBe(first), { timeout: 60_000 });
  await ask(`${stand.near}/mcp`, { method: "POST" }, [Buffer.from("{}")]);
  if (!response.readableEnded) await once(response, "end");
  expect(seen).toBe(`${first}id: 2\ndata: "é"\r\rdata: cut`);
  const entries = await stand.recorded();
  const frames = entries.flatMap((entry) => (entry.k === "f" && entry.ch === "sse" ? [entry] : []));
  expect(frames.map(({ raw, ev, len, req }) => ({ raw, ev, len, req }))).toEqual([
    { raw: '{"a":\n 1}', ev: { id: "1", event: "message", retry: 10 }, len: 9, req: 1 },
    { raw: '"é"', ev: { id: "2" }, len: 4, req: 1 },
    { raw: "cut", ev: {}, len: 3, req: 1 },
  ]);
});

test("a disconnect is passed on to the other side, and recorded with the side that caused it", async () => {
  const closed: Promise<unknown>[] = [];
  await using stand = await proxied((request, response) => {
    response.writeHead(200, events).write("data: 1\n\n");
    if (request.url === "/mcp?breaks") setImmediate(() => response.destroy());
    closed.push(once(response, "close"));
  });
  const asked = request(`${stand.near}/mcp`).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  asked.destroy();
  await closed[0];
  await expect(ask(`${stand.near}/mcp?breaks`)).rejects.toThrow("aborted");
  const aborts = headsOf(await stand.recorded(), "abort");
  expect(aborts.map(({ why }) => why)).toEqual(["the client has gone away", "aborted"]);
});

test("a client that waits for 100 Continue gets it from the server", async () => {
  await using stand = await proxied((request, response) => {
    if (request.url === "/mcp?no") return response.writeHead(417).end();
    response.writeContinue();
    return request.pipe(response.writeHead(200, json));
  });
  const waiting = (path: string): ReturnType<typeof request> =>
    request(`${stand.near}${path}`, { method: "POST", headers: { Expect: "100-continue", "Content-Length": 2 } });
  const asked = waiting("/mcp");
  asked.flushHeaders();
  await once(asked, "continue");
  asked.end("{}");
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  expect((await bodyOf(response)).toString()).toBe("{}");
  const refused = waiting("/mcp?no");
  refused.flushHeaders();
  const [refusal] = (await once(refused, "response")) as [IncomingMessage];
  refused.destroy();
  expect(refusal.statusCode).toBe(417);
});

test("what is compressed passes as it is, and is recorded as it reads", async () => {
  const text = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}');
  const packed = { gzip: gzipSync(text), br: brotliCompressSync(text) };
  await using stand = await proxied((request, response) => {
    const encoding = request.url === "/mcp?br" ? "br" : "gzip";
    response.writeHead(200, { ...json, "Content-Encoding": encoding }).end(packed[encoding]);
  });
  expect((await ask(`${stand.near}/mcp`)).body.equals(packed.gzip)).toBe(true);
  expect((await ask(`${stand.near}/mcp?br`)).body.equals(packed.br)).toBe(true);
  const frames = (await stand.recorded()).flatMap((entry) => (entry.k === "f" ? [entry.raw] : []));
  expect(frames).toEqual([text.toString(), text.toString()]);
});

test("exchanges of one session have one name, the one that asks for it too", async () => {
  let sessions = 0;
  await using stand = await proxied(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    if (body.includes("initialize")) response.setHeader("Mcp-Session-Id", `session-${++sessions}`);
    response.writeHead(200, json).end("{}");
  });
  const post = (text: string, id?: string): Promise<unknown> =>
    ask(`${stand.near}/mcp`, { method: "POST", ...(id && { headers: { "Mcp-Session-Id": id } }) }, [Buffer.from(text)]);
  await post('{"method":"initialize"}');
  await post('{"method":"initialize"}');
  await post('{"method":"ping"}', "session-1");
  await post('{"method":"ping"}', "session-2");
  await post('{"method":"server/discover"}');
  const entries = await stand.recorded();
  const sessionsOf = [1, 2, 3, 4, 5].map((x) => {
    const of = entries.filter((entry) => (entry.k === "h" && entry.x === x) || (entry.k === "f" && entry.req === x));
    return { count: of.length, names: [...new Set(of.map((entry) => "s" in entry && entry.s))] };
  });
  expect(sessionsOf).toEqual(["1", "2", "1", "2", "0"].map((name) => ({ count: 5, names: [name] })));
});

test("a stream that says where its messages go to says an address of the proxy", async () => {
  await using stand = await proxied((request, response) => {
    if (request.method === "POST") return response.writeHead(202).end();
    const { host } = request.headers;
    response.writeHead(200, events).write("event: endp");
    return setImmediate(() => response.end(`oint\ndata: http://${host}/messages?id=7\n\ndata: {}\n\n`));
  });
  const { body } = await ask(`${stand.near}/mcp`);
  expect(body.toString()).toBe(`event: endpoint\ndata: ${stand.near}/messages?id=7\n\ndata: {}\n\n`);
  expect(await ask(`${stand.near}/messages?id=7`, { method: "POST" }, [Buffer.from("{}")])).toMatchObject({
    status: 202,
  });
  const entries = await stand.recorded();
  expect(new Set(entries.flatMap((entry) => (entry.k === "h" || entry.k === "f" ? [entry.s] : [])))).toEqual(
    new Set(["1"]),
  );
  expect(entries.flatMap((entry) => (entry.k === "f" ? [entry.raw] : []))).toEqual([
    `${stand.far}/messages?id=7`,
    "{}",
    "{}",
  ]);
});

test("a stream that says late where its messages go to has a session of its own all the same", async () => {
  await using stand = await proxied(async (request, response) => {
    if (request.method === "POST") {
      await bodyOf(request);
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, events).flushHeaders();
    // As late as that: the recorder has given up waiting for a session.
    await vi.waitFor(() => expect(readFileSync(stand.recording, "utf8")).toContain('"ph":"res"'), { timeout: 60_000 });
    response.write("event: endpoint\ndata: /messages?id=7\n\n");
  });
  const asked = request(`${stand.near}/mcp`).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  await once(response, "data");
  await ask(`${stand.near}/messages?id=7`, { method: "POST" }, [Buffer.from("{}")]);
  asked.on("error", () => undefined).destroy();
  const entries = await stand.recorded();
  expect(entries.flatMap((entry) => (entry.k === "f" ? [`${entry.s} ${entry.raw}`] : []))).toEqual([
    "1 /messages?id=7",
    "1 {}",
  ]);
});

test("signing in works: what names the server names the proxy, and back; none of its bodies is recorded", async () => {
  const asked: string[] = [];
  await using stand = await proxied(async (request, response) => {
    const far = `http://${request.headers.host}`;
    const { url = "" } = request;
    const answer = (value: object): unknown => response.writeHead(200, json).end(JSON.stringify(value));
    if (url === "/.well-known/oauth-protected-resource/mcp")
      return answer({ resource: `${far}/mcp`, authorization_servers: [far] });
    if (url === "/.well-known/oauth-authorization-server")
      return answer({ issuer: far, authorization_endpoint: `${far}/authorize`, token_endpoint: `${far}/token` });
    asked.push(`${url} ${await bodyOf(request)}`.trim());
    if (url.startsWith("/authorize"))
      return response
        .writeHead(302, { Location: `http://127.0.0.1:1/callback?code=1&iss=${encodeURIComponent(far)}` })
        .end();
    if (url === "/token") return answer({ access_token: "secret" });
    const metadata = `Bearer resource_metadata="${far}/.well-known/oauth-protected-resource/mcp"`;
    return response.writeHead(401, { "WWW-Authenticate": metadata }).end();
  });
  const { near, far } = stand;
  const { headers } = await ask(`${near}/mcp`, { method: "POST" }, [Buffer.from("{}")]);
  expect(headers["www-authenticate"]).toBe(
    `Bearer resource_metadata="${near}/.well-known/oauth-protected-resource/mcp"`,
  );
  const resource = await ask(`${near}/.well-known/oauth-protected-resource/mcp`);
  expect(JSON.parse(resource.body.toString())).toEqual({ resource: `${near}/mcp`, authorization_servers: [near] });
  const server = await ask(`${near}/.well-known/oauth-authorization-server`);
  expect(JSON.parse(server.body.toString())).toEqual({
    issuer: near,
    authorization_endpoint: `${near}/authorize`,
    token_endpoint: `${near}/token`,
  });
  const wanted = encodeURIComponent(`${near}/mcp`);
  const redirect = await ask(`${near}/authorize?resource=${wanted}`);
  expect(redirect.headers.location).toBe(`http://127.0.0.1:1/callback?code=1&iss=${encodeURIComponent(near)}`);
  const form = Buffer.from(`grant_type=authorization_code&resource=${wanted}`);
  await ask(`${near}/token`, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" } }, [
    form,
  ]);
  const named = encodeURIComponent(`${far}/mcp`);
  expect(asked).toEqual([
    "/mcp {}",
    `/authorize?resource=${named}`,
    `/token grant_type=authorization_code&resource=${named}`,
  ]);
  const entries = await stand.recorded();
  expect(entries.flatMap((entry) => (entry.k === "f" ? [entry.raw] : []))).toEqual(["{}"]);
});

test("a server that cannot be reached, and a request by another name, are refused in the name of the proxy", async () => {
  await using stand = await proxied((request) => request.socket.destroy());
  const broken = await ask(`${stand.near}/mcp`);
  expect(broken.status).toBe(502);
  expect(broken.body.toString()).toBe(`parlance proxy: ${stand.far} cannot be reached: socket hang up\n`);
  const rebound = await ask(`${stand.near}/mcp`, { headers: { Host: "evil.example" } });
  expect(rebound.status).toBe(403);
  const entries = await stand.recorded();
  expect(headsOf(entries, "abort").map(({ why }) => why)).toEqual(["socket hang up"]);
  expect(headsOf(entries, "req")).toHaveLength(1);
});

test("a body that is longer than its Content-Length is passed and recorded up to there, with the reason", async () => {
  const text = '{"text":"4 °C"}';
  await using stand = await proxied((_request, response) => {
    // Characters in place of bytes, as servers that were written by hand have it.
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": text.length }).end(text);
  });
  const { body } = await ask(`${stand.near}/mcp`, { method: "POST" });
  expect(body.toString()).toBe('{"text":"4 °C"');
  const entries = await stand.recorded();
  expect(entries.flatMap((entry) => (entry.k === "f" ? [entry.raw] : []))).toEqual(['{"text":"4 °C"']);
  expect(headsOf(entries, "abort").map(({ why }) => why)).toEqual([
    "more bytes came than its Content-Length has, which counts bytes and not characters",
  ]);
});

test("it listens on this machine only, unless an option says otherwise", async () => {
  const args = ["proxy", "--target", "http://127.0.0.1:9/mcp", "--listen", "0.0.0.0:0"];
  expect(await parlance(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("add --exposed") });
  // No machine has this address (RFC 5737), so the proxy fails after the option was accepted.
  const elsewhere = ["proxy", "--target", "http://127.0.0.1:9/mcp", "--listen", "203.0.113.1:7777"];
  for (const flag of ["--exposed", "--i-know"])
    expect(await parlance([...elsewhere, flag])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("203.0.113.1"),
    });
  expect(await parlance(["proxy"])).toMatchObject({ code: 1, stderr: expect.stringContaining("--target") });
  expect(await parlance(["proxy", "--target", "mcp"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("http://localhost:3000/mcp"),
  });
});
