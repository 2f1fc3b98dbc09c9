import { oauth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { expect, onTestFinished, test } from "vitest";
import { approve, startProtectedServer, startSignInServer } from "./protected-server.js";

const redirectUrl = "http://127.0.0.1:33418/callback";

/** Leads the requests to a public authorization server to one on this machine, which then takes itself for it. */
async function servedAs(issuer: string) {
  const local = await startSignInServer();
  onTestFinished(() => local[Symbol.asyncDispose]());
  const { origin } = new URL(issuer);
  const toLocal = (url: URL): URL => new URL(url.href.replace(origin, local.url));
  local.behaviour.metadataPath = `/.well-known/oauth-authorization-server${new URL(issuer).pathname}`;
  local.behaviour.metadata = {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  return { local, toLocal, fetch: (url: URL, init: RequestInit) => fetch(toLocal(url), init) };
}

/** Signs in at a server, lets the token expire, and calls again; the requests that the server got. */
async function requestsTo(issuer: string, metadata: Readonly<Record<string, unknown>>) {
  const { local, toLocal, fetch } = await servedAs(issuer);
  Object.assign(local.behaviour, { metadata: { ...local.behaviour.metadata, ...metadata }, expiresIn: 5 });
  // Their scopes name the resource, so the server takes a token that was requested without it.
  const takesAny = Object.assign(new Map(local.issued), {
    get(token: string) {
      const known = local.issued.get(token);
      return known && { ...known, resource: server.url };
    },
  });
  const server = await startProtectedServer({ ...local, url: issuer, issued: takesAny });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const authorize = (url: URL): Promise<string> => approve(toLocal(url));
  const auth = oauth({ redirectUrl, authorize, fetch, clientId: "notes" });
  await using client = await connect(server.url, { auth });
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
  const parametersOf = (path: string) => local.requests(path).map(({ parameters }) => Object.fromEntries(parameters));
  return { url: server.url, authorize: parametersOf("/authorize"), token: parametersOf("/token") };
}

test.each([
  "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0",
  "https://login.microsoftonline.us/contoso.example/v2.0",
  "https://contoso.ciamlogin.com/11111111-2222-3333-4444-555555555555/v2.0",
])("%s gets no resource, the scopes with a refresh, and S256 although it does not announce it", async (issuer) => {
  const { authorize, token } = await requestsTo(issuer, { code_challenge_methods_supported: undefined });
  expect(authorize[0]).toMatchObject({ code_challenge_method: "S256", scope: "read" });
  expect(token.length).toBeGreaterThan(1);
  expect([...authorize, ...token].filter((each) => "resource" in each)).toEqual([]);
  expect(token.at(-1)).toMatchObject({ grant_type: "refresh_token", scope: "read" });
});

test.each([
  "https://login.microsoftonline.com.evil.example/x/v2.0",
  "https://auth.example/login.microsoftonline.com/v2.0",
])("%s is none of them", async (issuer) => {
  await expect(requestsTo(issuer, { code_challenge_methods_supported: undefined })).rejects.toMatchObject({
    failure: { kind: "pkce" },
  });
  const { url, authorize, token } = await requestsTo(issuer, {});
  expect([...authorize, ...token].filter(({ resource }) => resource !== url)).toEqual([]);
  expect(token.at(-1)).not.toHaveProperty("scope");
});
