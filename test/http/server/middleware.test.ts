import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { modern, stateless } from "../../testing/frames.js";

/** The URL of a server of one user, `ada`, behind a middleware of the application. */
async function behind(middleware: (request: IncomingMessage) => void): Promise<string> {
  const handler = nodeHandler(createServer({ name: "notes", version: "1" }), {
    auth: (asked) => (asked.header("authorization") === "Bearer key" ? { principal: "ada" } : undefined),
  });
  const http = createHttpServer((request, response) => {
    middleware(request);
    handler(request, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    handler.close();
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

async function discover(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-method": "server/discover",
      "mcp-protocol-version": modern,
      ...headers,
    },
    body: stateless(1, "server/discover"),
  });
  return status;
}

const json = "application/json";

test("what a middleware has added to a request says who calls", async () => {
  type Signed = IncomingMessage & { user?: { readonly id: string } };
  const server = createServer({ name: "notes", version: "1" });
  const handler = nodeHandler(server, {
    auth: ({ raw }) => {
      const { user } = raw as Signed;
      return user && { principal: user.id };
    },
  });
  const http = createHttpServer((request: Signed, response) => {
    if (request.headers["x-user"] === "ada") request.user = { id: "ada" };
    handler(request, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    handler.close();
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  expect(await discover(url, { "content-type": json, "x-user": "ada" })).toBe(200);
  expect(await discover(url, { "content-type": json, "x-user": "eve" })).toBe(401);
});

test("a middleware that has read the body is named, and the request does not wait for it", async () => {
  const reports: string[] = [];
  const handler = nodeHandler(createServer({ name: "notes", version: "1" }), {
    report: (each) => void reports.push(describeReport(each)),
  });
  const http = createHttpServer(async (request, response) => {
    for await (const _ of request);
    handler(request, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    handler.close();
    http.close();
  });
  const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, {
    method: "POST",
    headers: { "content-type": json, accept: "application/json, text/event-stream" },
    body: stateless(1, "server/discover"),
  });
  expect(response.status).toBe(500);
  expect(reports).toEqual([expect.stringContaining("the body of the request was read before this handler")]);
});

test("a middleware may give the token of a request, for example from a cookie", async () => {
  const url = await behind((request) => {
    const key = /^session=(\w+)$/.exec(request.headers.cookie ?? "")?.[1];
    if (key !== undefined) request.headers.authorization = `Bearer ${key}`;
  });
  expect(await discover(url, { "content-type": json, cookie: "session=key" })).toBe(200);
  expect(await discover(url, { "content-type": json, cookie: "session=other" })).toBe(401);
});

test("a middleware may mend the type of a body", async () => {
  const url = await behind((request) => {
    request.headers["content-type"] = json;
  });
  expect(await discover(url, { "content-type": "text/plain", authorization: "Bearer key" })).toBe(200);
});
