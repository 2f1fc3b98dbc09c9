import { httpHandler } from "@parlance/mcp/http";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { describe, expect, test } from "vitest";
import { plainHttp } from "../../cli/plain-http.js";
import { textOf } from "../../testing/frames.js";
import { type AskedHeaders, statelessCall } from "./asked.js";
import { doors, openSession, requestOf } from "./handlers.js";
import { shop } from "./shop.js";
import type { Answer } from "./wire.js";

const app = "https://app.example.com";
const options = { allowedHosts: ["mcp.example.com", "other.example.com:8443", "*.example.net"], allowedOrigins: [app] };
const call = (headers: AskedHeaders) => statelessCall("echo", { text: "hi" }, headers);
const preflight = (origin: string, names: string) => ({
  method: "OPTIONS",
  headers: {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": names,
  },
});

/** The headers that let a page read an answer. */
function corsOf({ headers }: Answer): Readonly<Record<string, string>> {
  const names = [...headers.keys()].filter((name) => name.startsWith("access-control-") || name === "vary");
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""]));
}

const readable = {
  "access-control-allow-origin": app,
  "access-control-expose-headers": "mcp-session-id, www-authenticate, dpop-nonce, retry-after",
  vary: "origin",
};

describe.each(doors)("on $on", ({ open }) => {
  test.each([
    ["localhost"],
    ["localhost:1234"],
    ["LOCALHOST"],
    ["127.0.0.1"],
    ["127.0.0.1:80"],
    ["[::1]"],
    ["[::1]:443"],
    ["mcp.example.com"],
    ["MCP.example.com:9000"],
    ["other.example.com:8443"],
  ])("Host %s is let in where it is this machine's, or named", async (host) => {
    await using door = await open(shop(), options);
    expect((await door.ask(call({ host }))).status).toBe(200);
  });

  test.each([["other.example.com"], ["other.example.com:80"], ["x.mcp.example.com"], ["mcp.example.com."]])(
    "Host %s is not the one that was named",
    async (host) => {
      await using door = await open(shop(), options);
      expect((await door.ask(call({ host }))).status).toBe(403);
    },
  );

  test("every Host is let in where callers prove who they are; a foreign page is not", async () => {
    await using door = await open(shop(), { auth: () => ({ principal: "a" }) });
    expect((await door.ask(call({ host: "anything.example.com" }))).status).toBe(200);
    expect((await door.ask(call({ host: "evil.com", origin: "https://evil.com" }))).status).toBe(403);
    expect((await door.ask(call({ host: "evil.com", origin: "http://localhost" }))).status).toBe(403);
  });

  test.each([[app], ["http://localhost:5173"], ["https://127.0.0.1"], ["http://[::1]:3000"]])(
    "a page of %s may call, and read the answer",
    async (origin) => {
      await using door = await open(shop(), options);
      const answer = await door.ask(call({ origin }));
      expect(textOf(answer.body)).toBe("hi");
      expect(corsOf(answer)).toEqual({ ...readable, "access-control-allow-origin": origin });
    },
  );

  test.each([
    ["https://mcp.example.com", "mcp.example.com", 200],
    ["https://mcp.example.com:9000", "mcp.example.com:9000", 200],
    ["https://other.example.com:8443", "other.example.com:8443", 200],
    ["https://mcp.example.com:9000", "mcp.example.com", 403],
    ["https://mcp.example.com", "mcp.example.com:9000", 403],
    ["https://mcp.example.com", "localhost", 403],
    ["https://other.example.com", "other.example.com:8443", 403],
    ["https://any.example.net", "any.example.net", 403], // Anybody may have a name below one that was listed with *.
  ])("a page of %s gets to the listed host %s: %d", async (origin, host, status) => {
    await using door = await open(shop(), options);
    expect((await door.ask(call({ origin, host }))).status).toBe(status);
  });

  test("a page of a listed host that came without TLS is a foreign one", async () => {
    await using door = await open(shop(), options);
    const asked = call({ origin: "http://mcp.example.com", host: "mcp.example.com" });
    expect((await door.ask(asked)).status).toBe(403); // Anybody in the network can write such a page.
  });

  test("a page learns what it may send: methods, and of the headers those that are understood", async () => {
    await using door = await open(shop(), options);
    const names =
      "Content-Type, MCP-Protocol-Version,mcp-method,Mcp-Name, mcp-param-region, last-event-id, x-evil, authorization, mcp-session-id";
    const answer = await door.ask(preflight(app, names));
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 204, body: "" });
    expect(corsOf(answer)).toEqual({
      ...readable,
      "access-control-allow-methods": "POST, GET, DELETE",
      "access-control-allow-headers":
        "content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-param-region, last-event-id, authorization, mcp-session-id",
      "access-control-max-age": "7200",
    });
  });

  test("a foreign page learns nothing, whatever it asks: no header lets it read an answer", async () => {
    await using door = await open(shop(), options);
    const session = await openSession(door);
    const evil = "https://evil.com";
    const asked = [
      preflight(evil, "content-type"),
      call({ origin: evil }),
      { method: "DELETE", headers: { origin: evil, "mcp-session-id": session } },
      { method: "GET", headers: { origin: evil, "mcp-session-id": session, accept: "text/event-stream" } },
      { method: "PUT", headers: { origin: evil } },
    ];
    for (const each of asked) {
      const answer = await door.ask(each);
      expect({ status: answer.status, cors: corsOf(answer) }).toEqual({ status: 403, cors: {} });
    }
  });

  test("a page that may call reads refusals too, and no answer may be read by all pages or with cookies", async () => {
    await using door = await open(shop(), {
      ...options,
      auth: ({ header }) => asPrincipal(header("authorization")),
    });
    const unknown = await door.ask(call({ origin: app }));
    expect({ status: unknown.status, cors: corsOf(unknown) }).toEqual({ status: 401, cors: readable });
    expect(unknown.headers.get("www-authenticate")).toBe("Bearer");
    const wrong = await door.ask(call({ origin: app, authorization: "Bearer a", "content-type": "text/plain" }));
    expect({ status: wrong.status, cors: corsOf(wrong) }).toEqual({ status: 415, cors: readable });
    // It is asked without credentials, and may be answered without.
    expect((await door.ask(preflight(app, "authorization"))).status).toBe(204);
  });

  test("a function that identifies callers names the challenge of its scheme", async () => {
    const reports: string[] = [];
    await using door = await open(shop(), {
      auth: ({ header }) => ({ challenge: header("x-scheme") ?? 'Basic realm="shop"' }),
      report: (each) => void reports.push(describeReport(each)),
    });
    const refused = await door.ask(call({}));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe('Basic realm="shop"');
    expect(refused.body).toContain("authentication is required");
    const broken = await door.ask(call({ "x-scheme": "café" }));
    expect({ status: broken.status, challenge: broken.headers.get("www-authenticate") }).toEqual({
      status: 401,
      challenge: "Bearer",
    });
    expect(reports).toEqual([expect.stringContaining("a challenge is a scheme and its parameters")]);
  });

  test("a caller whose authentication fails with an error gets 401, without the reason", async () => {
    const reports: string[] = [];
    const ran: string[] = [];
    await using door = await open(
      shop((tool) => ran.push(tool)),
      {
        auth: () => Promise.reject(new Error("the directory is away: secret")),
        report: (each) => void reports.push(describeReport(each)),
      },
    );
    const { status, body } = await door.ask(call({}));
    expect(status).toBe(401);
    expect(body).toContain("the caller could not be authenticated");
    expect(body).not.toContain("directory");
    expect(reports).toEqual([expect.stringContaining("the directory is away")]);
    expect(ran).toEqual([]);
  });

  test("what a proxy may have added decides nothing", async () => {
    await using door = await open(shop(), options);
    const forged = { "x-forwarded-host": "localhost", "x-forwarded-for": "127.0.0.1", forwarded: "host=localhost" };
    expect((await door.ask(call({ ...forged, host: "evil.com" }))).status).toBe(403);
    expect((await door.ask(call({ "x-forwarded-host": "evil.com", forwarded: "host=evil.com" }))).status).toBe(200);
  });

  test("a foreign page is turned away before anybody asks who calls, or reads what it has sent", async () => {
    const seen: string[] = [];
    await using door = await open(shop(), {
      auth: ({ method }) => {
        seen.push(method);
        return { principal: "a" };
      },
    });
    expect((await door.ask({ ...call({ origin: "https://evil.com" }), body: "{" })).status).toBe(403);
    expect(seen).toEqual([]);
  });
});

function asPrincipal(authorization: string | undefined): { readonly principal: string } | undefined {
  return authorization === undefined ? undefined : { principal: authorization };
}

test("a Request without a Host has that of its URL", async () => {
  const handler = httpHandler(shop());
  const request = requestOf(call({ host: undefined }));
  expect((await handler(request)).status).toBe(200);
  const foreign = new Request("http://evil.com/mcp", requestOf(call({ host: undefined })));
  expect((await handler(foreign)).status).toBe(403);
});

test.each([["localhost/x"], ["http://localhost"], ["a b"], [""]])("%s is no host that could be allowed", (host) => {
  expect(() => httpHandler(shop(), { allowedHosts: [host] })).toThrow(TypeError);
});

test("a wildcard for every host of a whole domain is refused, with what to write", () => {
  expect(() => httpHandler(shop(), { allowedHosts: ["*.example"] })).toThrow(
    'allowedHosts: "*.example" is not a host, or a host and a port: a wildcard needs two more names, as in "*.example.com"',
  );
});

test.each([["app.example.com"], ["https://app.example.com/"], ["*"], ["NULL"], ["https://APP.example.com"]])(
  "%s is no origin that could be allowed",
  (origin) => {
    expect(() => httpHandler(shop(), { allowedOrigins: [origin] })).toThrow(TypeError);
  },
);

test("a server that others reach does not start unless somebody asks who they are, or that is wanted", async () => {
  await expect(serveHttp(shop(), { host: "0.0.0.0" })).rejects.toThrow("without authentication");
  await expect(serveHttp(shop(), { host: "::" })).rejects.toThrow(TypeError);
  await using told = await serveHttp(shop(), { host: "0.0.0.0", exposed: true });
  expect(told.port).toBeGreaterThan(0);
  await using asking = await serveHttp(shop(), { host: "0.0.0.0", auth: () => ({ principal: "a" }) });
  expect(asking.port).toBeGreaterThan(0);
});

test("headers that the application has set before stay, beside ours", async () => {
  const handler = nodeHandler(shop(), { allowedOrigins: [app] });
  await using http = await plainHttp((request, response) => {
    response.setHeader("vary", "X-Tenant, Origin").setHeader("access-control-expose-headers", ["x-mine", "x-other"]);
    handler(request, response);
  });
  const headers = { origin: app, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const answer = await fetch(http.url, { method: "POST", headers, body: "{" });
  expect(answer.headers.get("vary")).toBe("X-Tenant, Origin");
  expect(answer.headers.get("access-control-expose-headers")).toBe(
    `x-mine, x-other, ${readable["access-control-expose-headers"]}`,
  );
  handler.close();
});

test("a response that the application has begun stays its own, and the server goes on", async () => {
  const rejections: unknown[] = [];
  const note = (error: unknown): void => void rejections.push(error);
  process.on("unhandledRejection", note);
  const handler = nodeHandler(shop());
  await using http = await plainHttp((request, response) => {
    response.writeHead(503).write("timed ");
    handler(request, response);
    setImmediate(() => response.end("out"));
  });
  const answer = await fetch(http.url); // Without a body, it is answered before the next turn.
  expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 503, body: "timed out" });
  expect(rejections).toEqual([]);
  process.off("unhandledRejection", note);
  handler.close();
});
