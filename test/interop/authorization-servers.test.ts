import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  deviceCode,
  introspectionAuth,
  jwtAuth,
  memoryTokenStore,
  oauth,
  oauthProxy,
  revokeTokens,
  type StoredCredentials,
  type TokenStore,
} from "@parlance/mcp/auth";
import { type Client, connect, textOf } from "@parlance/mcp/client";
import type { HttpOptions } from "@parlance/mcp/http";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { UserAgent } from "../auth/user-agent.js";

// Our client and our servers with authorization servers of others, which `npm ci --prefix test/interop` installs; without them these
// tests are skipped.

const folder = join(import.meta.dirname, "authorization-servers");
const isInstalled = existsSync(join(folder, "../node_modules/oidc-provider"));
const redirectUrl = "http://127.0.0.1:33418/callback";

type Settings = Readonly<Record<string, unknown>>;

/** Starts oidc-provider in a process of its own; its issuer. */
const startOidcProvider = (settings: Settings = {}): Promise<string> => start("oidc-provider.js", settings);

/** Starts better-auth in a process of its own; its issuer, and the subject of its user. */
async function startBetterAuth(settings: Settings): Promise<{ readonly issuer: string; readonly subject: string }> {
  return JSON.parse(await start("better-auth.js", settings));
}

/** Starts an authorization server; the first line that it prints. */
async function start(program: string, settings: Settings): Promise<string> {
  const child = spawn(process.execPath, [join(folder, program), JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the authorization server ended with ${code}`)));
  });
}

async function listening(answer: RequestListener): Promise<{ readonly http: HttpServer; readonly origin: string }> {
  const http = createHttpServer(answer);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { http, origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

type Auth = NonNullable<HttpOptions["auth"]>;

/** Starts our protected server; its URL. The tool `erase` needs one more scope. */
async function startNotes(authAt: (url: string) => Auth | Promise<Auth>): Promise<string> {
  const { http, origin } = await listening(() => undefined);
  const url = `${origin}/mcp`;
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => `${auth?.subject} of ${auth?.issuer}: ${auth?.scopes?.join(" ")}`);
  server.tool("erase", { scopes: ["notes", "notes:write"] }, () => "erased");
  const handler = nodeHandler(server, { auth: await authAt(url) });
  http.on("request", handler);
  onTestFinished(() => handler.close());
  return url;
}

/** A user with a browser who signs in once, and consents to every request. */
function userOf(name: string): (url: URL) => Promise<URL> {
  const agent = new UserAgent();
  return async (url) => {
    const refusal = await agent.open(url, redirectUrl);
    if (refusal !== undefined) return refusal;
    const isSignIn = agent.html.includes('name="login"');
    if (isSignIn) await agent.submit({ login: name, password: "any" }, redirectUrl);
    const redirect = await agent.submit({}, redirectUrl);
    if (redirect === undefined) throw new Error(`no redirect, but the page ${agent.html}`);
    return redirect;
  };
}

type OAuth = Parameters<typeof oauth>[0];

/** Connects as a client whose user is Ada, and records the steps of its sign-in. */
async function signIn(url: string, options: OAuth = {}): Promise<{ client: Client; steps: string[] }> {
  const steps: string[] = [];
  const auth = oauth({
    clientName: "Notes",
    redirectUrl,
    authorize: userOf("ada"),
    onStep: ({ kind, text }) => steps.push(`${kind}: ${text}`),
    ...options,
  });
  const client = await connect(url, { auth });
  onTestFinished(() => client.close());
  return { client, steps };
}

const call = async (client: Client, name: string): Promise<string> => textOf(await client.tools.call(name));
const jwtOf = (issuer: string) => (audience: string) => jwtAuth({ issuer, audience, scopes: ["notes"] });

/** A store that shows what it keeps of the one sign-in. */
function openStore(): { readonly store: TokenStore; kept(): StoredCredentials | undefined } {
  const inner = memoryTokenStore();
  let last: StoredCredentials | undefined;
  const set: TokenStore["set"] = (key, credentials) => {
    last = credentials;
    return inner.set(key, credentials);
  };
  return { store: { ...inner, set }, kept: () => last };
}

/** A request to the token endpoint. */
async function redeem(issuer: string, fields: Record<string, string>): Promise<{ status: number; error: unknown }> {
  const response = await fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(fields) });
  const { error } = (await response.json()) as { error?: unknown };
  return { status: response.status, error };
}

/** The client that our server is at an authorization server where it introspects tokens. */
const introspectingClient = {
  client_id: "notes-server",
  client_secret: "a secret of the server",
  redirect_uris: [redirectUrl],
  application_type: "native",
};

const introspecting = (issuer: string) => (audience: string) => {
  const { client_id: clientId, client_secret: clientSecret } = introspectingClient;
  return introspectionAuth({ issuer, audience, clientId, clientSecret, scopes: ["notes"] });
};

const ifInstalled = test.skipIf(!isInstalled);

ifInstalled("a client registers dynamically, signs in, and steps up", async () => {
  const issuer = await startOidcProvider();
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)));
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps.join("\n")).toMatch(/^registration: registered as/m);
  expect(await call(client, "erase")).toBe("erased");
  expect(steps.join("\n")).toMatch(/^step-up: requests notes notes:write$/m);
});

ifInstalled("a client registers again for a step-up, where its registration restricts the scopes", async () => {
  const issuer = await startOidcProvider({ scopes: ["openid", "offline_access", "notes", "notes:write"] });
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)));
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(await call(client, "erase")).toBe("erased");
  expect(steps.filter((step) => step.startsWith("registration: registered as"))).toHaveLength(2);
});

ifInstalled("a pre-registered client signs in with its secret", async () => {
  const registered = { client_id: "notes-app", client_secret: "a secret: with + and %", redirect_uris: [redirectUrl] };
  const issuer = await startOidcProvider({ clients: [{ ...registered, application_type: "native" }] });
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)), {
    clientId: registered.client_id,
    clientSecret: registered.client_secret,
    issuer,
  });
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps).toContain("registration: notes-app: pre-registered");
});

ifInstalled("a client with a metadata document needs no registration", async () => {
  const clientId = "https://app.example/client.json";
  const document = {
    client_id: clientId,
    client_name: "Notes",
    redirect_uris: [redirectUrl],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };
  const documents = await listening((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  });
  const issuer = await startOidcProvider({ documents: documents.origin });
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)), { clientMetadataUrl: clientId });
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps).toContain(`registration: ${clientId}: its metadata document, which the server supports`);
});

ifInstalled("refresh tokens rotate, and one that is used twice ends the sign-in", async () => {
  // A token of five seconds is about to expire, so every call refreshes it.
  const issuer = await startOidcProvider({ lifetime: 5 });
  const { store, kept } = openStore();
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)), { store });
  const used: (string | undefined)[] = [];
  for (let calls = 0; calls < 3; calls += 1) {
    used.push(kept()?.tokens?.refreshToken);
    expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  }
  expect(new Set(used).size).toBe(3);

  const [stolen = ""] = used;
  const registered = kept()?.client?.id ?? "";
  const thief = await redeem(issuer, { grant_type: "refresh_token", refresh_token: stolen, client_id: registered });
  expect(thief).toEqual({ status: 400, error: "invalid_grant" });
  steps.length = 0;
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps.join("\n")).toContain("used twice, which ends all tokens of that sign-in");
  expect(steps.join("\n")).toMatch(/^redirect: an authorization code$/m);
});

ifInstalled("a token for another resource is refused", async () => {
  const issuer = await startOidcProvider();
  const [notes, other] = [await startNotes(jwtOf(issuer)), await startNotes(jwtOf(issuer))];
  const { store, kept } = openStore();
  const { client } = await signIn(other, { store });
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  const authorization = `Bearer ${kept()?.tokens?.accessToken}`;
  const headers = { authorization, accept: "application/json, text/event-stream", "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetch(notes, { method: "POST", headers, body });
  expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
});

/** A user who enters a code on another device, and decides. */
async function enterCode(page: string | undefined, decision: "confirm" | "abort"): Promise<void> {
  const agent = new UserAgent();
  await agent.open(page ?? "", redirectUrl);
  await agent.submit({}, redirectUrl);
  if (decision === "abort") {
    await agent.submit({ confirm: "", abort: "yes" }, redirectUrl);
    return;
  }
  await agent.submit({ confirm: "yes" }, redirectUrl);
  await agent.submit({ login: "ada", password: "any" }, redirectUrl);
  await agent.submit({}, redirectUrl);
}

/** The response of oidc-provider names no interval: the five seconds of the standard are shortened. */
const impatient: OAuth["fetch"] = async (at, init) => {
  const response = await fetch(at, init);
  if (at.pathname !== "/device/auth" || !response.ok) return response;
  return Response.json({ ...((await response.json()) as object), interval: 0.1 });
};

ifInstalled("a user signs in with a device code, and refreshes", async () => {
  // A token of five seconds is about to expire, so every call refreshes it.
  const issuer = await startOidcProvider({ lifetime: 5 });
  const { store, kept } = openStore();
  const auth = deviceCode({
    store,
    clientName: "Notes",
    fetch: impatient,
    show: ({ verificationUriComplete }) => void enterCode(verificationUriComplete, "confirm"),
  });
  const client = await connect(await startNotes(jwtOf(issuer)), { auth });
  onTestFinished(() => client.close());
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  const first = kept()?.tokens?.accessToken;
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(kept()?.tokens?.accessToken).not.toBe(first);
});

ifInstalled("a user who aborts a device code is one who denies the access", async () => {
  const issuer = await startOidcProvider();
  const show: Parameters<typeof deviceCode>[0]["show"] = ({ verificationUriComplete }) =>
    enterCode(verificationUriComplete, "abort");
  const auth = deviceCode({ clientName: "Notes", fetch: impatient, show });
  const connecting = connect(await startNotes(jwtOf(issuer)), { auth, reopen: false });
  await expect(connecting).rejects.toThrow("access_denied");
});

ifInstalled("opaque tokens are introspected, and refused once they are revoked", async () => {
  const issuer = await startOidcProvider({ tokens: "opaque", clients: [introspectingClient] });
  const url = await startNotes(introspecting(issuer));
  const { store, kept } = openStore();
  const { client, steps } = await signIn(url, { store });
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  const { tokens, client: registered } = kept() ?? {};
  expect(tokens?.accessToken).not.toContain(".");
  const body = new URLSearchParams({ token: tokens?.accessToken ?? "", client_id: registered?.id ?? "" });
  expect((await fetch(`${issuer}/token/revocation`, { method: "POST", body })).status).toBe(200);
  steps.length = 0;
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps[0]).toMatch(/^challenge: /);
});

ifInstalled.each(["jwt", "opaque"])("a sign-in with %s tokens is revoked", async (tokens) => {
  const issuer = await startOidcProvider({ tokens, clients: [introspectingClient] });
  const { store, kept } = openStore();
  await signIn(await startNotes(tokens === "jwt" ? jwtOf(issuer) : introspecting(issuer)), { store });
  const credentials = kept();
  if (credentials === undefined) throw new Error("the store has no credentials");
  expect(await revokeTokens(credentials)).toEqual({ kind: "revoked" });
  const { refreshToken = "" } = credentials.tokens ?? {};
  const client = { client_id: credentials.client?.id ?? "", grant_type: "refresh_token" };
  expect(await redeem(issuer, { ...client, refresh_token: refreshToken })).toMatchObject({ error: "invalid_grant" });
});

ifInstalled("tokens are bound to a key of the client, also those of a refresh", async () => {
  const issuer = await startOidcProvider({ lifetime: 5 });
  const url = await startNotes((audience) => jwtAuth({ issuer, audience, scopes: ["notes"], dpop: "nonce" }));
  const { store, kept } = openStore();
  const { client, steps } = await signIn(url, { store, dpop: true });
  for (let calls = 0; calls < 2; calls += 1) expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps.join("\n")).toContain(`refresh: POST ${issuer}/token: 200`);
  const { tokens, dpopKey } = kept() ?? {};
  expect(tokens?.tokenType).toBe("DPoP");
  expect(dpopKey).toMatchObject({ kty: "EC", crv: "P-256" });
  // Another process with the same store has the key; who has the token alone does not get in.
  const second = await signIn(url, { store, dpop: true });
  expect(await call(second.client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(second.steps.filter((step) => step.startsWith("redirect:"))).toEqual([]);
  for (const scheme of ["DPoP", "Bearer"]) {
    const headers = { authorization: `${scheme} ${tokens?.accessToken}`, "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(401);
  }
});

ifInstalled("a proxy names users by the ID token of the provider", async () => {
  const issuers: string[] = [];
  const url = await startNotes(async (resource) => {
    const origin = new URL(resource).origin;
    const registered = { client_id: "proxy", client_secret: "a secret", redirect_uris: [`${origin}/callback`] };
    const upstream = await startOidcProvider({ clients: [{ ...registered, application_type: "native" }] });
    issuers.push(origin);
    const { client_id: clientId, client_secret: clientSecret } = registered;
    const secret = "a secret of at least 32 characters";
    return oauthProxy({ resource, upstream, clientId, clientSecret, secret, scopes: ["notes"] });
  });
  const agent = new UserAgent();
  const authorize = async (request: URL): Promise<URL> => {
    await agent.open(request, redirectUrl);
    await agent.submit({ decision: "allow" }, redirectUrl);
    await agent.submit({ login: "ada", password: "any" }, redirectUrl);
    return (await agent.submit({}, redirectUrl)) ?? request;
  };
  const { client } = await signIn(url, { authorize });
  expect(await call(client, "whoami")).toBe(`ada of ${issuers}: notes`);
});

ifInstalled("a client that signs out at a proxy ends the tokens of the provider too", async () => {
  const upstreams: string[] = [];
  const granted: string[] = [];
  const proxyClient = { client_id: "proxy", client_secret: "a secret" };
  const url = await startNotes(async (resource) => {
    const redirect_uris = [`${new URL(resource).origin}/callback`];
    const grant_types = ["authorization_code", "refresh_token"];
    const registered = { ...proxyClient, redirect_uris, grant_types, application_type: "native" };
    const upstream = await startOidcProvider({ clients: [registered, introspectingClient] });
    upstreams.push(upstream);
    return oauthProxy({
      resource,
      upstream,
      clientId: proxyClient.client_id,
      clientSecret: proxyClient.client_secret,
      secret: "a secret of at least 32 characters",
      scopes: ["notes"],
      upstreamScopes: ["openid", "offline_access"],
      upstreamParameters: { prompt: "consent" },
      subject({ accessToken, idClaims }) {
        granted.push(accessToken);
        return String(idClaims?.sub);
      },
    });
  });
  const agent = new UserAgent();
  const authorize = async (request: URL): Promise<URL> => {
    await agent.open(request, redirectUrl);
    await agent.submit({ decision: "allow" }, redirectUrl);
    await agent.submit({ login: "ada", password: "any" }, redirectUrl);
    return (await agent.submit({}, redirectUrl)) ?? request;
  };
  const { store, kept } = openStore();
  const { client } = await signIn(url, { authorize, store });
  expect(await call(client, "whoami")).toContain("ada of ");
  const isActive = async (): Promise<unknown> => {
    const response = await fetch(`${upstreams[0]}/token/introspection`, {
      method: "POST",
      body: new URLSearchParams({ token: granted[0] ?? "" }),
      headers: { authorization: `Basic ${btoa("proxy:a+secret")}` },
    });
    return ((await response.json()) as { readonly active?: unknown }).active;
  };
  expect(await isActive()).toBe(true);
  const credentials = kept();
  if (credentials === undefined) throw new Error("the store has no credentials");
  expect(await revokeTokens(credentials)).toEqual({ kind: "revoked" });
  expect(await isActive()).toBe(false);
});

ifInstalled("better-auth: a client registers, signs in, refreshes, steps up, and signs out", async () => {
  const running: { readonly issuer: string; readonly subject: string }[] = [];
  const url = await startNotes(async (resource) => {
    // A token of five seconds is about to expire, so every call refreshes it.
    const started = await startBetterAuth({ resource, lifetime: 5 });
    running.push(started);
    return jwtOf(started.issuer)(resource);
  });
  const [{ issuer, subject } = { issuer: "", subject: "" }] = running;
  const agent = new UserAgent();
  const { store, kept } = openStore();
  const authorize = async (request: URL): Promise<URL> => (await agent.open(request, redirectUrl)) ?? request;
  const { client, steps } = await signIn(url, { authorize, store });
  const first = kept()?.tokens?.refreshToken;
  expect(await call(client, "whoami")).toContain(`${subject} of ${issuer}: notes`);
  expect(kept()?.tokens?.refreshToken).not.toBe(first);
  expect(await call(client, "erase")).toBe("erased");
  expect(steps.join("\n")).toMatch(/^step-up: requests /m);
  const credentials = kept();
  if (credentials === undefined) throw new Error("the store has no credentials");
  expect(await revokeTokens(credentials)).toEqual({ kind: "revoked" });
});
