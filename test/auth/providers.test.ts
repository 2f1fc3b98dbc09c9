import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  auth0,
  clerk,
  entra,
  github,
  google,
  introspectionAuth,
  keycloak,
  okta,
  type ResourceServer,
  supabase,
  workos,
} from "@parlance/mcp/auth";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { audience, startIssuer } from "./authorization-server.js";

/** The part of the metadata of each provider that a resource server uses, from its public documentation. */
const fixtures: Record<string, { readonly issuer: string; readonly jwks_uri: string }> = JSON.parse(
  readFileSync(new URL("fixtures/provider-metadata.json", import.meta.url), "utf8"),
);

const tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
const clientId = "00001111-aaaa-2222-bbbb-3333cccc4444";
const resource = audience;
const scopes = ["notes"];

/** A provider, and the claims of a valid token of it. */
const providers: readonly (readonly [name: string, server: ResourceServer, claims: Record<string, unknown>])[] = [
  ["entra", entra({ tenant, clientId, resource, scopes }), { aud: clientId, scp: "notes", azp: "app" }],
  ["auth0", auth0({ domain: "example.eu.auth0.com", audience, scopes }), { aud: [audience], scope: "notes" }],
  ["keycloak", keycloak({ url: "https://login.example.com", realm: "notes", audience }), { aud: audience }],
  ["okta", okta({ domain: "example.okta.com", audience: "api://default", resource }), { aud: "api://default" }],
  ["workos", workos({ domain: "example.authkit.app", audience }), { aud: audience }],
  ["clerk", clerk({ domain: "example.clerk.accounts.dev", audience }), { aud: audience }],
  ["supabase", supabase({ project: "abcdefghijklmnop", resource }), { aud: "authenticated", client_id: "app" }],
];

/** Requests to providers end on a socket of this machine. */
let asked: { readonly url: string; readonly headers: Headers; readonly body: string }[] = [];
let answers: (url: string, body: string) => { readonly status: number; readonly body: unknown };
const rig = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const url = String(request.headers["x-original-url"]);
  asked.push({ url, headers: new Headers(request.headers as Record<string, string>), body });
  const answer = answers(url, body);
  response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
});
const platformFetch = globalThis.fetch;

beforeEach(async () => {
  asked = [];
  await new Promise<void>((resolve) => rig.listen(0, "127.0.0.1", resolve));
  const { port } = rig.address() as AddressInfo;
  vi.stubGlobal("fetch", (url: string | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("x-original-url", String(url));
    return platformFetch(`http://127.0.0.1:${port}/`, { ...init, headers });
  });
});
afterEach(async () => {
  vi.unstubAllGlobals();
  rig.closeAllConnections();
  await new Promise((resolve) => rig.close(resolve));
});

const request = { method: "POST", header: () => undefined };

test.each(providers)(
  "%s: its keys are where its metadata says, and its tokens are served",
  async (name, server, claims) => {
    const metadata = fixtures[name];
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
    }
    if (name === "supabase") {
      expect(await server.verify(await token({ client_id: undefined }), request)).toMatchObject({ kind: "invalid" });
    }
  },
);

test("google: a token of one of our clients is served, and asked about once", async () => {
  const server = google({ clientIds: ["ours"], resource, scopes: ["openid"] });
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
  const server = google({ clientIds: ["ours"], resource });
  answers = () => answer;
  expect(await server.verify("opaque", request)).toMatchObject({ kind });
});

test("github: a token of the app is served; the token is in no URL and in no claim", async () => {
  const server = github({ clientId: "Iv1.0123", clientSecret: "secret", resource });
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
  const server = github({ clientId: "Iv1.0123", clientSecret: "secret", resource });
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
  vi.unstubAllGlobals();
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

test("introspection: strangers cause 64 requests at a time, and the others are told to retry", async () => {
  vi.unstubAllGlobals();
  await using issuer = await startIssuer();
  const server = introspectionAuth({ issuer: issuer.url, audience, clientId: "notes", clientSecret: "secret" });
  const verified = await Promise.all(Array.from({ length: 200 }, (_, n) => server.verify(`stranger-${n}`, request)));
  expect(verified.filter(({ kind }) => kind === "unavailable")).toHaveLength(136);
  expect(verified.filter(({ kind }) => kind === "invalid")).toHaveLength(64);
});
