import { inspect } from "node:util";
import { oauth, SignInError } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SignInStep } from "../../../packages/mcp/src/auth/client/sign-in-error.js";
import {
  approve,
  type Behaviour,
  type ProtectedServer,
  type SignInServer,
  startProtectedServer,
  startSignInServer,
} from "./protected-server.js";

let issuer: SignInServer;
let server: ProtectedServer;
let steps: SignInStep[];
beforeEach(async () => {
  issuer = await startSignInServer();
  server = await startProtectedServer(issuer);
  steps = [];
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

type Options = Parameters<typeof oauth>[0];

const user: Options = {
  redirectUrl: "http://127.0.0.1:33418/callback",
  authorize: approve,
  onStep: (step) => void steps.push(step),
};

/** Connects; the failure of the sign-in, or undefined. */
async function signIn(options: Options = {}): Promise<SignInError | undefined> {
  const auth = oauth({ ...user, ...options });
  try {
    await using client = await connect(server.url, { auth, reopen: false });
    expect(textOf(await client.tools.call("read"))).toBe("read by ada");
    return undefined;
  } catch (error) {
    if (error instanceof SignInError) return error;
    throw error;
  }
}

/** Serves documents of the MCP server instead of its own, and 404 for those that are undefined. */
function serveDocuments(documents: Readonly<Record<string, unknown>>): void {
  server.intercept = ({ url = "" }, response) => {
    if (!(url in documents)) return false;
    const document = documents[url];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
    return true;
  };
}

/** Serves a 401 with a header for requests without a token. */
function challengeWith(header: string | readonly string[]): void {
  server.intercept = (request, response) => {
    if (request.url !== "/mcp" || request.headers.authorization !== undefined) return false;
    response.writeHead(401, { "www-authenticate": header as string[] }).end();
    return true;
  };
}

const root = "/.well-known/oauth-protected-resource";
const prm = (change: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
  resource: server.url,
  authorization_servers: [issuer.url],
  ...change,
});
const exchanges = (kind: SignInStep["kind"]): readonly string[] =>
  steps.flatMap((step) => (step.kind === kind && step.method !== undefined ? [new URL(step.url ?? "").pathname] : []));

describe("AU-C2: Protected Resource Metadata", () => {
  test("is read where the challenge says, whichever of several challenges does", async () => {
    const elsewhere = `${new URL(server.url).origin}${root}/mcp`;
    challengeWith([
      'Basic realm="old"',
      `DPoP algs="ES256", Bearer error="invalid_token", resource_metadata="${elsewhere}"`,
    ]);
    expect(await signIn()).toBeUndefined();
    expect(exchanges("resource-metadata")).toEqual([`${root}/mcp`]);
  });

  test("is looked for below the path and at the root, without a challenge that says where", async () => {
    challengeWith("Bearer");
    expect(await signIn()).toBeUndefined();
    expect(exchanges("resource-metadata")).toEqual([`${root}/mcp`]);
    steps = [];
    const { intercept } = server;
    server.intercept = (request, response) => {
      if (intercept?.(request, response) === true) return true;
      if (request.url !== `${root}/mcp`) return false;
      response.writeHead(404).end();
      return true;
    };
    expect(await signIn()).toBeUndefined();
    expect(exchanges("resource-metadata")).toEqual([`${root}/mcp`, root]);
  });

  test("a malformed challenge is one that says nothing", async () => {
    challengeWith('Bearer realm="x" ,,= "');
    expect(await signIn()).toBeUndefined();
  });

  test.each([
    ["another origin", () => "https://real.example/mcp"],
    ["another path", () => `${new URL(server.url).origin}/other`],
    ["a longer path", () => `${server.url}/admin`],
    ["the beginning of a name", () => server.url.slice(0, -1)],
    ["another port", () => "http://127.0.0.1:1/mcp"],
    ["a fragment", () => `${server.url}#a`],
    ["nothing", () => undefined],
    ["a number", () => 7],
  ])("S22: with %s as its resource nothing is requested of an authorization server", async (_what, resource) => {
    serveDocuments({ [`${root}/mcp`]: prm({ resource: resource() }) });
    const error = await signIn();
    expect(error?.failure).toMatchObject({
      kind: "resource-mismatch",
      step: "resource-metadata",
      expected: server.url,
    });
    expect(issuer.seen).toEqual([]);
  });

  test("may be of a resource above the server", async () => {
    const { origin } = new URL(server.url);
    serveDocuments({ [`${root}/mcp`]: prm({ resource: `${origin}/` }) });
    await signIn();
    expect(issuer.requests("/authorize")[0]?.parameters.get("resource")).toBe(`${origin}/`);
  });

  test.each([[[]], [undefined], [["no URL"]], [[7]]])(
    "with %j for authorization servers it is refused",
    async (servers) => {
      serveDocuments({ [`${root}/mcp`]: prm({ authorization_servers: servers }) });
      expect((await signIn())?.failure).toMatchObject({ kind: "resource-metadata", step: "resource-metadata" });
    },
  );

  test("AU-C9: without scopes in the challenge all that it lists are requested, and none if it lists none", async () => {
    challengeWith("Bearer");
    serveAlso({ [`${root}/mcp`]: prm({ scopes_supported: ["read", "write"] }) });
    expect(await signIn()).toBeUndefined();
    serveAlso({ [`${root}/mcp`]: prm() });
    expect((await signIn())?.failure.kind ?? "read").toMatch(/read|scope|token-refused/);
    const scopes = issuer.requests("/authorize").map(({ parameters }) => parameters.get("scope"));
    expect(scopes.slice(0, 2)).toEqual(["read write", null]);
  });
});

/** Serves documents besides what is intercepted already. */
function serveAlso(documents: Readonly<Record<string, unknown>>): void {
  const { intercept: before } = server;
  serveDocuments(documents);
  const { intercept: added } = server;
  server.intercept = (request, response) => added?.(request, response) === true || before?.(request, response) === true;
}

describe("AU-C4: metadata of the authorization server", () => {
  test.each([
    ["", "/.well-known/oauth-authorization-server"],
    ["", "/.well-known/openid-configuration"],
    ["/tenant", "/.well-known/oauth-authorization-server/tenant"],
    ["/tenant", "/.well-known/openid-configuration/tenant"],
    ["/tenant", "/tenant/.well-known/openid-configuration"],
  ])("of an issuer with the path %j is found at %s", async (path, metadataPath) => {
    await using other = await startSignInServer(path);
    other.behaviour.metadataPath = metadataPath;
    server.issuer = other;
    expect(await signIn()).toBeUndefined();
    expect(exchanges("server-metadata").at(-1)).toBe(metadataPath);
  });

  test.each<[string, () => Behaviour["metadata"]]>([
    ["another issuer", () => ({ issuer: "https://login.example" })],
    ["a slash at the end", () => ({ issuer: `${issuer.url}/` })],
    ["capitals", () => ({ issuer: issuer.url.replace("http", "HTTP") })],
  ])("S24: with %s it is not used", async (_what, metadata) => {
    const changed = metadata();
    if (changed !== undefined) issuer.behaviour.metadata = changed;
    const error = await signIn();
    expect(error?.failure).toMatchObject({ kind: "issuer-mismatch", step: "server-metadata" });
    expect(error?.message).toContain(`its issuer is ${changed?.issuer}`);
    expect([...issuer.requests("/register"), ...issuer.requests("/authorize")]).toEqual([]);
  });

  test.each<[string, Behaviour["metadata"], string]>([
    ["AU-C6, S28: no PKCE", { code_challenge_methods_supported: undefined }, "pkce"],
    ["AU-C6, S28: PKCE without S256", { code_challenge_methods_supported: ["plain"] }, "pkce"],
    ["no way to a client id", { registration_endpoint: undefined }, "no-client-id"],
    [
      "S21: a registration endpoint without HTTPS",
      { registration_endpoint: "http://login.example/register" },
      "insecure-url",
    ],
    [
      "SP-3: an authorization endpoint that is a script",
      { authorization_endpoint: "javascript:alert(1)" },
      "insecure-url",
    ],
    [
      "SP-3: an authorization endpoint that is a file",
      { authorization_endpoint: "file:///etc/passwd" },
      "insecure-url",
    ],
    [
      "SP-3: an authorization endpoint without HTTPS",
      { authorization_endpoint: "http://login.example/" },
      "insecure-url",
    ],
    ["no authorization endpoint", { authorization_endpoint: undefined }, "server-metadata"],
    ["no token endpoint", { token_endpoint: undefined }, "token"],
    ["S21: a token endpoint without HTTPS", { token_endpoint: "http://login.example/token" }, "insecure-url"],
  ])("%s", async (_what, metadata, kind) => {
    if (metadata !== undefined) issuer.behaviour.metadata = metadata;
    const pages: string[] = [];
    const authorize = (url: URL): Promise<string> => {
      pages.push(url.protocol);
      return approve(url);
    };
    expect((await signIn({ authorize }))?.failure.kind).toBe(kind);
    expect(pages.filter((protocol) => protocol !== "http:" && protocol !== "https:")).toEqual([]);
  });
});

describe("AU-C7: the client id", () => {
  const clientMetadataUrl = "https://app.example/client.json";

  test("is the URL of the metadata document, where the server supports that", async () => {
    issuer.behaviour.metadata = { client_id_metadata_document_supported: true };
    expect(await signIn({ clientMetadataUrl })).toBeUndefined();
    expect(issuer.requests("/register")).toEqual([]);
    expect(issuer.requests("/token")[0]?.parameters.get("client_id")).toBe(clientMetadataUrl);
  });

  test("is registered, where the server does not", async () => {
    expect(await signIn({ clientMetadataUrl })).toBeUndefined();
    expect(issuer.requests("/register")).toHaveLength(1);
  });

  test("is the one that is given, before all others, with its secret as the server requires it", async () => {
    issuer.behaviour.metadata = { client_id_metadata_document_supported: true };
    const given = { clientId: "an-app", clientSecret: "a secret:1", issuer: issuer.url };
    expect(await signIn({ clientMetadataUrl, ...given })).toBeUndefined();
    expect(issuer.requests("/token")[0]?.authorization).toBe(`Basic ${btoa("an-app:a+secret%3A1")}`);
    issuer.behaviour.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    expect(await signIn(given)).toBeUndefined();
    const [, second] = issuer.requests("/token");
    expect([second?.authorization, second?.parameters.get("client_secret")]).toEqual([undefined, "a secret:1"]);
  });

  test("of a registration may come without what the RFC requires, as many servers do it", async () => {
    issuer.behaviour.registration = (body) => ({
      ...body,
      client_secret: "secret",
      token_endpoint_auth_method: undefined,
    });
    expect(await signIn()).toBeUndefined();
    expect(issuer.requests("/token")[0]?.authorization).toMatch(/^Basic /);
  });

  test.each(["invalid_client_metadata", "invalid_scope", "insufficient_scope"])(
    "is registered without scopes where the server refuses them with %s",
    async (error) => {
      issuer.behaviour.registration = (body) => ("scope" in body ? { error } : body);
      expect(await signIn()).toBeUndefined();
      expect(issuer.requests("/register").map(({ body }) => "scope" in body)).toEqual([true, false]);
    },
  );

  test.each([
    ["https://app.example/callback", "web"],
    ["http://localhost:1234/callback", "native"],
    ["http://[::1]:1234/callback", "native"],
    ["com.example.app:/callback", "native"],
  ])("for %s is registered as %s", async (redirectUrl, type) => {
    await signIn({ redirectUrl });
    expect(issuer.requests("/register")[0]?.body).toMatchObject({
      application_type: type,
      redirect_uris: [redirectUrl],
    });
  });
});

describe("AU-C10, AU-C11: the authorization response", () => {
  const here = (): string => issuer.url;
  const elsewhere = (): string => "https://login.example";
  test.each<[advertised: boolean | undefined, what: string, iss: (() => string) | undefined, isAccepted: boolean]>([
    [true, "the issuer", here, true],
    [true, "another issuer", elsewhere, false],
    [true, "no issuer", undefined, false],
    [true, "the issuer with a slash", () => `${here()}/`, false],
    [undefined, "the issuer", here, true],
    [undefined, "another issuer", elsewhere, false],
    [undefined, "no issuer", undefined, true],
    [undefined, "an empty issuer", () => "", false],
    [false, "no issuer", undefined, true],
    [false, "another issuer", elsewhere, false],
  ])("S24: with `iss` advertised %s, %s", async (advertised, _what, iss, isAccepted) => {
    issuer.behaviour.metadata = { authorization_response_iss_parameter_supported: advertised };
    issuer.behaviour.redirect = (parameters) => iss !== undefined && parameters.set("iss", iss());
    const error = await signIn();
    if (isAccepted) return expect(error).toBeUndefined();
    expect(error?.failure).toMatchObject({ kind: "issuer-mismatch", step: "redirect" });
    expect(issuer.requests("/token")).toEqual([]);
  });

  test("of another issuer is not shown, even if it is an error", async () => {
    issuer.behaviour.redirect = (parameters) => {
      parameters.set("error", "access_denied");
      parameters.set("error_description", "call this number");
      parameters.set("iss", "https://login.example");
    };
    const error = await signIn();
    expect(error?.failure.kind).toBe("issuer-mismatch");
    expect(error?.message).not.toContain("call this number");
  });

  test.each<[string, (parameters: URLSearchParams) => void]>([
    ["another state", (parameters) => parameters.set("state", "other")],
    ["no state", (parameters) => parameters.delete("state")],
    ["two states", (parameters) => parameters.append("state", "other")],
  ])("with %s is discarded", async (_what, redirect) => {
    issuer.behaviour.redirect = redirect;
    expect((await signIn())?.failure).toMatchObject({ kind: "invalid-response", step: "redirect" });
    expect(issuer.requests("/token")).toEqual([]);
  });

  test("that is an error says what the authorization server says", async () => {
    issuer.behaviour.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
      parameters.set("error_description", "the user said no");
    };
    const error = await signIn();
    expect(error?.failure).toMatchObject({ kind: "denied", received: '"access_denied" ("the user said no")' });
  });

  test("that refuses the resource does not blame the user", async () => {
    issuer.behaviour.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "invalid_target");
    };
    const failure = (await signIn())?.failure;
    expect(failure).toMatchObject({ kind: "denied", received: '"invalid_target"' });
    expect(failure?.remedy).toMatch(/^the authorization server issues no tokens for this server: its operator has to/);
  });

  test("without a code is an error of the token step, without a request", async () => {
    issuer.behaviour.redirect = (parameters) => parameters.delete("code");
    expect((await signIn())?.failure.kind).toMatch(/token|invalid-response/);
    expect(issuer.requests("/token")).toEqual([]);
  });
});

test("a refresh token is requested where the authorization server issues it for a scope", async () => {
  issuer.behaviour.metadata = { scopes_supported: ["offline_access"] };
  expect(await signIn()).toBeUndefined();
  const sent = issuer.requests("/authorize")[0]?.parameters;
  expect([sent?.get("scope"), sent?.get("prompt")]).toEqual(["read offline_access", "consent"]);
});

test("without `signIn` the error says that a user is needed", async () => {
  const auth = oauth({ clientName: "machine" });
  await expect(connect(server.url, { auth, reopen: false })).rejects.toThrow(
    /expected a user who signs in at .*give `signIn: browserSignIn\(\)`/,
  );
});

describe("S45: no secret is in an error or a step", () => {
  test.each<[string, Behaviour]>([
    ["a sign-in", {}],
    ["a token response that is wrong", { token: () => ({ status: 200, body: { access_token: "TOKEN-CANARY" } }) }],
    [
      "an expiry that is wrong",
      { token: () => ({ status: 200, body: { access_token: "TOKEN-CANARY", token_type: "Bearer", expires_in: "x" } }) },
    ],
    [
      "a token type that is unknown",
      { token: () => ({ status: 200, body: { access_token: "TOKEN-CANARY", token_type: "mac" } }) },
    ],
    ["a refused code", { token: () => ({ status: 400, body: { error: "invalid_grant" } }) }],
    ["another issuer", { redirect: (parameters) => parameters.set("iss", "https://login.example") }],
    ["another state", { redirect: (parameters) => parameters.set("state", "STATE-CANARY") }],
    ["a registration that is wrong", { registration: () => ({ client_secret: "SECRET-CANARY" }) }],
  ])("%s", async (_what, behaviour) => {
    Object.assign(issuer.behaviour, behaviour);
    const error = await signIn({ authorize: async (url) => approve(url) });
    const shown = inspect([error, steps], { depth: 20, showHidden: true });
    expect(shown).not.toContain("CANARY");
    const states = issuer.requests("/authorize").map(({ parameters }) => parameters.get("state") ?? "");
    expect(states.filter((state) => shown.includes(state))).toEqual([]);
  });

  test("a redirect that is no URL", async () => {
    const error = await signIn({ authorize: async () => "/callback?code=code-CANARY" });
    expect(error?.failure.kind).toBe("invalid-response");
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("CANARY");
  });
});
