import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { oauth, SignInError } from "@parlance/mcp/auth";
import { fileTokenStore } from "@parlance/mcp/auth-node";
import { type Client, connect, textOf } from "@parlance/mcp/client";
import { createFakeClock } from "@parlance/mcp/testing";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { SignInStep } from "../../../packages/mcp/src/auth/client/sign-in-error.js";
import type { StoredCredentials, TokenStore } from "../../../packages/mcp/src/auth/client/token-store.js";
import {
  approve,
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

const redirectUrl = "http://127.0.0.1:33418/callback";
const user: Options = { redirectUrl, authorize: approve, onStep: (step) => void steps.push(step) };
const signIn = (options: Options = {}): ReturnType<typeof oauth> => oauth({ ...user, ...options });
const kinds = (): string[] => [...new Set(steps.map(({ kind }) => kind))];

const opened = (options: Options = {}, revision?: string): Promise<Client> =>
  connect(server.url, { auth: signIn(options), reopen: false, ...(revision === undefined ? {} : { revision }) });

async function failure(options: Options = {}): Promise<SignInError> {
  const client = await opened(options).then(
    async (each) => each,
    (error: unknown) => error,
  );
  if (client instanceof SignInError) return client;
  throw new Error("the sign-in should have failed", { cause: client });
}

async function called(client: Client, tool: string): Promise<string> {
  return textOf(await client.tools.call(tool));
}

describe.each(["2026-07-28", "2025-11-25"])("a client of %s", (revision) => {
  test("signs in when it is asked to, and sends the token with every request", async () => {
    await using client = await opened({ clientName: "Notes" }, revision);
    expect(await called(client, "read")).toBe("read by ada");
    expect(kinds()).toEqual([
      "challenge",
      "resource-metadata",
      "server-metadata",
      "registration",
      "authorization",
      "redirect",
      "token",
    ]);
    const [registration] = issuer.requests("/register");
    expect(registration?.body).toMatchObject({
      client_name: "Notes",
      redirect_uris: [redirectUrl],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    const [authorization] = issuer.requests("/authorize");
    const sent = Object.fromEntries(authorization?.parameters ?? []);
    expect(sent).toMatchObject({
      resource: server.url,
      scope: "read",
      code_challenge_method: "S256",
      response_type: "code",
    });
    expect(Object.fromEntries(issuer.requests("/token")[0]?.parameters ?? [])).toMatchObject({
      resource: server.url,
      redirect_uri: redirectUrl,
      grant_type: "authorization_code",
    });
    const token = [...issuer.issued.keys()];
    expect(token).toHaveLength(1);
    const afterSignIn = server.presented.slice(server.presented.lastIndexOf(undefined) + 1);
    expect(new Set(afterSignIn)).toEqual(new Set([`Bearer ${token[0]}`]));
  });

  test("AU-C14: asks for the union of scopes when a request needs more, once for all calls", async () => {
    await using client = await opened({}, revision);
    expect(await Promise.all([1, 2, 3].map(() => called(client, "write")))).toEqual(["written", "written", "written"]);
    const scopes = issuer.requests("/authorize").map(({ parameters }) => parameters.get("scope"));
    expect(scopes).toEqual(["read", "read write"]);
    expect(await called(client, "read")).toBe("read by ada");
  });

  test("AU-C14: gives up after three authorizations, when scopes are not granted", async () => {
    await using client = await opened({}, revision);
    issuer.behaviour.grants = ["read"];
    const error = await client.tools.call("write").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SignInError);
    expect((error as SignInError).name).toBe("SignInError");
    expect((error as SignInError).failure).toMatchObject({ kind: "scope", step: "step-up" });
    expect((error as SignInError).message).toContain("ask the operator of the server for access with read write");
    expect(issuer.requests("/authorize")).toHaveLength(1 + 3);
    expect(await called(client, "read")).toBe("read by ada");
  });

  test("waits for a user who takes longer than a call may", async () => {
    const clock = createFakeClock();
    let isSlow = true;
    const authorize = async (url: URL): Promise<string> => {
      for (let minute = 0; isSlow && minute < 5; minute += 1) {
        clock.advance(60_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return approve(url);
    };
    await using client = await connect(server.url, { auth: signIn({ authorize }), reopen: false, revision, clock });
    isSlow = false;
    expect(await called(client, "read")).toBe("read by ada");
    // Afterwards, calls have their time again.
    const arrived = new Promise<void>((resolve) => {
      server.intercept = () => {
        resolve();
        return true; // Without a response.
      };
    });
    const hanging = client.tools.call("read", undefined, { timeout: 1_000 });
    await arrived;
    clock.advance(1_000);
    await expect(hanging).rejects.toMatchObject({ reason: "timeout" });
    server.intercept = undefined;
  });
});

describe("refresh", () => {
  test("five parallel calls after the expiry make one token request", async () => {
    await using client = await opened();
    issuer.expireAll();
    const before = issuer.requests("/token").length;
    expect(await Promise.all([1, 2, 3, 4, 5].map(() => called(client, "read")))).toEqual(Array(5).fill("read by ada"));
    expect(
      issuer
        .requests("/token")
        .slice(before)
        .map(({ parameters }) => parameters.get("grant_type")),
    ).toEqual(["refresh_token"]);
    expect(issuer.requests("/authorize")).toHaveLength(1);
    expect(issuer.requests("/token").at(-1)?.parameters.get("resource")).toBe(server.url);
  });

  test("five parallel calls in each of four processes that share a file make one token request", async () => {
    const folder = await mkdtemp(join(tmpdir(), "parlance-oauth-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "credentials.json");
    await using first = await opened({ store: fileTokenStore(file) });
    expect(await called(first, "read")).toBe("read by ada");
    const processes = await Promise.all([1, 2, 3, 4].map(() => startClient(file)));
    issuer.expireAll();
    const results = await Promise.all(processes.map((each) => each.call()));
    expect(results).toEqual(Array(4).fill(Array(5).fill("read by ada")));
    const grants = issuer.requests("/token").map(({ parameters }) => parameters.get("grant_type"));
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
  });

  test("clients that share one `auth` make one token request", async () => {
    const auth = signIn();
    await using first = await connect(server.url, { auth });
    await using second = await connect(server.url, { auth });
    issuer.expireAll();
    await Promise.all([first, second, first, second, first].map((client) => called(client, "read")));
    expect(issuer.requests("/token")).toHaveLength(2);
    expect(issuer.requests("/authorize")).toHaveLength(1);
  });

  test.each([-120, -1, 0, 5, 120])(
    "a token that expires %i s from now, by the authorization server, serves",
    async (seconds) => {
      issuer.behaviour.expiresIn = Math.max(seconds, 0);
      await using client = await opened();
      for (let call = 0; call < 3; call += 1) expect(await called(client, "read")).toBe("read by ada");
      expect(issuer.requests("/authorize")).toHaveLength(1);
    },
  );

  test("an expiry that is known is not waited for: the token is refreshed before", async () => {
    issuer.behaviour.expiresIn = 5;
    await using client = await opened();
    const challenges = steps.filter(({ kind }) => kind === "challenge").length;
    issuer.behaviour.expiresIn = 3600;
    await called(client, "read");
    expect(steps.filter(({ kind }) => kind === "challenge")).toHaveLength(challenges);
    expect(issuer.requests("/token").at(-1)?.parameters.get("grant_type")).toBe("refresh_token");
  });

  test("a refresh token that was used twice ends the family, and the error says so", async () => {
    const store = sharedStore();
    await using client = await opened({ store });
    issuer.expireAll();
    const refreshToken = store.only().tokens?.refreshToken ?? "";
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
    await fetch(`${issuer.url}/token`, { method: "POST", body }); // A thief was faster.
    issuer.expireAll();
    const { authorize: _, ...noUser } = user;
    await using other = await connect(server.url, { auth: oauth({ ...noUser, store }) }).catch((error: unknown) => {
      expect((error as SignInError).failure).toMatchObject({ kind: "refresh", step: "refresh" });
      expect((error as SignInError).message).toMatch(
        /invalid_grant.*was used twice, which ends all tokens of that sign-in/,
      );
      return client;
    });
    expect(other).toBe(client);
    expect(store.only().tokens).toBeUndefined();
    // With a user there is a new sign-in, with the same registration.
    expect(await called(client, "read")).toBe("read by ada");
    expect(issuer.requests("/register")).toHaveLength(1);
    expect(issuer.requests("/authorize")).toHaveLength(2);
  });

  test("a new sign-in does not go on with the refresh token of the one before, which may be of another user", async () => {
    const store = sharedStore();
    await using client = await opened({ store });
    issuer.expireAll();
    issuer.behaviour.token = (parameters) => {
      if (parameters.get("grant_type") === "refresh_token") return { status: 400, body: { error: "invalid_grant" } };
      const issued = { scopes: ["read"], resource: server.url, refreshToken: "", isRevoked: false };
      issuer.issued.set("second-sign-in", issued);
      return { status: 200, body: { access_token: "second-sign-in", token_type: "Bearer" } };
    };
    expect(await called(client, "read")).toBe("read by ada");
    expect(store.only().tokens).toEqual({ accessToken: "second-sign-in", tokenType: "Bearer", scopes: ["read"] });
  });

  test("a token endpoint that fails does not cost the tokens", async () => {
    const store = sharedStore();
    await using client = await opened({ store });
    issuer.expireAll();
    issuer.behaviour.token = () => ({ status: 503, body: {} });
    await expect(client.tools.call("read")).rejects.toThrow(/try again later: the tokens are kept/);
    delete issuer.behaviour.token;
    expect(await called(client, "read")).toBe("read by ada");
    expect(issuer.requests("/authorize")).toHaveLength(1);
  });

  test("a second process takes the tokens from the store", async () => {
    const store = sharedStore();
    await using first = await opened({ store });
    await using second = await opened({ store });
    expect(await called(second, "read")).toBe(await called(first, "read"));
    expect(issuer.requests("/token")).toHaveLength(1);
  });

  test("a token that the server refuses although it was just issued is an error, not a loop", async () => {
    server.intercept = (request, response) => {
      if (request.url !== "/mcp") return false;
      response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
      return true;
    };
    const { failure: failed } = await failure();
    expect(failed).toMatchObject({ kind: "token-refused", received: "401 (invalid_token)" });
    expect(issuer.requests("/authorize").length).toBeLessThanOrEqual(1);
  });
});

describe("a registration that the authorization server has forgotten", () => {
  const clients = (): unknown[] => issuer.requests("/authorize").map(({ parameters }) => parameters.get("client_id"));
  const forgotten = { status: 401, body: { error: "invalid_client" } };

  test("is replaced when a refresh says so", async () => {
    await using client = await opened();
    issuer.expireAll();
    issuer.behaviour.token = (parameters) => (parameters.get("grant_type") === "refresh_token" ? forgotten : undefined);
    expect(await called(client, "read")).toBe("read by ada");
    expect(issuer.requests("/register")).toHaveLength(2);
    expect(new Set(clients()).size).toBe(2);
  });

  test("is replaced when the token request of a sign-in says so", async () => {
    const store = sharedStore();
    await using _first = await opened({ store });
    store.change(({ tokens: _tokens, ...credentials }) => credentials);
    const [known] = clients();
    issuer.behaviour.token = (parameters) => (parameters.get("client_id") === known ? forgotten : undefined);
    await using client = await opened({ store });
    expect(await called(client, "read")).toBe("read by ada");
    expect(issuer.requests("/register")).toHaveLength(2);
    expect(store.only().client?.id).toBe(clients().at(-1));
  });

  test("is replaced at the next sign-in, when its page leads nowhere", async () => {
    const store = sharedStore();
    await using _first = await opened({ store });
    store.change(({ tokens: _tokens, ...credentials }) => credentials);
    const authorize = (): Promise<never> => Promise.reject(new Error("the sign-in was not finished within 300 s"));
    expect((await failure({ store, authorize })).failure).toMatchObject({ kind: "abandoned" });
    await using client = await opened({ store });
    expect(await called(client, "read")).toBe("read by ada");
    expect(issuer.requests("/register")).toHaveLength(2);
  });

  test("stays when a user does not finish a step-up: the tokens go on with it", async () => {
    const store = sharedStore();
    await using _first = await opened({ store });
    const authorize = (): Promise<never> => Promise.reject(new Error("the user closed the page"));
    await using second = await opened({ store, authorize });
    await expect(second.tools.call("write")).rejects.toThrow("the user closed the page");
    issuer.expireAll();
    expect(await called(second, "read")).toBe("read by ada");
    expect(issuer.requests("/register")).toHaveLength(1);
  });
});

test("S25: the token goes to the origin of the server alone", async () => {
  const sent: [url: string, authorization: string | null][] = [];
  const send = signIn()((url, init) => {
    sent.push([url.href, new Headers(init.headers).get("authorization")]);
    return fetch(url, init);
  }, new URL(server.url));
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
  await send(new URL(server.url), request);
  const elsewhere = new URL("/mcp", issuer.url);
  await send(elsewhere, request);
  expect(sent.map(([, authorization]) => authorization !== null)).toEqual([false, true, false]);
  expect(sent.at(-1)?.[0]).toBe(elsewhere.href);
});

describe("S23: credentials of another issuer", () => {
  test("a server that moves to another authorization server gets a new registration and a new sign-in", async () => {
    await using other = await startSignInServer();
    const store = sharedStore();
    await using client = await opened({ store });
    server.issuer = other;
    expect(await called(client, "read")).toBe("read by ada");
    expect(other.requests("/register")).toHaveLength(1);
    const secrets = [...issuer.issued].flatMap(([token, { refreshToken }]) => [token, refreshToken, "client-"]);
    const toOther = inspect(other.requests("/token"), { depth: 9 });
    expect(secrets.slice(0, 2).filter((secret) => toOther.includes(secret))).toEqual([]);
  });

  test.each([
    ["another stamp", { issuer: "https://login.example" }],
    ["no stamp", { issuer: undefined }],
    ["another resource", { resource: "https://mcp.example/mcp" }],
  ])("with %s in the store they are refused", async (_what, change) => {
    const store = sharedStore();
    await using first = await opened({ store });
    store.change((credentials) => ({ ...credentials, ...change }) as StoredCredentials);
    const before = issuer.seen.length;
    await using second = await opened({ store });
    expect(steps.some(({ kind, text }) => kind === "stored" && text.includes("are refused"))).toBe(true);
    const sent = inspect(issuer.seen.slice(before), { depth: 9 });
    expect(sent).not.toContain("refresh-1-CANARY");
    expect(issuer.requests("/register")).toHaveLength(2);
    expect([await called(first, "read"), await called(second, "read")]).toEqual(["read by ada", "read by ada"]);
  });

  test("the secret of a client is not sent to another authorization server", async () => {
    const error = await failure({ clientId: "app", clientSecret: "secret-CANARY", issuer: "https://login.example" });
    expect(error.failure).toMatchObject({ kind: "issuer-mismatch", step: "resource-metadata" });
    expect(issuer.seen).toEqual([]);
  });

  test("a secret without an issuer is refused at once", () => {
    expect(() => signIn({ clientId: "app", clientSecret: "secret" })).toThrow("clientSecret needs clientId and issuer");
  });
});

/** A process that is connected with the tokens of a file. */
async function startClient(file: string): Promise<{ call(): Promise<unknown> }> {
  const program = join(import.meta.dirname, "../../fixtures/signed-in-client.js");
  const child = spawn(process.execPath, [program, file, server.url], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  return {
    async call() {
      const line = once(lines, "line");
      child.stdin.write("\n");
      const [text] = await line;
      await once(child, "exit");
      return JSON.parse(text);
    },
  };
}

function sharedStore(): TokenStore & {
  only(): StoredCredentials;
  change(by: (credentials: StoredCredentials) => StoredCredentials): void;
} {
  const entries = new Map<string, StoredCredentials>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: (key) => entries.get(key),
    set: (key, credentials) => void entries.set(key, credentials),
    delete: (key) => void entries.delete(key),
    exclusive(_key, run) {
      const after = last.then(run, run);
      last = after.catch(() => undefined);
      return after;
    },
    only: () => [...entries.values()][0] as StoredCredentials,
    change(by) {
      for (const [key, credentials] of entries) entries.set(key, by(credentials));
    },
  };
}
