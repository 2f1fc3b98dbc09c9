import { clientCredentials, enterpriseManaged, SignInError, workloadIdentity } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { createLocalJWKSet, exportJWK, exportPKCS8, generateKeyPair, type JWK, jwtVerify } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ProtectedServer,
  type SignInServer,
  startProtectedServer,
  startSignInServer,
} from "./protected-server.js";

let issuer: SignInServer;
let server: ProtectedServer;
beforeEach(async () => {
  issuer = await startSignInServer();
  server = await startProtectedServer(issuer);
  issuer.behaviour.token = (parameters) => issued(parameters.get("scope") ?? "");
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** A token without a refresh token, as these grants get it. */
function issued(scope: string): { readonly status: number; readonly body: unknown } {
  const token = `machine-${issuer.issued.size}-CANARY`;
  issuer.issued.set(token, { scopes: scope.split(" "), resource: server.url, refreshToken: "", isRevoked: false });
  return { status: 200, body: { access_token: token, token_type: "Bearer", expires_in: 60, scope } };
}

type Auth = ReturnType<typeof clientCredentials>;

async function read(auth: Auth): Promise<string> {
  await using client = await connect(server.url, { auth, reopen: false });
  return textOf(await client.tools.call("read"));
}

async function failure(auth: Auth): Promise<SignInError> {
  const error = await read(auth).catch((reason: unknown) => reason);
  if (error instanceof SignInError) return error;
  throw new Error("it should have failed", { cause: error });
}

const tokenRequest = (): Readonly<Record<string, string>> =>
  Object.fromEntries(issuer.requests("/token").at(-1)?.parameters ?? []);

test("a client with a secret gets a token for the server, and another one when it has expired", async () => {
  const auth = clientCredentials({ clientId: "report", clientSecret: "s3cret:CANARY", issuer: issuer.url });
  expect(await read(auth)).toBe("read by ada");
  expect(tokenRequest()).toEqual({ grant_type: "client_credentials", resource: server.url, scope: "read" });
  const basic = issuer.requests("/token")[0]?.authorization?.replace("Basic ", "") ?? "";
  expect(atob(basic)).toBe("report:s3cret%3ACANARY");
  expect(await read(auth)).toBe("read by ada");
  expect(issuer.requests("/token")).toHaveLength(1);
  issuer.expireAll();
  expect(await read(auth)).toBe("read by ada");
  expect(issuer.requests("/token")).toHaveLength(2);
  expect(issuer.requests("/authorize")).toEqual([]);
});

test("a token that is about to expire is replaced before the server refuses it", async () => {
  issuer.behaviour.token = (parameters) => {
    const { body } = issued(parameters.get("scope") ?? "");
    return { status: 200, body: { ...(body as object), expires_in: 5 } };
  };
  const auth = clientCredentials({ clientId: "report", clientSecret: "s3cret:CANARY", issuer: issuer.url });
  await using client = await connect(server.url, { auth, reopen: false });
  const requests = issuer.requests("/token").length;
  const presented = server.presented.length;
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
  expect(issuer.requests("/token").length).toBe(requests + 1);
  expect(server.presented.slice(presented)).toEqual([`Bearer ${[...issuer.issued.keys()].at(-1)}`]);
});

test("five calls at once make one token request", async () => {
  const auth = clientCredentials({ clientId: "report", clientSecret: "s3cret", issuer: issuer.url });
  await using client = await connect(server.url, { auth });
  issuer.expireAll();
  await Promise.all(Array.from({ length: 5 }, () => client.tools.call("read")));
  expect(issuer.requests("/token")).toHaveLength(2);
});

const forms = ["PEM", "JWK", "CryptoKey"] as const;

test.each(forms)("a client with a key as %s signs an assertion for this authorization server alone", async (form) => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk: JWK = { ...(await exportJWK(privateKey)), kid: "key-1" };
  const key = { PEM: await exportPKCS8(privateKey), JWK: jwk as JsonWebKey, CryptoKey: privateKey }[form];
  const keyId = form === "JWK" ? {} : { keyId: "key-1" };
  expect(await read(clientCredentials({ clientId: "report", privateKey: key, ...keyId }))).toBe("read by ada");
  const { client_assertion: assertion = "", client_assertion_type: type, ...rest } = tokenRequest();
  expect(type).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  expect(rest).toEqual({ grant_type: "client_credentials", client_id: "report", resource: server.url, scope: "read" });
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "key-1", alg: "ES256" }] });
  const { payload } = await jwtVerify(assertion, keys);
  expect(payload).toMatchObject({ iss: "report", sub: "report", aud: issuer.url });
  expect(Object.keys(payload).sort()).toEqual(["aud", "exp", "iat", "iss", "jti", "nbf", "sub"]);
});

test("a workload shows the token of its platform, which is asked for with the authorization server as its audience", async () => {
  const audiences: string[] = [];
  const assertion = (audience: string): string => {
    audiences.push(audience);
    return "platform.token.CANARY\n";
  };
  expect(await read(workloadIdentity({ assertion, issuer: issuer.url, scopes: ["read"] }))).toBe("read by ada");
  expect(audiences).toEqual([issuer.url]);
  expect(tokenRequest()).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: "platform.token.CANARY",
    resource: server.url,
    scope: "read",
  });
});

test.each(["invalid_grant", "invalid_scope", "unauthorized_client"])(
  "an assertion that is refused with %s fails the call, without another try",
  async (error) => {
    issuer.behaviour.token = () => ({ status: 400, body: { error, error_description: "not here" } });
    const failed = await failure(workloadIdentity({ assertion: () => "CANARY", issuer: issuer.url, clientId: "job" }));
    expect(failed.failure).toMatchObject({ kind: "token", step: "token" });
    expect(failed.message).toContain(`status 400 with ${error} ("not here") from ${issuer.url}/token`);
    expect(failed.message).not.toContain("CANARY");
    expect(issuer.requests("/token")).toHaveLength(1);
  },
);

test("the error of a function of the application is named", async () => {
  const assertion = (): never => {
    throw new Error("no such file");
  };
  const failed = await failure(workloadIdentity({ assertion, issuer: issuer.url }));
  expect(failed.failure.received).toBe("an error of `assertion`: Error: no such file");
});

test.each([undefined, "", " \n", 7])("an assertion that is %j is not sent", async (assertion) => {
  const failed = await failure(workloadIdentity({ assertion: () => assertion as string, issuer: issuer.url }));
  expect(failed.failure.received).toMatch(/^(?:undefined|number|no text) from `assertion`$/);
  expect(issuer.requests("/token")).toEqual([]);
});

test("a key that cannot be used is the application's own mistake, and no secret is in the error", async () => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  for (const privateKeyText of [await exportPKCS8(privateKey), "CANARY"]) {
    const failed = await failure(clientCredentials({ clientId: "report", privateKey: privateKeyText }));
    expect(failed.failure.received).toMatch(/^a `privateKey` that cannot be used: /);
    expect(failed.failure.remedy).toContain("nothing was sent");
    expect(failed.message).not.toContain("CANARY");
  }
  expect(issuer.requests("/token")).toEqual([]);
});

test("an identity provider exchanges the ID token for an assertion, which gets the token", async () => {
  await using provider = await startSignInServer();
  const idJag = "urn:ietf:params:oauth:token-type:id-jag";
  provider.behaviour.token = () => ({
    status: 200,
    body: { access_token: "id-jag-CANARY", issued_token_type: idJag, token_type: "N_A", expires_in: 300 },
  });
  const auth = enterpriseManaged({
    identityProvider: { issuer: provider.url, clientId: "agent" },
    idToken: () => "id-token-CANARY",
    clientId: "notes-agent",
    clientSecret: "s3cret",
    issuer: issuer.url,
  });
  expect(await read(auth)).toBe("read by ada");
  expect(Object.fromEntries(provider.requests("/token")[0]?.parameters ?? [])).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    client_id: "agent",
    subject_token: "id-token-CANARY",
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    requested_token_type: idJag,
    audience: issuer.url,
    resource: server.url,
    scope: "read",
  });
  expect(tokenRequest()).toMatchObject({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: "id-jag-CANARY",
  });
});

test("an identity provider that issues something else, or refuses, gets nothing sent on", async () => {
  await using provider = await startSignInServer();
  const identityProvider = { issuer: provider.url, clientId: "agent" };
  const auth = (): Auth =>
    enterpriseManaged({ identityProvider, idToken: () => "CANARY", clientId: "notes", issuer: issuer.url });
  provider.behaviour.token = () => ({ status: 200, body: { access_token: "CANARY", token_type: "Bearer" } });
  expect((await failure(auth())).message).toContain("instead of an ID-JAG");
  provider.behaviour.token = () => ({ status: 400, body: { error: "access_denied" } });
  const denied = await failure(auth());
  expect(denied.message).toContain(`status 400 with access_denied from ${provider.url}/token`);
  expect(denied.failure.remedy).toBe(
    `sign in again at ${provider.url}, or ask its administrator for access to ${server.url}`,
  );
  expect(issuer.requests("/token")).toEqual([]);
});

test("credentials go to no other authorization server than their own, whatever the MCP server names", async () => {
  await using other = await startSignInServer();
  for (const auth of [
    clientCredentials({ clientId: "report", clientSecret: "CANARY", issuer: other.url }),
    workloadIdentity({ assertion: () => "CANARY", issuer: other.url }),
    enterpriseManaged({
      identityProvider: { issuer: other.url, clientId: "agent" },
      idToken: () => "CANARY",
      clientId: "notes",
      issuer: other.url,
    }),
  ])
    expect((await failure(auth)).failure.kind).toBe("issuer-mismatch");
  expect([...issuer.requests("/token"), ...other.requests("/token")]).toEqual([]);
});

test.each<readonly [string, () => unknown, string]>([
  ["neither secret nor key", () => clientCredentials({ clientId: "a" }), "give either clientSecret or privateKey"],
  [
    "both",
    () => clientCredentials({ clientId: "a", clientSecret: "b", privateKey: "c", issuer: "https://auth.example" }),
    "give either clientSecret or privateKey",
  ],
  [
    "a secret without issuer",
    () => clientCredentials({ clientId: "a", clientSecret: "b" }),
    "clientSecret needs issuer",
  ],
  [
    "an option of another library",
    () => clientCredentials({ clientId: "a", client_secret: "b" } as never),
    "clientSecret",
  ],
  [
    "an assertion that is no function",
    () => workloadIdentity({ assertion: "a.b.c" as never, issuer: "https://auth.example" }),
    "workloadIdentity: assertion",
  ],
  ["no issuer", () => workloadIdentity({ assertion: () => "a.b.c" } as never), "assertion needs issuer"],
])("%s is an error when it is given", (_, make, text) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(text);
});
