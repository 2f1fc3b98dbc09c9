import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { introspectionAuth, oauthProxy, type ResourceServer } from "@parlance/mcp/auth";
import type { HttpOptions } from "@parlance/mcp/http";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";

const resource = "https://mcp.example.com/mcp";
const issuer = "https://login.example.com";
const client = { clientId: "notes", clientSecret: "s" };
type Fetch = typeof globalThis.fetch;

/** What the requests of strangers lead to, and a path for the n-th of them. */
interface Way {
  readonly auth: (fetch: Fetch) => ResourceServer;
  readonly path: (n: number) => string;
}

const tokens: Way = {
  auth: (fetch) =>
    introspectionAuth({ issuer, introspectionEndpoint: `${issuer}/introspect`, audience: resource, ...client, fetch }),
  path: () => "/mcp",
};

const documents: Way = {
  auth: (fetch) => {
    const upstream = { issuer, authorizationEndpoint: `${issuer}/authorize`, tokenEndpoint: `${issuer}/token` };
    return oauthProxy({ resource, upstream, ...client, secret: "a secret of at least 32 characters", fetch });
  },
  path: (n) => `/authorize?client_id=${encodeURIComponent(`https://client${n}.example.com/client`)}`,
};

/** The reports when 33 requests with these headers wait at once, of which the last one gets no place. */
async function reportsOf(
  { auth, path }: Way,
  headers: Readonly<Record<string, string>>,
  addressOf?: HttpOptions["addressOf"],
): Promise<string> {
  const go = deferred<undefined>();
  const pending: Fetch = async () => {
    await go.promise;
    return Response.json({ active: false });
  };
  const reports: string[] = [];
  const report = (each: Report): void => void reports.push(describeReport(each));
  const options = { auth: auth(pending), report, ...(addressOf === undefined ? {} : { addressOf }) };
  const handler = nodeHandler(createServer({ name: "notes", version: "1" }), options);
  const http = createHttpServer(handler).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    handler.close();
    http.closeAllConnections();
    http.close();
  });
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const asked = Array.from({ length: 33 }, (_, n) =>
    fetch(`${origin}${path(n)}`, {
      headers: { accept: "text/event-stream", authorization: `Bearer token-${n}`, ...headers },
    }),
  );
  const { status } = await Promise.race(asked);
  expect(status).toBe(503);
  go.resolve(undefined);
  await Promise.all(asked);
  return reports[0] ?? "";
}

describe.each([
  ["tokens", tokens],
  ["documents of clients", documents],
])("when there is no place for another request for %s", (_what, way) => {
  test("behind a reverse proxy, the operator learns which option tells its callers apart", async () => {
    const told = await reportsOf(way, { "x-forwarded-for": "198.51.100.7" });
    expect(told).toContain("all callers of the proxy at 127.0.0.1 share one limit: set addressOf");
    expect(await reportsOf(way, { forwarded: "for=198.51.100.7" })).toContain("set addressOf");
  });

  test("with addressOf, and without a proxy, it is not named", async () => {
    const lastEntry: HttpOptions["addressOf"] = (request) => request.header("x-forwarded-for")?.split(",").at(-1);
    const told = await reportsOf(way, { "x-forwarded-for": "198.51.100.7" }, lastEntry);
    expect(told).toMatch(/tokens|clients/);
    expect(told).not.toContain("addressOf");
    expect(await reportsOf(way, {})).not.toContain("addressOf");
  });
});
