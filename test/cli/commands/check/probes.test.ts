import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { plainHttp } from "../../plain-http.js";
import { jsonLines, parlance } from "../../run.js";

/** The quirks of a server. */
interface Quirks {
  /** The status of an unknown notification, and what is in its body. */
  readonly notified?: readonly [status: number, body?: object];
  /** The status of a request of a session that a client has ended. */
  readonly ended?: number;
  /** The code of an unknown method. */
  readonly unknown?: number;
}

/** A server of one revision, written without the library, which would not let it have quirks. */
function server({ notified = [202], ended = 404, unknown = -32_601 }: Quirks): RequestListener {
  const sessions = new Set<string>();
  const answer = (response: ServerResponse, status: number, body?: object): void => {
    response.writeHead(status, body === undefined ? {} : { "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", ...body }));
  };
  const results: Readonly<Record<string, object>> = { ping: {}, "resources/list": { resources: [] } };
  return async (request: IncomingMessage, response: ServerResponse) => {
    const session = String(request.headers["mcp-session-id"]);
    if (request.method === "GET") return answer(response, 405);
    if (request.headers.origin !== undefined) return answer(response, 403);
    const body = await text(request);
    if (!body.includes('"initialize"') && !sessions.has(session)) return answer(response, ended);
    if (request.method === "DELETE") return answer(response, sessions.delete(session) ? 200 : 404);
    const { id, method, params } = parsed(body);
    if (method === undefined) return answer(response, 400, { error: { code: -32_700, message: "Parse error" } });
    if (id === undefined)
      return method === "notifications/initialized" ? answer(response, 202) : answer(response, ...notified);
    if (method !== "initialize") {
      const result = results[method];
      return answer(
        response,
        200,
        result === undefined ? { id, error: { code: unknown, message: "Unknown" } } : { id, result },
      );
    }
    const opened = randomUUID();
    sessions.add(opened);
    response.setHeader("mcp-session-id", opened);
    const serverInfo = { name: "quirky", version: "1" };
    const { protocolVersion } = params;
    answer(response, 200, { id, result: { protocolVersion, capabilities: { resources: {} }, serverInfo } });
  };
}

interface Parsed {
  readonly id?: unknown;
  readonly method?: string;
  readonly params: { readonly protocolVersion?: unknown };
}

function parsed(body: string): Parsed {
  try {
    return { params: {}, ...(JSON.parse(body) as Partial<Parsed> | null) };
  } catch {
    return { params: {} };
  }
}

interface Probed {
  readonly id: string;
  readonly level: string;
  readonly sentence?: string;
  readonly spec: string;
  readonly is: string;
  readonly says?: string;
  readonly doubt?: string;
}

/** The findings of `parlance check` on a server with quirks, by probe. */
async function checked(
  quirks: Quirks,
): Promise<{ readonly code: number | null; readonly found: ReadonlyMap<string, Probed> }> {
  await using http = await plainHttp(server(quirks));
  const { code, stdout, stderr } = await parlance([
    "check",
    "--json",
    "--revision",
    "2025-11-25",
    "--timeout",
    "20s",
    http.url,
  ]);
  // Twenty requests at once are no leak of listeners.
  expect(stderr).not.toContain("MaxListeners");
  const [value] = jsonLines(stdout);
  const { revisions } = value as unknown as { readonly revisions: readonly [{ readonly probes: readonly Probed[] }] };
  return { code, found: new Map(revisions[0].probes.map((each) => [each.id, each])) };
}

test("a server that does only what the sentences require fails no probe", async () => {
  const refusal = { error: { code: -32_600, message: "Unknown notification" } };
  const { found } = await checked({ notified: [400, refusal] });
  expect(found.get("XM-4")).toMatchObject({ is: "passed" });
  expect(found.get("XH-4")).toMatchObject({ is: "skipped", why: "the server does not accept it: the status is 400" });
  expect(found.get("XH-5")).toMatchObject({ is: "passed" });
  // It offers resources, and no templates of them.
  expect(found.get("XF-3")).toMatchObject({
    is: "failed",
    doubt: "the schema has errors for every request",
    sentence: "resourceTemplates: ResourceTemplate[];",
  });
});

test("each failed probe has the level, the sentence and the address that it is judged by", async () => {
  const { code, found } = await checked({ notified: [200, { id: null, result: {} }], ended: 400, unknown: -32_600 });
  const transports = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports";
  expect(found.get("XH-4")).toMatchObject({ is: "failed", level: "must", says: "the status is 200, expected 202" });
  expect(found.get("XH-5")).toMatchObject({
    is: "failed",
    level: "must",
    says: "the status is 400, expected 404",
    sentence: "after which it MUST respond to requests containing that session ID with HTTP 404 Not Found.",
    spec: `${transports}#session-management`,
  });
  // An error it is, as the sentence demands.
  expect(found.get("XM-1")).toMatchObject({ is: "failed", doubt: "no sentence demands the code" });
  expect(code).toBe(2);
});

test("a server on stdio that answers a notification with an error breaks a MUST NOT", async () => {
  const script = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      let message = {};
      try { message = JSON.parse(line); } catch {}
      const { id, method, params } = message;
      const send = (body) => console.log(JSON.stringify({ jsonrpc: "2.0", ...body }));
      const serverInfo = { name: "chatty", version: "1" };
      if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
      else if (method === "ping") send({ id, result: {} });
      else if (method !== "notifications/initialized") send({ id: id ?? null, error: { code: -32601, message: "Unknown" } });
    });`;
  const words = ["check", "--revision", "2025-11-25", "--timeout", "20s", "--", process.execPath, "-e", script];
  const { stdout } = await parlance(words, { COLUMNS: "100" });
  expect(stdout).toContain("✖ XM-4");
  expect(stdout).toContain("must: “The receiver MUST NOT send a response.”");
});

test("a server on stdio that outlives its input is ended by a signal, which no sentence of a handshake revision forbids", async () => {
  const script = `
    setInterval(() => undefined, 1_000);
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      let message = {};
      try { message = JSON.parse(line); } catch {}
      const { id, method, params } = message;
      const send = (body) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
      const serverInfo = { name: "lasting", version: "1" };
      if (method === "initialize") send({ result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
      else if (method === "ping") send({ result: {} });
      else if (id !== undefined) send({ error: { code: -32601, message: "Unknown" } });
    });`;
  const words = [
    "check",
    "--json",
    "--revision",
    "2025-11-25",
    "--timeout",
    "20s",
    "--",
    process.execPath,
    "-e",
    script,
  ];
  const [value] = jsonLines((await parlance(words)).stdout);
  const { revisions } = value as unknown as { readonly revisions: readonly [{ readonly probes: readonly Probed[] }] };
  expect(revisions[0].probes.at(-1)).toMatchObject({
    ...{ id: "XS-1", is: "failed", level: "may", says: "it had to be ended by a signal" },
    spec: "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown",
  });
});
