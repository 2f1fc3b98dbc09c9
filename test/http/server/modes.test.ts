import type { Auth } from "@parlance/mcp/http";
import { createServer, elicitForm, inputRequired } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { initialize, initialized, parse, ping, pong, request, success, textOf } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { type Asked, type AskedHeaders, statelessCall, written } from "./asked.js";
import { doors } from "./handlers.js";
import { shop } from "./shop.js";
import { type Site, site } from "./site.js";
import type { Wire } from "./wire.js";

const get: Asked = { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "x" } };
const remove: Asked = { method: "DELETE", headers: { "mcp-session-id": "x" } };

describe.each(doors)("on $on, a server of the stateless era alone", ({ open }) => {
  test("takes POST, and nothing else", async () => {
    await using door = await open(shop(), { sessions: "none" });
    for (const asked of [get, remove]) {
      const { status, headers } = await door.ask(asked);
      expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    }
    expect(textOf((await door.ask(statelessCall("echo", { text: "hi" }))).body)).toBe("hi");
  });

  test("names its revisions to a client that opens a conversation", async () => {
    await using door = await open(shop(), { sessions: "none" });
    const { status, headers, body } = await door.ask({ body: initialize("2025-11-25", 5) });
    expect(status).toBe(400);
    expect(headers.has("mcp-session-id")).toBe(false);
    expect(parse(body)).toMatchObject({
      id: 5,
      error: { code: -32_022, data: { supported: ["2026-07-28"], requested: "2025-11-25" } },
    });
    for (const body of [ping, `[${ping}]`, success(1, {}), initialized])
      expect((await door.ask({ body })).status).toBe(400);
  });
});

describe.each(doors)("on $on, a server without sessions", ({ open }) => {
  test("answers each request for itself, in every revision", async () => {
    await using door = await open(shop(), { sessions: false });
    const opened = await door.ask({ body: initialize("2025-06-18") });
    expect(parse(opened.body).result).toMatchObject({ protocolVersion: "2025-06-18" });
    expect(opened.headers.has("mcp-session-id")).toBe(false);
    expect(await door.ask({ body: initialized })).toMatchObject({ status: 202, body: "" });
    const echo = request(1, "tools/call", { name: "echo", arguments: { text: "hi" } });
    for (const version of ["2025-11-25", "2025-06-18", undefined])
      expect(textOf((await door.ask({ headers: { "mcp-protocol-version": version }, body: echo })).body)).toBe("hi");
    expect((await door.ask({ body: `[${ping},${ping}]` })).body).toContain(pong);
    expect((await door.ask({ headers: { "mcp-protocol-version": "2025-11-25" }, body: `[${ping}]` })).status).toBe(400);
    expect((await door.ask({ headers: { "mcp-protocol-version": "1900-01-01" }, body: ping })).status).toBe(400);
    for (const asked of [get, remove]) expect((await door.ask(asked)).status).toBe(405);
  });
});

test.each(doors)(
  "on $on, a server without sessions cannot ask a client of a revision with a handshake, and says so",
  async ({ open }) => {
    const server = createServer({ name: "asking", version: "1" });
    server.tool("ask", {}, async (_args, ctx) => (await ctx.elicit("Sure?", { type: "object" })).action);
    server.tool("return", {}, () => inputRequired({ sure: elicitForm("Sure?", { type: "object" }) }));
    const reports: unknown[] = [];
    await using door = await open(server, { sessions: false, report: (report) => void reports.push(report) });
    for (const name of ["ask", "return"]) {
      const body = request(1, "tools/call", { name });
      const answer = await door.ask({ headers: { "mcp-protocol-version": "2025-11-25" }, body });
      expect(parse(answer.body).error).toMatchObject({
        code: -32_600,
        message: "Input cannot be requested from clients of 2025-11-25 here: it takes a session (sessions: false)",
      });
    }
    expect(reports).toEqual([]);
  },
);

/** Callers say who they are, and that is believed. */
const authenticate: Extract<Auth, (request: never) => unknown> = ({ header }) => ({
  principal: header("authorization") ?? "nobody",
});

/** Opens a stream of HTTP+SSE; the path to post to. */
async function openLegacy(
  at: Site,
  headers: Asked["headers"] = {},
): Promise<{ readonly wire: Wire; readonly path: string }> {
  const wire = await at.open();
  wire.write(written({ method: "GET", headers: { accept: "text/event-stream", ...headers } }));
  expect((await wire.head()).status).toBe(200);
  const event = await wire.event();
  expect(event?.event).toBe("endpoint");
  return { wire, path: event?.data ?? "" };
}

describe("a server of HTTP+SSE", () => {
  test("names the address to post to in its first event, and answers what is posted there by events", async () => {
    await using at = await site(shop(), { legacySse: true });
    const { wire, path } = await openLegacy(at);
    expect(path).toMatch(/^\/mcp\?sessionId=[\x21-\x7e]{32,}$/);
    const headers = { accept: undefined };
    expect(await at.ask({ path, headers, body: initialize("2024-11-05") })).toMatchObject({ status: 202, body: "" });
    expect(parse(await wire.message()).result).toMatchObject({ protocolVersion: "2024-11-05" });
    expect(await at.ask({ path, headers, body: initialized })).toMatchObject({ status: 202, body: "" });
    const params = { name: "steps", _meta: { progressToken: 1 } };
    expect((await at.ask({ path, headers, body: request(1, "tools/call", params) })).status).toBe(202);
    for (const progress of [1, 2, 3]) expect(parse(await wire.message()).params).toMatchObject({ progress });
    expect(textOf(await wire.message())).toBe("done");
    wire.cut();
    await turn();
    expect(textOf((await at.ask(statelessCall("echo", { text: "alive" }))).body)).toBe("alive");
  });

  test("lets in no foreign page, host or body, and no other caller's session", async () => {
    await using at = await site(shop(), { legacySse: true, auth: authenticate });
    const { wire, path } = await openLegacy(at, { authorization: "alice" });
    const post = (headers: AskedHeaders): Asked => ({ path, headers, body: ping });
    expect((await at.ask(post({ authorization: "alice", origin: "https://evil.com" }))).status).toBe(403);
    expect((await at.ask(post({ authorization: "alice", "content-type": "text/plain" }))).status).toBe(415);
    const strange = await at.ask(post({ authorization: "mallory" }));
    const unknown = await at.ask({ ...post({ authorization: "mallory" }), path: "/mcp?sessionId=x" });
    expect([strange.status, strange.body]).toEqual([unknown.status, unknown.body]);
    expect(strange.status).toBe(404);
    const evil = { method: "GET", headers: { accept: "text/event-stream", origin: "https://evil.com" } };
    expect((await at.ask(evil)).status).toBe(403);
    expect((await at.ask(post({ authorization: "alice" }))).status).toBe(202);
    expect(await wire.message()).toBe(pong);
    wire[Symbol.dispose]();
  });

  test("ends a session whose stream is cut, and opens no more than the maximum", async () => {
    await using at = await site(shop(), { legacySse: true, sessions: { max: 1 } });
    const { wire, path } = await openLegacy(at);
    const more = await at.ask({ method: "GET", headers: { accept: "text/event-stream" } });
    expect([more.status, more.headers.get("retry-after")]).toEqual([503, "60"]);
    wire.cut();
    let status = 202;
    for (let turns = 0; turns < 100 && status === 202; turns += 1) ({ status } = await at.ask({ path, body: ping }));
    expect(status).toBe(404);
    (await openLegacy(at)).wire[Symbol.dispose]();
  });
});
