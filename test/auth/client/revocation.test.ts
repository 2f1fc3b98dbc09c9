import { devAuth, memoryTokenStore, oauth, revokeTokens, type StoredCredentials } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { approve, startProtectedServer, startSignInServer } from "./protected-server.js";

const redirectUrl = "http://127.0.0.1:33418/callback";

/** Signs in at a server; what the token store keeps. */
async function signIn(url: string, options: Parameters<typeof oauth>[0]): Promise<StoredCredentials> {
  const store = memoryTokenStore();
  let kept: StoredCredentials | undefined;
  const set: typeof store.set = (key, credentials) => {
    kept = credentials;
    return store.set(key, credentials);
  };
  const client = await connect(url, { auth: oauth({ redirectUrl, ...options, store: { ...store, set } }) });
  await client.close();
  if (kept === undefined) throw new Error("the store has no credentials");
  return kept;
}

async function startNotes() {
  const auth = devAuth({ users: ["ada"], scopes: ["notes"], clients: [{ id: "machine", secret: "a secret" }] });
  const http = await serveHttp(createServer({ name: "notes", version: "1.0.0" }), { auth });
  onTestFinished(() => http.close());
  const { origin } = new URL(http.url);
  const post = async (path: string, form: Record<string, string>) => {
    const response = await fetch(`${origin}${path}`, { method: "POST", body: new URLSearchParams(form) });
    return { status: response.status, ...((await response.json()) as { error?: string; access_token?: string }) };
  };
  return { url: http.url, auth, post };
}

const callWith = async (url: string, { tokens }: StoredCredentials): Promise<number> => {
  const headers = {
    authorization: `Bearer ${tokens?.accessToken}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const { status } = await fetch(url, { method: "POST", headers, body: "{}" });
  return status;
};

test("revoked tokens are refused, and can be revoked again", async () => {
  const { url, auth, post } = await startNotes();
  const credentials = await signIn(url, { authorize: auth.signInAs("ada") });
  expect(await callWith(url, credentials)).toBe(400); // The body is no message, but the token is accepted.
  expect(await revokeTokens(credentials)).toEqual({ kind: "revoked" });
  expect(await callWith(url, credentials)).toBe(401);
  const { client, tokens } = credentials;
  const refresh = { refresh_token: tokens?.refreshToken ?? "", client_id: client?.id ?? "" };
  expect(await post("/token", { grant_type: "refresh_token", ...refresh })).toMatchObject({ error: "invalid_grant" });
  expect(await revokeTokens(credentials)).toEqual({ kind: "revoked" });
});

test("an access token without a refresh token ends the sign-in too", async () => {
  const { url, auth } = await startNotes();
  const { tokens, ...credentials } = await signIn(url, { authorize: auth.signInAs("ada") });
  const { refreshToken: _, ...withoutRefresh } = tokens ?? { accessToken: "", tokenType: "Bearer", scopes: [] };
  expect(await revokeTokens({ ...credentials, tokens: withoutRefresh })).toEqual({ kind: "revoked" });
  expect(await callWith(url, { ...credentials, tokens: withoutRefresh })).toBe(401);
});

test("another client cannot revoke a token, and one without a sign-in cannot be revoked", async () => {
  const { url, auth, post } = await startNotes();
  const credentials = await signIn(url, { authorize: auth.signInAs("ada") });
  const machine = { client_id: "machine", client_secret: "a secret" };
  const stolen = { token: credentials.tokens?.refreshToken ?? "", ...machine };
  expect(await post("/revoke", stolen)).toEqual({
    status: 400,
    error: "invalid_grant",
    error_description: "the token belongs to another client",
  });
  expect(await callWith(url, credentials)).toBe(400);
  const { access_token: token = "" } = await post("/token", { grant_type: "client_credentials", ...machine });
  expect(await post("/revoke", { token, ...machine })).toMatchObject({ error: "unsupported_token_type" });
  expect(await post("/revoke", { token: "never issued", ...machine })).toEqual({ status: 200 });
  expect(await post("/revoke", machine)).toMatchObject({ error: "invalid_request" });
});

test("a server without a revocation endpoint, and one that fails, are distinguished", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  const credentials = await signIn(server.url, { authorize: approve });
  expect(await revokeTokens(credentials)).toEqual({ kind: "unsupported" });
  issuer.behaviour.metadata = { revocation_endpoint: `${issuer.url}/none` };
  const failed = { kind: "failed", reason: `status 404 from ${issuer.url}/none` };
  expect(await revokeTokens(credentials)).toEqual(failed);
  const { client: _, ...withoutClient } = credentials;
  const unknown = { kind: "failed", reason: expect.stringContaining("the client id is not known") };
  expect(await revokeTokens(withoutClient)).toEqual(unknown);
  expect(await revokeTokens(withoutClient, { clientId: "notes" })).toEqual(failed);
  await issuer[Symbol.asyncDispose]();
  expect(await revokeTokens(credentials)).toMatchObject({ kind: "failed" });
});

test("tokens are not sent to an endpoint deeper in the network than the server, or in the clear", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  const credentials = await signIn(server.url, { authorize: approve });
  issuer.behaviour.metadata = { revocation_endpoint: "http://login.example/revoke" };
  const fetched: string[] = [];
  const send = (url: URL, init: RequestInit) => {
    fetched.push(url.href);
    return fetch(url, init);
  };
  expect(await revokeTokens(credentials, { fetch: send })).toMatchObject({ kind: "failed" });
  const elsewhere = { ...credentials, resource: "https://mcp.example/mcp" };
  expect(await revokeTokens(elsewhere, { fetch: send })).toMatchObject({ kind: "failed" });
  expect(fetched).toEqual([`${issuer.url}/.well-known/oauth-authorization-server`]);
});

test("a fetch of the application that throws is a failed revocation", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  const credentials = await signIn(server.url, { authorize: approve });
  const broken = () => {
    throw new Error("no network");
  };
  const failed = { kind: "failed", reason: expect.stringContaining("no network") };
  expect(await revokeTokens(credentials, { fetch: broken })).toEqual(failed);
});
