import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  auth0,
  clerk,
  entra,
  github,
  google,
  introspectionAuth,
  jwtAuth,
  keycloak,
  okta,
  type ResourceServer,
  supabase,
  workos,
} from "@parlance/mcp/auth";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { audience, type Issuer, startIssuer } from "./authorization-server.js";

/** The metadata of each provider as it serves it, without members that nothing here uses, and with a tenant of its examples. */
const fixtures: Record<string, { readonly metadata: { readonly issuer: string; readonly jwks_uri?: string } }> =
  JSON.parse(readFileSync(new URL("fixtures/provider-metadata.json", import.meta.url), "utf8"));

const tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
const clientId = "00001111-aaaa-2222-bbbb-3333cccc4444";
const resource = audience;
const scopes = ["notes"];

type Make = (sending: { readonly fetch: typeof fetch }) => ResourceServer;

/** A provider, and the claims of a valid token of it. */
const providers: readonly (readonly [name: string, make: Make, claims: Record<string, unknown>])[] = [
  [
    "entra",
    (sending) => entra({ tenant, clientId, resource, scopes, ...sending }),
    { aud: clientId, scp: "notes", azp: "app" },
  ],
  [
    "auth0",
    (sending) => auth0({ domain: "example.eu.auth0.com", audience, scopes, ...sending }),
    { aud: [audience], scope: "notes" },
  ],
  [
    "keycloak",
    (sending) => keycloak({ url: "https://login.example.com", realm: "notes", audience, ...sending }),
    { aud: audience },
  ],
  [
    "okta",
    (sending) => okta({ domain: "example.okta.com", audience: "api://default", resource, ...sending }),
    { aud: "api://default" },
  ],
  ["workos", (sending) => workos({ domain: "example.authkit.app", audience, ...sending }), { aud: audience }],
  ["clerk", (sending) => clerk({ domain: "example.clerk.accounts.dev", audience, ...sending }), { aud: audience }],
  [
    "supabase",
    (sending) => supabase({ project: "abcdefghijklmnop", resource, ...sending }),
    { aud: "authenticated", client_id: "app" },
  ],
];

/** A proxy, which gets every request to a provider with its whole URL, and answers it itself. */
let asked: { readonly url: string; readonly headers: Headers; readonly body: string }[] = [];
let answers: (url: string, body: string) => { readonly status: number; readonly body: unknown };
const proxy = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { url = "" } = request;
  asked.push({ url, headers: new Headers(request.headers as Record<string, string>), body });
  const answer = answers(url, body);
  response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
});

/** Sends requests to the proxy, as the `fetch` of an application in a network with one may do. */
const throughProxy: typeof fetch = async (input, { method = "GET", headers, body } = {}) => {
  const { port } = proxy.address() as AddressInfo;
  const sent = httpRequest({
    port,
    host: "127.0.0.1",
    method,
    path: String(input),
    headers: Object.fromEntries(new Headers(headers)),
  });
  sent.end(body === undefined || body === null ? undefined : String(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += chunk;
  return new Response(text, {
    status: answer.statusCode ?? 0,
    headers: { "content-type": answer.headers["content-type"] ?? "" },
  });
};
const sending = { fetch: throughProxy };

beforeEach(async () => {
  asked = [];
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

const request = { method: "POST", header: () => undefined };

test.each(providers)(
  "%s: its keys are where its metadata says, and its tokens are served",
  async (name, make, claims) => {
    const server = make(sending);
    const metadata = fixtures[name]?.metadata;
    expect(server.authorizationServers).toEqual([metadata?.issuer]);
    const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
    const jwk = await exportJWK(publicKey);
    answers = () => ({ status: 200, body: { keys: [{ ...jwk, kid: "1", alg: "RS256", use: "sig" }] } });
    const token = (changes: Record<string, unknown> = {}): Promise<string> =>
      new SignJWT({
        iss: metadata?.issuer ?? "",
        sub: "ada",
        exp: Math.floor(Date.now() / 1000) + 60,
        ...claims,
        ...changes,
      })
        .setProtectedHeader({ alg: "RS256", kid: "1", typ: "JWT" })
        .sign(privateKey);
    expect(await server.verify(await token(), request)).toMatchObject({
      kind: "identity",
      identity: { subject: "ada" },
    });
    expect(asked.map(({ url }) => url)).toEqual([metadata?.jwks_uri]);
    expect(await server.verify(await token({ aud: "another" }), request)).toMatchObject({ kind: "invalid" });
    expect(await server.verify(await token({ iss: "https://evil.example" }), request)).toMatchObject({
      kind: "invalid",
    });
    if (name === "entra") {
      const verified = await server.verify(await token(), request);
      expect(verified).toMatchObject({ identity: { scopes: ["notes", `api://${clientId}/notes`] } });
      expect(server.scopes).toEqual([`api://${clientId}/notes`]);
      // The claims of an ID token, which pages of the application have.
      const ofPage = { aud: clientId, scp: undefined, azp: undefined, nonce: "1", name: "Ada" };
      expect(await server.verify(await token(ofPage), request)).toMatchObject({
        kind: "invalid",
        reason: expect.stringContaining("ID token") as unknown,
      });
    }
    if (name === "supabase") {
      expect(await server.verify(await token({ client_id: undefined }), request)).toMatchObject({ kind: "invalid" });
    }
  },
);

test("google and github: the issuer is that of their metadata", () => {
  expect(google({ clientIds: ["ours"], resource }).authorizationServers).toEqual([fixtures.google?.metadata.issuer]);
  expect(github({ clientId: "ours", clientSecret: "s", resource }).authorizationServers).toEqual([
    fixtures.github?.metadata.issuer,
  ]);
});

test("google: a token of one of our clients is served, and asked about once", async () => {
  const server = google({ clientIds: ["ours"], resource, scopes: ["openid"], ...sending });
  const exp = String(Math.floor(Date.now() / 1000) + 600);
  answers = () => ({ status: 200, body: { aud: "ours", sub: "7", scope: "openid", exp } });
  const verify = (): unknown => server.verify("opaque", request);
  const verified = await Promise.all([verify(), verify()]);
  expect([...verified, await verify()]).toEqual(
    Array(3).fill(expect.objectContaining({ identity: expect.objectContaining({ subject: "7", scopes: ["openid"] }) })),
  );
  expect(asked).toHaveLength(1);
  expect(asked[0]?.url).toBe("https://oauth2.googleapis.com/tokeninfo");
  expect(asked[0]?.headers.get("authorization")).toBe("Bearer opaque");
});

test.each([
  ["of another client", { status: 200, body: { aud: "theirs", sub: "7", exp: "9999999999" } }, "invalid"],
  ["that has expired", { status: 200, body: { aud: "ours", sub: "7", exp: "1" } }, "invalid"],
  ["without an expiry", { status: 200, body: { aud: "ours", sub: "7" } }, "invalid"],
  ["that Google does not know", { status: 400, body: { error: "invalid_token" } }, "invalid"],
  ["while Google fails", { status: 500, body: {} }, "unavailable"],
])("google: a token %s", async (_what, answer, kind) => {
  const server = google({ clientIds: ["ours"], resource, ...sending });
  answers = () => answer;
  expect(await server.verify("opaque", request)).toMatchObject({ kind });
});

test("github: a token of the app is served; the token is in no URL and in no claim", async () => {
  const server = github({ clientId: "Iv1.0123", clientSecret: "secret", resource, ...sending });
  answers = () => ({
    status: 200,
    body: { app: { client_id: "Iv1.0123" }, user: { id: 5, login: "ada" }, scopes: ["repo"], token: "gho_x" },
  });
  const verified = await server.verify("gho_x", request);
  expect(verified).toMatchObject({ identity: { subject: "5", scopes: ["repo"], claims: { login: "ada" } } });
  expect(JSON.stringify(verified)).not.toContain("gho_x");
  expect(asked.map(({ url, body }) => [url, body])).toEqual([
    ["https://api.github.com/applications/Iv1.0123/token", '{"access_token":"gho_x"}'],
  ]);
});

test.each([
  ["of another app", { status: 200, body: { app: { client_id: "x" }, user: { id: 5 } } }, "invalid"],
  ["that GitHub does not know", { status: 404, body: {} }, "invalid"],
  ["while the app is limited", { status: 429, body: {} }, "unavailable"],
])("github: a token %s", async (_what, answer, kind) => {
  const server = github({ clientId: "Iv1.0123", clientSecret: "secret", resource, ...sending });
  answers = () => answer;
  expect(await server.verify("gho_x", request)).toMatchObject({ kind });
});

test("options that could lead to another issuer are refused", () => {
  expect(() => entra({ tenant: "common", clientId, resource })).toThrow(/GUID/);
  expect(() => auth0({ domain: "evil.example/x", audience })).toThrow(/without https/);
  expect(() => okta({ domain: "example.okta.com", server: "../x", audience })).toThrow(/without https/);
  expect(() => google({ clientIds: [], resource })).toThrow(/clientIds is empty/);
  expect(() => github({ clientId: "a", clientSecret: "", resource })).toThrow(/clientSecret is missing/);
});

test("introspection: a valid token is remembered for cacheSeconds, and not beyond its expiry", async () => {
  await using issuer = await startIssuer();
  const how = { issuer: issuer.url, audience, clientId: "notes", clientSecret: "secret", cacheSeconds: 60 };
  const server = introspectionAuth(how);
  const seconds = Math.floor(Date.now() / 1000);
  issuer.introspected.set("long", { active: true, aud: audience, sub: "ada", exp: seconds + 600 });
  issuer.introspected.set("expired", { active: true, aud: audience, sub: "ada", exp: seconds - 1 });
  const introspections = (): number => issuer.requests.filter((path) => path === "/introspect").length;
  for (let time = 0; time < 3; time += 1) await server.verify("long", request);
  expect(introspections()).toBe(1);
  for (let time = 0; time < 3; time += 1) await server.verify("expired", request);
  expect(introspections()).toBe(4);
  for (let time = 0; time < 3; time += 1) {
    expect(await server.verify("unknown", request)).toMatchObject({ kind: "invalid" });
  }
  expect(introspections()).toBe(7);
});

test("introspection: strangers cause 64 requests at a time, and the others get 503 with Retry-After", async () => {
  await using issuer = await startIssuer();
  const server = introspectionAuth({ issuer: issuer.url, audience, clientId: "notes", clientSecret: "secret" });
  const verified = await Promise.all(Array.from({ length: 200 }, (_, n) => server.verify(`stranger-${n}`, request)));
  expect(verified.filter(({ kind }) => kind === "unavailable")).toHaveLength(136);
  expect(verified.filter(({ kind }) => kind === "invalid")).toHaveLength(64);
});

test.each([
  ["jwtAuth", 2, (own: Issuer, send: typeof fetch) => jwtAuth({ issuer: own.url, audience, fetch: send })],
  [
    "introspectionAuth",
    2,
    (own: Issuer, send: typeof fetch) =>
      introspectionAuth({ issuer: own.url, audience, clientId: "notes", clientSecret: "secret", fetch: send }),
  ],
] as const)(
  "%s: a fetch of the application sends all requests, and its error verifies no token",
  async (_name, count, make) => {
    await using issuer = await startIssuer();
    const token = await issuer.token();
    issuer.introspected.set(token, { active: true, aud: audience, sub: "ada" });
    const sent: string[] = [];
    const send: typeof fetch = (input, init) => {
      sent.push(String(input).replace(issuer.url, ""));
      return fetch(input, init);
    };
    expect(await make(issuer, send).verify(token, request)).toMatchObject({ kind: "identity" });
    expect(sent).toHaveLength(count);
    expect(sent).toEqual(issuer.requests);
    for (const failing of [
      () => Promise.reject(new Error("no way out")),
      () => {
        throw new Error("no way out");
      },
    ]) {
      const verifying = (async () => make(issuer, failing).verify(token, request))();
      const outcome = await verifying.then(JSON.stringify, String);
      expect(outcome).toContain("no way out");
      expect(outcome).not.toContain("identity");
    }
    expect(issuer.requests).toHaveLength(count);
  },
);
