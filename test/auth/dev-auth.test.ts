import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { devAuth, jwtAuth, oauth, pathsOfAuth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { type HttpServer, nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { UserAgent } from "./user-agent.js";

const redirectUrl = "http://127.0.0.1:7777/callback";
const mcp = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const verifier = "v".repeat(43);

function notes(): Server {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool(
    "whoami",
    {},
    (_, { auth }) => `${auth?.subject} of ${auth?.clientId?.slice(0, 3)}: ${auth?.scopes?.join(" ")}`,
  );
  server.tool("erase", { scopes: ["erase"] }, () => "erased");
  return server;
}

type Options = Partial<Parameters<typeof devAuth>[0]>;

interface Site extends AsyncDisposable {
  readonly auth: ReturnType<typeof devAuth>;
  readonly http: HttpServer;
  readonly origin: string;
  readonly refused: string[];
  /** Registers a public client; its id. */
  register(metadata?: object): Promise<string>;
  authorizeUrl(parameters: Readonly<Record<string, string>>): Promise<string>;
  token(form: Readonly<Record<string, string>>, headers?: HeadersInit): Promise<Readonly<Record<string, unknown>>>;
}

async function site(options: Options = {}): Promise<Site> {
  const auth = devAuth({ users: ["ada", { name: "bob", scopes: ["notes"] }], scopes: ["notes"], ...options });
  const refused: string[] = [];
  const report = (each: Report): void => void (each.kind === "unauthorized" && refused.push(describeReport(each)));
  const http = await serveHttp(notes(), { auth, report });
  const { origin } = new URL(http.url);
  return {
    auth,
    http,
    origin,
    refused,
    async register(metadata = {}) {
      const body = JSON.stringify({ redirect_uris: [redirectUrl], token_endpoint_auth_method: "none", ...metadata });
      const response = await fetch(`${origin}/register`, { method: "POST", body });
      const registered = (await response.json()) as { client_id?: string; error?: string };
      return registered.client_id ?? String(registered.error);
    },
    async authorizeUrl(parameters) {
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const query = { response_type: "code", redirect_uri: redirectUrl, state: "s", code_challenge: challenge };
      return `${origin}/authorize?${new URLSearchParams({ ...query, code_challenge_method: "S256", ...parameters })}`;
    },
    async token(form, headers = {}) {
      const response = await fetch(`${origin}/token`, { method: "POST", body: new URLSearchParams(form), headers });
      return (await response.json()) as Readonly<Record<string, unknown>>;
    },
    [Symbol.asyncDispose]: () => http.close(),
  };
}

/** A code for a user, through the page. */
async function codeFor(at: Site, clientId: string, user = "ada"): Promise<string> {
  const agent = new UserAgent();
  await agent.open(await at.authorizeUrl({ client_id: clientId }), redirectUrl);
  const back = await agent.submit({ user }, redirectUrl);
  return back?.searchParams.get("code") ?? agent.html;
}

const redemption = (clientId: string, code: string): Readonly<Record<string, string>> => ({
  grant_type: "authorization_code",
  client_id: clientId,
  code,
  redirect_uri: redirectUrl,
  code_verifier: verifier,
});

describe("devAuth", () => {
  test("a client signs a user in through the page, and the handler sees who it is", async () => {
    await using at = await site();
    const agent = new UserAgent();
    const auth = oauth({
      clientName: "Notes <b>",
      redirectUrl,
      authorize: async (url) => {
        await agent.open(url, redirectUrl);
        return (await agent.submit({ user: "ada" }, redirectUrl)) ?? "";
      },
    });
    await using client = await connect(at.http.url, { auth });
    expect(textOf(await client.tools.call("whoami", {}))).toMatch(/^ada of eyJ: notes$/);
    expect(agent.html).toContain("Notes &lt;b&gt;");
    expect(agent.html).not.toContain("<script");
    const { headers } = agent.pages[0] ?? { headers: new Headers() };
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' http://127.0.0.1:7777; frame-ancestors 'none'; base-uri 'none'",
    );
  });

  test("a call that needs a further scope steps up; a user without it is refused", async () => {
    await using at = await site();
    const as = (user: string) => oauth({ redirectUrl, authorize: at.auth.signInAs(user), scopes: ["notes"] });
    await using ada = await connect(at.http.url, { auth: as("ada") });
    expect(textOf(await ada.tools.call("erase", {}))).toBe("erased");
    await using bob = await connect(at.http.url, { auth: as("bob") });
    expect(textOf(await bob.tools.call("whoami", {}))).toContain("bob");
    await expect(bob.tools.call("erase", {})).rejects.toThrow(/erase/);
  });

  test("a test needs no sign-in: a token is made for it, and another server verifies it by the published keys", async () => {
    await using at = await site();
    const headers = { authorization: `Bearer ${await at.auth.token({ subject: "ada", scopes: ["notes", "x"] })}` };
    await using client = await connect(at.http.url, { headers });
    expect(textOf(await client.tools.call("whoami", {}))).toBe("ada of dev: notes x");
    const elsewhere = jwtAuth({ issuer: at.origin, audience: at.http.url });
    const token = await at.auth.token({ subject: "ada" });
    const verified = await elsewhere.verify(token, { method: "GET", header: () => undefined });
    expect(verified.kind).toBe("identity");
    const expired = { authorization: `Bearer ${await at.auth.token({ subject: "ada", expiresIn: -10 })}` };
    await expect(connect(at.http.url, { headers: expired })).rejects.toThrow(/not valid for this server/);
  });

  test("S28: a code needs PKCE, the redirect URI and the client that it was made for, and a failure uses it up", async () => {
    await using at = await site();
    const clientId = await at.register();
    const other = await at.register();
    for (const wrong of [
      { code_verifier: "w".repeat(43) },
      { code_verifier: "" },
      { redirect_uri: "x" },
      { client_id: other },
    ]) {
      const good = redemption(clientId, await codeFor(at, clientId));
      expect(await at.token({ ...good, ...wrong }), JSON.stringify(wrong)).toMatchObject({ error: "invalid_grant" });
      expect(await at.token(good)).toMatchObject({ error: "invalid_grant" });
    }
    const plain = await at.authorizeUrl({ client_id: clientId, code_challenge_method: "plain" });
    const back = await new UserAgent().open(plain, redirectUrl);
    expect(back?.searchParams.get("error")).toBe("invalid_request");
    expect(back?.searchParams.get("iss")).toBe(at.origin);
    expect(back?.searchParams.get("state")).toBe("s");
  });

  test("a refresh token works once: when it is used again, the whole grant ends, and the operator learns why", async () => {
    await using at = await site();
    const clientId = await at.register();
    const first = await at.token(redemption(clientId, await codeFor(at, clientId)));
    const refresh = (from: Readonly<Record<string, unknown>>) =>
      at.token({ grant_type: "refresh_token", client_id: clientId, refresh_token: String(from.refresh_token) });
    const second = await refresh(first);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const call = async ({ access_token }: Readonly<Record<string, unknown>>): Promise<number> =>
      (await fetch(at.http.url, { method: "POST", headers: { ...mcp, authorization: `Bearer ${access_token}` } }))
        .status;
    expect(await call(second)).not.toBe(401);
    const reused = await refresh(first);
    expect(reused.error_description).toBe("the refresh token was used twice, so its grant has ended: sign in again");
    expect(await refresh(second)).toMatchObject({ error: "invalid_grant" });
    expect(await call(second)).toBe(401);
    expect(at.refused[0]).toContain("/token: invalid_grant: the refresh token was used twice");
    expect(at.refused.join()).not.toContain(String(first.refresh_token));
  });

  test("of ten refreshes at once with one token, at most one gets tokens", async () => {
    await using at = await site();
    const clientId = await at.register();
    const { refresh_token } = await at.token(redemption(clientId, await codeFor(at, clientId)));
    const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: String(refresh_token) };
    const all = await Promise.all(Array.from({ length: 10 }, () => at.token(form)));
    expect(all.filter((each) => "access_token" in each).length).toBe(1);
  });

  test("S26: redirect URIs are compared as texts, and only the port of a loopback URL may differ", async () => {
    await using at = await site();
    const clientId = await at.register({ redirect_uris: ["http://127.0.0.1/cb", "https://app.example/cb"] });
    const open = async (redirect_uri: string): Promise<boolean> => {
      const url = await at.authorizeUrl({ client_id: clientId, redirect_uri });
      const { status } = await fetch(url, { redirect: "manual" });
      return status === 200;
    };
    for (const good of ["http://127.0.0.1:9/cb", "http://127.0.0.1/cb", "https://app.example/cb"])
      expect(await open(good), good).toBe(true);
    const bad = [
      "http://127.0.0.1:9/cb/../x",
      "http://127.0.0.1:9/cb?x=1",
      "http://localhost:9/cb",
      "http://127.0.0.1:9/CB",
    ];
    const foreign = [
      "https://app.example:8443/cb",
      "https://app.example/cb/",
      "https://app.example/cb#x",
      "https://evil.example/cb",
    ];
    for (const each of [...bad, ...foreign, "http://127.0.0.1:9@evil.example/cb"])
      expect(await open(each), each).toBe(false);
    for (const uri of [
      "javascript:alert(1)",
      "data:text/html,x",
      "http://app.example/cb",
      "https://app.example/#x",
      "x",
    ])
      expect(await at.register({ redirect_uris: [uri] }), uri).toBe("invalid_redirect_uri");
    expect(await at.register({ redirect_uris: ["cursor://anysphere.cursor-mcp/callback"] })).toMatch(/^eyJ/);
  });

  test("a decision counts only in the browser that was asked", async () => {
    await using at = await site();
    const clientId = await at.register();
    const [asked, other] = [new UserAgent(), new UserAgent()];
    await asked.open(await at.authorizeUrl({ client_id: clientId }), redirectUrl);
    await other.open(await at.authorizeUrl({ client_id: clientId }), redirectUrl);
    const page = asked.pages[0];
    if (page !== undefined) other.pages.push(page);
    expect(await other.submit({ user: "ada" }, redirectUrl)).toBeUndefined();
    expect(other.html).toContain("belongs to another browser");
    const back = await asked.submit({ decision: "deny" }, redirectUrl);
    expect(back?.searchParams.get("error")).toBe("access_denied");
  });

  test("the name of a client and its redirect URI cannot read as others", async () => {
    await using at = await site();
    const hidden = "https://app.example/\u202Etxt.exe";
    const clientId = await at.register({ client_name: "Notes\u202E\u0007", redirect_uris: [hidden] });
    const agent = new UserAgent();
    await agent.open(await at.authorizeUrl({ client_id: clientId, redirect_uri: hidden }), redirectUrl);
    expect(agent.html).toContain("Notes\\u{202e}\\u{7}");
    expect(agent.html).toContain("https://app.example/%E2%80%AEtxt.exe");
    expect(agent.html).not.toContain("\u202E");
  });

  describe("client ID metadata documents", () => {
    /** A server with such documents; `/held/…` waits for `release`. */
    async function documents() {
      const requested: string[] = [];
      const held: (() => void)[] = [];
      const send = (response: ServerResponse, path: string, change = {}): void => {
        const document = {
          client_id: `${origin}${path}`,
          client_name: "Desk",
          redirect_uris: [redirectUrl],
          ...change,
        };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      };
      const http = createHttpServer(({ url: path = "" }, response) => {
        requested.push(path);
        if (path === "/moved.json") response.writeHead(302, { location: `${origin}/client.json` }).end();
        else if (path === "/other.json") send(response, "/client.json");
        else if (path === "/secret.json") send(response, path, { token_endpoint_auth_method: "client_secret_basic" });
        else if (path === "/long.json") send(response, path, { padding: "x".repeat(300_000) });
        else if (path.startsWith("/held/")) held.push(() => send(response, path));
        else send(response, path);
      });
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void http.close());
      const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
      return { origin, requested, held };
    }

    /** Opens the page of a client; its text. */
    async function pageOf(at: Site, clientId: string): Promise<string> {
      const agent = new UserAgent();
      await agent.open(await at.authorizeUrl({ client_id: clientId }), redirectUrl);
      return agent.html;
    }

    test("a client is what its document says, which is fetched once; a document that is not its own is refused", async () => {
      await using at = await site();
      const { origin, requested } = await documents();
      expect(await pageOf(at, `${origin}/client.json`)).toContain("Sign in to Desk");
      expect(
        await at.token(redemption(`${origin}/client.json`, await codeFor(at, `${origin}/client.json`))),
      ).toMatchObject({
        token_type: "Bearer",
      });
      expect(requested).toEqual(["/client.json"]);
      for (const path of ["/other.json", "/moved.json", "/long.json", "/secret.json", "/"])
        expect(await pageOf(at, origin + path), path).toContain("The sign-in cannot go on");
      // No redirect is followed, and a URL without a path is not requested.
      expect(requested.slice(1)).toEqual(["/other.json", "/moved.json", "/long.json", "/secret.json"]);
    });

    test("one address causes 32 requests at a time, and one for a document", async () => {
      await using at = await site();
      const { origin, requested, held } = await documents();
      const paths = Array.from({ length: 32 }, (_, n) => `/held/${n}.json`);
      const pages = [...paths, "/held/0.json"].map((path) => pageOf(at, origin + path));
      await expect.poll(() => held.length).toBe(32);
      expect(await pageOf(at, `${origin}/client.json`)).toContain("too many clients are being looked up");
      for (const release of held) release();
      for (const page of await Promise.all(pages)) expect(page).toContain("Sign in to Desk");
      expect([...requested].sort()).toEqual([...paths].sort());
      expect(await pageOf(at, `${origin}/client.json`)).toContain("Sign in to Desk");
    });
  });

  test("a page whose host name leads to this machine cannot sign in", async () => {
    const auth = devAuth({ users: ["ada"], resource: "http://localhost:3000/mcp" });
    const handle = httpHandler(notes(), { auth });
    const ask = (host: string) => handle(new Request("http://localhost:3000/jwks", { headers: { host } }));
    expect((await ask("rebound.example:3000")).status).toBe(403);
    expect((await ask("localhost:3000")).status).toBe(200);
    handle.close();
  });

  test("tokens are for this resource only", async () => {
    await using at = await site();
    const clientId = await at.register();
    const url = await at.authorizeUrl({ client_id: clientId, resource: "https://other.example/mcp" });
    expect((await new UserAgent().open(url, redirectUrl))?.searchParams.get("error")).toBe("invalid_target");
    const code = await codeFor(at, clientId);
    const form = { ...redemption(clientId, code), resource: "https://other.example/mcp" };
    expect(await at.token(form)).toMatchObject({ error: "invalid_target" });
  });

  test("clients with a secret authenticate, by HTTP Basic or in the form, and may get tokens without a user", async () => {
    await using at = await site({ clients: [{ id: "worker-1", secret: "s3cret&+", scopes: ["notes", "jobs"] }] });
    const form = { grant_type: "client_credentials", scope: "jobs" };
    const basic = (secret: string) => ({ authorization: `Basic ${btoa(`worker-1:${encodeURIComponent(secret)}`)}` });
    expect(await at.token(form, basic("s3cret&+"))).toMatchObject({ scope: "jobs", token_type: "Bearer" });
    const posted = { ...form, client_id: "worker-1" };
    expect(await at.token({ ...posted, client_secret: "s3cret&+" })).toHaveProperty("access_token");
    expect(await at.token(form, basic("wrong"))).toMatchObject({ error: "invalid_client" });
    expect(await at.token(posted)).toMatchObject({ error: "invalid_client" });
    expect(await at.token({ ...posted, client_secret: "s3cret&+", scope: "all" })).toMatchObject({
      error: "invalid_scope",
    });
    const registered = await at.register();
    expect(await at.token({ ...form, client_id: registered })).toMatchObject({ error: "unauthorized_client" });
    expect(await at.token({ ...form, client_id: `${registered}x` })).toMatchObject({ error: "invalid_client" });
  });

  test("it does not start in production, or where other machines could reach it, unless an option allows it", async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = "production";
    try {
      await expect(serveHttp(notes(), { auth: devAuth({ users: ["ada"] }) })).rejects.toThrow(/NODE_ENV is production/);
    } finally {
      process.env.NODE_ENV = before;
    }
    await expect(serveHttp(notes(), { auth: devAuth({ users: ["ada"] }), host: "0.0.0.0" })).rejects.toThrow(
      /other machines/,
    );
    expect(() => devAuth({ users: ["ada"], resource: "https://mcp.example.com/mcp" })).toThrow(/other machines/);
    expect(() => devAuth({ users: [] })).toThrow(/at least one user/);
    const auth = devAuth({ users: ["ada"], resource: "https://mcp.example.com/mcp", allowProduction: true });
    expect(auth.authorizationServers).toEqual(["https://mcp.example.com"]);
  });
});

test("the paths to route are those of the metadata and of every endpoint", () => {
  const resource = "http://127.0.0.1:3000/api/mcp";
  const metadata = ["/.well-known/oauth-protected-resource/api/mcp", "/.well-known/oauth-protected-resource"];
  expect(pathsOfAuth(jwtAuth({ issuer: "https://login.example.com", audience: resource }))).toEqual(metadata);
  expect(pathsOfAuth(devAuth({ users: ["ada"], resource }))).toEqual([
    ...metadata,
    "/.well-known/oauth-authorization-server",
    "/jwks",
    "/register",
    "/token",
    "/revoke",
    "/authorize",
  ]);
  expect(() => pathsOfAuth(devAuth({ users: ["ada"] }))).toThrow("give it a resource");
});

/** What middleware of a framework leaves in `request.body`. */
type BodyParser = (request: IncomingMessage) => unknown;

const formOf = async (request: IncomingMessage): Promise<unknown> => {
  const fields: Record<string, string | string[]> = {};
  const form = new URLSearchParams(await text(request));
  for (const name of form.keys())
    fields[name] = form.getAll(name).length > 1 ? form.getAll(name) : (form.get(name) ?? "");
  return fields;
};
const bodyParsers: readonly (readonly [name: string, parse: BodyParser])[] = [
  ["an object, as express.urlencoded() does", formOf],
  ["text, as express.text() does", text],
  ["bytes, as express.raw() does", buffer],
  ["an empty object and does not read the body, as express.json() of Express 4 does", () => ({})],
  ["nothing, as express.json() of Express 5 does", () => undefined],
];

test.each(bodyParsers)("a client signs in at nodeHandler after a body parser that leaves %s", async (_name, parse) => {
  const sent: string[] = [];
  const http = createHttpServer(async (request, response) => {
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
    if (isForm) Object.assign(request, { body: await parse(request) });
    sent.push(`${request.url} ${isForm}`);
    const [path = ""] = request.url?.split("?") ?? [];
    if (["/mcp", ...pathsOfAuth(auth)].includes(path)) mcp(request, response);
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  const resource = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const auth = devAuth({ users: ["ada"], clients: [{ id: "nightly", secret: "s" }], scopes: ["notes"], resource });
  const mcp = nodeHandler(notes(), { auth });
  const agent = new UserAgent();
  const authorize = async (url: URL): Promise<URL | string> => {
    await agent.open(url, redirectUrl);
    return (await agent.submit({ user: "ada" }, redirectUrl)) ?? "";
  };
  const client = await connect(resource, { auth: oauth({ redirectUrl, authorize }) });
  expect(textOf(await client.tools.call("whoami"))).toMatch(/^ada of/);
  await client.close();
  expect(sent.filter((each) => each.endsWith("true")).map((each) => each.split(/[?\s]/)[0])).toEqual([
    "/authorize",
    "/token",
  ]);
  // A parameter that is repeated stays so: both resources are looked at.
  const credentials = { grant_type: "client_credentials", client_id: "nightly", client_secret: "s", resource };
  const body = new URLSearchParams(credentials);
  const tokenOf = async (): Promise<unknown> =>
    (await fetch(new URL("/token", resource), { method: "POST", body })).json();
  expect(await tokenOf()).toMatchObject({ token_type: "Bearer" });
  body.append("resource", "https://other.example/mcp");
  expect(await tokenOf()).toMatchObject({ error: "invalid_target" });
  mcp.close();
  http.close();
  http.closeAllConnections();
});
