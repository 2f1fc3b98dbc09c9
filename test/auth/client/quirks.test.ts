import { readFileSync } from "node:fs";
import { memoryTokenStore, oauth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { expect, onTestFinished, test } from "vitest";
import { approve, startProtectedServer, startSignInServer } from "./protected-server.js";

const redirectUrl = "http://127.0.0.1:33418/callback";

type Metadata = Readonly<Record<string, unknown>> & { readonly issuer: string };

/** The metadata of each provider as it serves it, and where. */
interface Recorded {
  readonly at: string;
  readonly metadata: Metadata;
}

const fixtures: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(new URL("../fixtures/provider-metadata.json", import.meta.url), "utf8"),
);

const withoutDefaults = {
  registration_endpoint: undefined,
  code_challenge_methods_supported: undefined,
  token_endpoint_auth_methods_supported: undefined,
};

/** An authorization server on this machine that takes itself for a public one, whose requests are led to it. */
async function servedAs({ at, metadata }: Recorded) {
  const local = await startSignInServer();
  onTestFinished(() => local[Symbol.asyncDispose]());
  local.behaviour.metadataPath = new URL(at).pathname;
  local.behaviour.metadata = { ...withoutDefaults, ...metadata };
  if (metadata.authorization_response_iss_parameter_supported === true)
    local.behaviour.redirect = (parameters) => parameters.set("iss", metadata.issuer);
  const paths = new Map([
    [at, local.behaviour.metadataPath],
    [metadata.authorization_endpoint, "/authorize"],
    [metadata.token_endpoint, "/token"],
    [metadata.registration_endpoint, "/register"],
  ]);
  const toLocal = (url: URL): URL => {
    const path = paths.get(url.origin + url.pathname);
    const isPublic = url.protocol === "https:";
    return isPublic ? new URL(`${path ?? "/nowhere"}${url.search}`, local.url) : url;
  };
  // Their scopes name the resource, or their tokens none: a server of theirs takes a token that was requested without it.
  const takesAny = Object.assign(new Map(local.issued), {
    get(token: string) {
      const known = local.issued.get(token);
      return known && { ...known, resource: server.url };
    },
  });
  const named = metadata.issuer === "https://accounts.google.com" ? `${metadata.issuer}/` : metadata.issuer;
  const server = await startProtectedServer({ ...local, url: named, issued: takesAny });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const options = {
    redirectUrl,
    authorize: (url: URL): Promise<string> => approve(toLocal(url)),
    fetch: (url: URL, init: RequestInit) => fetch(toLocal(url), init),
    ...(metadata.registration_endpoint === undefined ? { clientId: "notes" } : {}),
  };
  return { local, server, options };
}

/** Signs in at a server, lets the token expire, and calls again; the requests that the authorization server got. */
async function requestsTo(recorded: Recorded) {
  const { local, server, options } = await servedAs(recorded);
  local.behaviour.expiresIn = 5;
  await using client = await connect(server.url, { auth: oauth(options) });
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
  const parametersOf = (path: string) => local.requests(path).map(({ parameters }) => Object.fromEntries(parameters));
  const [authorize = {}, ...others] = parametersOf("/authorize");
  expect(others).toEqual([]);
  const token = parametersOf("/token");
  expect(token.length).toBeGreaterThan(1);
  return {
    url: server.url,
    authorize,
    token: token[0] ?? {},
    refresh: token.at(-1) ?? {},
    registration: local.requests("/register")[0]?.body,
  };
}

/** Entra ID in its forms: for companies, for authorities, and for customers of companies. */
function entra(issuer: string): Recorded {
  const metadata = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
  return { at: `${issuer}/.well-known/openid-configuration`, metadata };
}

test.each([
  fixtures.entra as Recorded,
  entra("https://login.microsoftonline.us/contoso.example/v2.0"),
  entra("https://contoso.ciamlogin.com/11111111-2222-3333-4444-555555555555/v2.0"),
])(
  "$metadata.issuer gets no resource, the scopes with a refresh, and S256 although it does not announce it",
  async (recorded) => {
    const { authorize, token, refresh } = await requestsTo(recorded);
    expect(authorize).toMatchObject({ code_challenge_method: "S256", scope: expect.stringMatching(/^read\b/) });
    expect([authorize, token, refresh].filter((each) => "resource" in each)).toEqual([]);
    expect(refresh).toMatchObject({ grant_type: "refresh_token", scope: authorize.scope });
  },
);

test.each([
  "https://login.microsoftonline.com.evil.example/x/v2.0",
  "https://auth.example/login.microsoftonline.com/v2.0",
  "https://example.auth0.com.evil.example/",
  "https://accounts.google.com.evil.example",
  "https://evil.example/accounts.google.com",
  "https://github.com.evil.example/login/oauth",
])("%s is none of them", async (issuer) => {
  const own = entra(issuer.replace(/\/$/, ""));
  const recorded = { ...own, metadata: { ...own.metadata, issuer } };
  await expect(requestsTo(recorded)).rejects.toMatchObject({ failure: { kind: "pkce" } });
  const able = { ...recorded, metadata: { ...recorded.metadata, code_challenge_methods_supported: ["S256"] } };
  const { url, authorize, token, refresh } = await requestsTo(able);
  expect([authorize, token, refresh].filter(({ resource }) => resource !== url)).toEqual([]);
  expect([authorize, token, refresh].filter((each) => "audience" in each || "access_type" in each)).toEqual([]);
  expect(refresh).not.toHaveProperty("scope");
});

/** The providers that take `resource`, and what else the requests of a client have there. */
const others: Readonly<Record<string, { readonly everywhere?: readonly string[]; readonly authorize?: object }>> = {
  auth0: { everywhere: ["resource", "audience"], authorize: { prompt: "consent" } },
  keycloak: { authorize: { prompt: "consent" } },
  okta: { authorize: { prompt: "consent" } },
  workos: { authorize: { prompt: "consent" } },
  clerk: { authorize: { prompt: "consent" } },
  supabase: { authorize: { prompt: "consent" } },
  google: { authorize: { prompt: "consent", access_type: "offline", scope: "read" } },
  github: { authorize: { scope: "read" } },
};

test.each(Object.entries(others))("a client signs in and refreshes at %s", async (name, { everywhere, authorize }) => {
  const sent = await requestsTo(fixtures[name] as Recorded);
  expect(sent.authorize).toMatchObject({ code_challenge_method: "S256", ...authorize });
  for (const each of [sent.authorize, sent.token, sent.refresh])
    for (const parameter of everywhere ?? ["resource"]) expect(each).toHaveProperty(parameter, sent.url);
  if (everywhere === undefined) expect(sent.authorize).not.toHaveProperty("audience");
  expect(sent.refresh.grant_type).toBe("refresh_token");
  // A registration with scopes loses the default scopes of Keycloak, one of which sets the audience.
  if (sent.registration !== undefined) expect("scope" in sent.registration).toBe(name !== "keycloak");
});

test("every provider has a fixture, and every fixture a test", () => {
  expect(Object.keys(fixtures)).toEqual(["entra", ...Object.keys(others)]);
});

test("github: the scopes that it grants are separated by commas", async () => {
  const { local, server, options } = await servedAs(fixtures.github as Recorded);
  local.behaviour.token = () => {
    const scopes = ["read", "write"];
    local.issued.set("t", { scopes, resource: server.url, refreshToken: "r", isRevoked: false });
    return { status: 200, body: { access_token: "t", token_type: "bearer", scope: "read,write" } };
  };
  const store = memoryTokenStore();
  await using client = await connect(server.url, { auth: oauth({ ...options, store }) });
  expect(textOf(await client.tools.call("write"))).toBe("written");
  const key = JSON.stringify(["https://github.com/login/oauth", server.url, "notes"]);
  expect((await store.get(key))?.tokens?.scopes).toEqual(["read", "write"]);
});

test("github: a refresh token that it no longer accepts leads to a new sign-in, although the error comes with 200", async () => {
  const { local, server, options } = await servedAs(fixtures.github as Recorded);
  await using client = await connect(server.url, { auth: oauth(options) });
  local.expireAll();
  const body = { error: "bad_refresh_token", error_description: "The refresh token passed is incorrect or expired." };
  local.behaviour.token = (parameters) =>
    parameters.get("grant_type") === "refresh_token" ? { status: 200, body } : undefined;
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
  expect(local.requests("/authorize")).toHaveLength(2);
});
