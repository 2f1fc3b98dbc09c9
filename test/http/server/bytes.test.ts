import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { modern, parse, stateless, textOf } from "../../testing/frames.js";
import { statelessCall, written } from "./asked.js";
import { shop } from "./shop.js";
import { type Site, site } from "./site.js";
import { type Answer, Wire } from "./wire.js";

const body = stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } });
const said = [
  "Host: localhost",
  "Accept: application/json, text/event-stream",
  "Content-Type: application/json",
  `MCP-Protocol-Version: ${modern}`,
  "Mcp-Method: tools/call",
  "Mcp-Name: echo",
];

/** A good call, whose lines a row may change. */
function call(lines: readonly string[], length = Buffer.byteLength(body), start = "POST /mcp HTTP/1.1"): string {
  return `${[start, ...lines, `Content-Length: ${length}`].join("\r\n")}\r\n\r\n${body}`;
}

/** The lines of a good call, one of them put in the place of another. */
function instead(name: string, ...lines: readonly string[]): readonly string[] {
  return [...said.filter((line) => !line.startsWith(`${name}:`)), ...lines];
}

async function expectAlive(at: Site): Promise<void> {
  const { status, body: answer } = await at.ask(statelessCall("echo", { text: "alive" }));
  expect({ status, text: textOf(answer) }).toEqual({ status: 200, text: "alive" });
}

/** The response to a row, by a server that then answers a valid call, and has run nothing for the row. */
async function refused(bytes: string): Promise<Answer> {
  const ran: string[] = [];
  await using at = await site(shop((tool) => ran.push(tool)));
  using wire = await at.open();
  const answer = await wire.ask(Buffer.from(bytes, "latin1"));
  expect(ran, "what has run all the same").toEqual([]);
  await expectAlive(at);
  return answer;
}

describe("bytes that no header may have, or that are not HTTP, get 400 and no word", () => {
  test.each([
    ["a carriage return", call(instead("Mcp-Name", "Mcp-Name: echo\rX: y"))],
    ["a line feed", call(instead("Mcp-Name", "Mcp-Name: echo\n X"))],
    ["a zero", call(instead("Mcp-Name", "Mcp-Name: echo\0"))],
    ["a space in a name", call([...said, "Mcp Name: echo"])],
    ["a space behind a name", call(instead("Mcp-Name", "Mcp-Name : echo"))],
    ["no Host", call(instead("Host"))],
    ["an invalid length", call(said, Number.NaN)],
    ["two lengths", call([...said, "Content-Length: 3"])],
    ["a length and chunks", call([...said, "Transfer-Encoding: chunked"])],
    ["something else than HTTP", "hello\r\n\r\n"],
  ])("%s", async (_name, bytes) => {
    expect(await refused(bytes)).toMatchObject({ status: 400, body: "" });
  });

  test("more headers than there may be bytes: 431", async () => {
    expect(await refused(call([...said, `X: ${"x".repeat(16 * 1024)}`]))).toMatchObject({ status: 431, body: "" });
  });
});

describe("headers that stand twice are refused", () => {
  test("Host, whatever the second one says", async () => {
    for (const second of ["localhost", "evil.com"]) {
      const { status, body: reason } = await refused(call([...said, `Host: ${second}`]));
      expect({ status, reason }).toEqual({ status: 403, reason: expect.stringContaining("is not a host") as unknown });
    }
  });

  test.each(["Mcp-Name: echo", "Mcp-Method: tools/call", `MCP-Protocol-Version: ${modern}`])("%s", async (line) => {
    const answer = await refused(call([...said, line]));
    expect({ status: answer.status, code: parse(answer.body).error?.code }).toEqual({ status: 400, code: -32_020 });
  });

  test("Origin", async () => {
    const answer = await refused(call([...said, "Origin: http://localhost", "Origin: https://evil.com"]));
    expect(answer.status).toBe(403);
  });

  test("Content-Type", async () => {
    expect((await refused(call([...said, "Content-Type: text/plain"]))).status).toBe(415);
  });
});

test("names of headers ignore case, and spaces around values are not theirs; values do not ignore it", async () => {
  await using at = await site();
  using wire = await at.open();
  const lines = said.map((line) => {
    const [name = "", value = ""] = line.split(": ");
    return `${name.toUpperCase()}:\t ${value} \t`;
  });
  const { status, body: answer } = await wire.ask(call(lines));
  expect({ status, text: textOf(answer) }).toEqual({ status: 200, text: "hi" });
  const other = await wire.ask(call(instead("Mcp-Name", "mcp-name: Echo")));
  expect(parse(other.body).error?.code).toBe(-32_020);
});

describe("a body", () => {
  test("that ends before its end runs nothing", async () => {
    const ran: string[] = [];
    await using at = await site(shop((tool) => ran.push(tool)));
    using wire = await at.open();
    wire.write(call(said, Buffer.byteLength(body) + 1));
    wire.socket.end();
    const answer = await wire.answer();
    expect(answer.status).toBe(400);
    await expectAlive(at);
    expect(ran).toEqual(["echo"]);
  });

  test("whose connection breaks runs nothing, and keeps nothing", async () => {
    const ran: string[] = [];
    await using at = await site(shop((tool) => ran.push(tool)));
    using wire = await at.open();
    wire.write(call(said, Buffer.byteLength(body) + 1));
    await expectAlive(at);
    wire.cut();
    await expectAlive(at);
    expect(ran).toEqual(["echo", "echo"]);
    expect(at.reports).toEqual([]);
  });

  test("that says it is too long is refused before it comes", async () => {
    await using at = await site();
    for (const length of [4 * 1024 * 1024 + 1, 100_000_000_000]) {
      using wire = await at.open();
      wire.write(call(said, length).slice(0, -body.length));
      const answer = await wire.answer();
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 413,
        body: expect.stringContaining("the body has more than 4194304 bytes") as unknown,
      });
      await wire.closed();
    }
    await expectAlive(at);
  });

  test("of a gigabyte in chunks is refused at the bound, and no more of it is read", async () => {
    await using at = await site();
    using wire = await at.open();
    const gone = once(wire.socket, "close").then(() => true);
    wire.write(`${["POST /mcp HTTP/1.1", ...said, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
    const chunk = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    for (let isGone = false; !isGone && sent < 1024 * 1024 * 1024; sent += chunk.length) {
      wire.write(`${chunk.length.toString(16)}\r\n`);
      wire.write(chunk);
      if (!wire.socket.write("\r\n")) {
        isGone = await Promise.race([gone, once(wire.socket, "drain").then(() => false)]).catch(() => true);
      }
    }
    // After its answer 64 MiB are read into nothing, and what is on its way in buffers of the system has been sent too.
    expect(sent).toBeLessThan(96 * 1024 * 1024);
    await expectAlive(at);
  });

  test("whose last byte is too much is refused once, and its end is no message", async () => {
    await using at = await site(shop(), { limits: { frameBytes: 1_000 } });
    using wire = await at.open();
    const head = ["POST /mcp HTTP/1.1", ...said, "Transfer-Encoding: chunked"].join("\r\n");
    wire.write(`${head}\r\n\r\n3e9\r\n${"x".repeat(1_001)}\r\n0\r\n\r\n`);
    expect((await wire.answer()).status).toBe(413);
    await expectAlive(at);
    expect(at.reports).toEqual([]);
  });

  test("in many chunks, cut anywhere, is one", async () => {
    await using at = await site();
    using wire = await at.open();
    wire.write(`${["POST /mcp HTTP/1.1", ...said, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
    const euro = Buffer.from(body.replace("hi", "h€i"));
    for (const byte of euro)
      wire.write(Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")]));
    wire.write("0\r\n\r\n");
    expect(textOf((await wire.answer()).body)).toBe("h€i");
  });
});

test("requests that come at once on one connection are answered in their order", async () => {
  await using at = await site();
  using wire = await at.open();
  const calls = ["1", "2", "3"].map((text) => written(statelessCall("echo", { text })));
  wire.write(Buffer.concat(calls));
  for (const text of ["1", "2", "3"]) expect(textOf((await wire.answer()).body)).toBe(text);
});

test("another path than the server's has nothing for any caller", async () => {
  const ran: string[] = [];
  await using at = await site(shop((tool) => ran.push(tool)));
  for (const path of ["/", "/mcp//", "/mcpx", "/../mcp", "//mcp", "/MCP", "/.well-known/x"]) {
    const { status } = await at.ask({ ...statelessCall("echo", { text: "no" }), path });
    expect({ path, status }).toEqual({ path, status: 404 });
  }
  const { status } = await at.ask({ ...statelessCall("echo", { text: "yes" }), path: "/mcp?x=1" });
  expect({ status, ran }).toEqual({ status: 200, ran: ["echo"] });
});

test("a request to upgrade to a protocol that is not served is answered, and keeps no connection", async () => {
  await using at = await site();
  const { status } = await at.ask({ method: "GET", headers: { connection: "Upgrade", upgrade: "websocket" } });
  expect(status).toBe(406);
  await expectAlive(at);
});

test("a peer of HTTP/1.0 without a Host gets 400", async () => {
  await using at = await site();
  using wire = await Wire.open(at.http.port);
  const answer = await wire.ask(call(instead("Host"), Buffer.byteLength(body), "POST /mcp HTTP/1.0"));
  expect({ status: answer.status, reason: parse(answer.body).error?.data }).toEqual({
    status: 400,
    reason: { reason: "the request has no Host" },
  });
});
