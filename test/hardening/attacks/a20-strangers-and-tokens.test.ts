import { introspectionAuth, oauthProxy } from "@parlance/mcp/auth";
import { httpHandler } from "@parlance/mcp/http";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { memoryAuthorizationStore } from "../../../packages/mcp/src/auth/authorization-server/state-store.js";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";

const resource = "https://mcp.example.com/mcp";
const provider = {
  issuer: "https://login.example.com",
  authorizationEndpoint: "https://login.example.com/authorize",
  tokenEndpoint: "https://login.example.com/token",
};
const redirectUri = "http://127.0.0.1:7777/callback";

type Handler = ReturnType<typeof httpHandler>;
type Auth = NonNullable<NonNullable<Parameters<typeof httpHandler>[1]>["auth"]>;

/** A server whose callers name their network addresses. */
function served(auth: Auth): Handler {
  const server = createServer({ name: "notes", version: "1" });
  const handle = httpHandler(server, {
    auth,
    addressOf: (request) => request.header("x-address"),
    report: () => undefined,
  });
  onTestFinished(() => handle.close());
  return handle;
}

/** A `fetch` that waits until it may respond. */
function waiting(responseTo: (url: URL, init: RequestInit) => unknown) {
  const go = deferred<undefined>();
  const urls: string[] = [];
  return {
    urls,
    release: () => go.resolve(undefined),
    fetch: (async (url: URL, init: RequestInit) => {
      urls.push(url.href);
      await go.promise;
      return Response.json(responseTo(url, init));
    }) as typeof fetch,
  };
}

function proxyAuth(options: Partial<Parameters<typeof oauthProxy>[0]> = {}): ReturnType<typeof oauthProxy> {
  const secret = "a secret of at least 32 characters";
  return oauthProxy({ resource, upstream: provider, clientId: "notes", clientSecret: "s", secret, ...options });
}

function authorizeUrl(clientId: string, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    state: "s",
    code_challenge: "c".repeat(43),
    code_challenge_method: "S256",
    ...more,
  });
  return `https://mcp.example.com/authorize?${query}`;
}

async function registered(handle: Handler, metadata: Readonly<Record<string, unknown>>): Promise<string> {
  const body = JSON.stringify({ token_endpoint_auth_method: "none", ...metadata });
  const response = await handle(new Request("https://mcp.example.com/register", { method: "POST", body }));
  return ((await response.json()) as { client_id: string }).client_id;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * How many requests of an address get 503 before the other server answers, of a hundred; and whether the others, and one of another address,
 * are served in the end.
 */
async function flooded(
  { urls, release }: Pick<ReturnType<typeof waiting>, "urls" | "release">,
  ask: (n: number, address: string) => Promise<Response>,
) {
  let answered = 0;
  let refused = 0;
  const asked = async (n: number, address: string): Promise<number> => {
    const { status } = await ask(n, address);
    answered += 1;
    if (status === 503) refused += 1;
    return status;
  };
  const isSettled = (requests: number) => vi.waitFor(() => expect(urls.length + answered).toBe(requests), 60_000);
  const answers = Array.from({ length: 100 }, (_, n) => asked(n, "192.0.2.1"));
  await isSettled(100);
  const refusedAtOnce = refused;
  const other = asked(100, "192.0.2.2");
  await isSettled(101);
  release();
  await Promise.all(answers);
  return { refusedAtOnce, refused, other: await other };
}

describe("A20: one address may have 32 requests to other servers made at a time, and another one has its own", () => {
  test("for documents of clients", async () => {
    const server = waiting((url) => ({ client_id: url.href, redirect_uris: [redirectUri] }));
    const handle = served(proxyAuth({ fetch: server.fetch }));
    const ask = (n: number, address: string) =>
      handle(new Request(authorizeUrl(`https://client${n}.example.com/client`), { headers: { "x-address": address } }));
    expect(await flooded(server, ask)).toEqual({ refusedAtOnce: 68, refused: 68, other: 200 });
    expect(server.urls).toHaveLength(33);
  });

  test("for tokens", async () => {
    const server = waiting(() => ({ active: true, sub: "ada", aud: resource }));
    const handle = served(
      introspectionAuth({
        issuer: provider.issuer,
        introspectionEndpoint: `${provider.issuer}/introspect`,
        audience: resource,
        clientId: "notes",
        clientSecret: "s",
        fetch: server.fetch,
      }),
    );
    const ask = (n: number, address: string) => {
      const headers = {
        authorization: `Bearer token${n}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-address": address,
      };
      return handle(
        new Request(resource, { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
      );
    };
    const { refusedAtOnce, refused, other } = await flooded(server, ask);
    expect({ refusedAtOnce, refused }).toEqual({ refusedAtOnce: 68, refused: 68 });
    expect(other).not.toBe(503);
    expect(server.urls).toHaveLength(33);
  });

  test("and requests for one document at the same time are one", async () => {
    const { urls, fetch, release } = waiting((url) => ({ client_id: url.href, redirect_uris: [redirectUri] }));
    const handle = served(proxyAuth({ fetch }));
    const pages = Array.from({ length: 100 }, () =>
      handle(new Request(authorizeUrl("https://one.example.com/client"))),
    );
    await turns();
    release();
    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(urls).toHaveLength(1);
  });
});

test("A20: a fetch of the application that never responds, and minds no signal, ends after 5 s", async () => {
  const auth = introspectionAuth({
    issuer: provider.issuer,
    introspectionEndpoint: `${provider.issuer}/introspect`,
    audience: resource,
    clientId: "notes",
    clientSecret: "s",
    fetch: () => new Promise(() => undefined),
  });
  const header = (): undefined => undefined;
  expect(await auth.verify("token", { method: "POST", header })).toMatchObject({ kind: "unavailable" });
});

test("A20: the store in memory has a bound in bytes, and the oldest values make room", () => {
  const store = memoryAuthorizationStore();
  const value = "x".repeat(1024 * 1024);
  for (let n = 0; n < 100; n += 1) void store.set(`state:${n}`, value, 600);
  void store.set("grant:1", "{}", 600);
  const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => store.get(`state:${n}`) !== undefined);
  expect(kept).toEqual(Array.from({ length: 64 }, (_, n) => n + 36));
  void store.take("state:99");
  void store.set("state:99", "x", 600);
  void store.set("state:100", "x", 600);
  expect(store.get("state:36")).toBeDefined();
  expect(store.get("grant:1")).toBe("{}");
});

test("A20: no text of a request is a key of the store", async () => {
  const keys: string[] = [];
  const take = (key: string): undefined => void keys.push(key);
  const handle = served(proxyAuth({ store: { get: () => undefined, set: () => undefined, take } }));
  const callback = await handle(new Request("https://mcp.example.com/callback?state=..%2F..%2Fetc%2Fpasswd&code=c"));
  expect(callback.status).toBe(400);
  expect(keys).toEqual([expect.stringMatching(/^state:[\w-]{43}$/)]);
});

describe("A20: the page on which a user decides", () => {
  test("shows the host that a redirect URI names, and what could hide or turn round a text", async () => {
    const handle = served(proxyAuth());
    const redirect_uri = "https://\u0430pple.com/\u202emoc.elppa";
    const client_name = "Notes\u202e\u2066 <b>";
    const id = await registered(handle, { redirect_uris: [redirect_uri], client_name });
    const page = await (await handle(new Request(authorizeUrl(id, { redirect_uri, scope: "notes\u202e" })))).text();
    expect(page).toContain("https://xn--pple-43d.com/%E2%80%AEmoc.elppa");
    expect(page).toContain("Notes\\u{202e}\\u{2066} &lt;b&gt;");
    expect(page).not.toMatch(/[\u0430\u202a-\u202e\u2066-\u2069]/);
  });

  test("has a policy that no redirect URI can end", async () => {
    const handle = served(proxyAuth());
    for (const redirect_uri of ["https://a;script-src/", "https://a,b/", "https://a'b/"]) {
      expect(new URL(redirect_uri).host, "a host as URLs have it").not.toBe("");
      expect(await registered(handle, { redirect_uris: [redirect_uri] })).toBeUndefined();
    }
    const page = await handle(new Request(authorizeUrl(await registered(handle, { redirect_uris: [redirectUri] }))));
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline'; form-action [^;,]+; frame-ancestors 'none'; base-uri 'none'$/,
    );
  });

  test("is at its path with a slash at the end, too", async () => {
    const handle = served(proxyAuth());
    const id = await registered(handle, { redirect_uris: [redirectUri] });
    const page = await handle(new Request(authorizeUrl(id).replace("/authorize?", "/authorize/?")));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("asks for access")]);
  });
});
