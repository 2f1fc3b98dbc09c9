import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AuthorizationStore, oauth, oauthProxy } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { KeptUpstreamTokens } from "../../packages/mcp/src/auth/authorization-server/kept-upstream-tokens.js";
import { Secrets } from "../../packages/mcp/src/auth/authorization-server/keys.js";
import { type SignInServer, startSignInServer } from "./client/protected-server.js";
import { openStore, redirectUrl } from "./served-oauth-proxy.js";
import { UserAgent } from "./user-agent.js";

/** The response of a token endpoint. */
type TokenEndpointResponse = Parameters<KeptUpstreamTokens["keep"]>[1];

const secret = "a secret of at least 32 characters";

/** A store that takes a turn of the event loop for each access, as one in another process. */
function remoteStore(): AuthorizationStore {
  const store = openStore([]);
  const later = <Result>(run: () => Result | PromiseLike<Result>): Promise<Result> =>
    new Promise((resolve) => setImmediate(() => resolve(run())));
  return {
    get: (key) => later(() => store.get(key)),
    set: (key, value, ttl) => later(() => store.set(key, value, ttl)),
    take: (key) => later(() => store.take(key)),
  };
}

/** Four replicas that share a store, behind a load balancer that gives each request to the next one. */
async function replicas(provider: SignInServer): Promise<string> {
  const http = createHttpServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const store = remoteStore();
  const handlers = Array.from({ length: 4 }, () => {
    const auth = oauthProxy({
      resource: `${origin}/mcp`,
      upstream: provider.url,
      clientId: "notes-server",
      clientSecret: "a secret of the provider",
      upstreamScopes: [],
      secret,
      store,
      subject: () => "ada",
    });
    const server = createServer({ name: "notes", version: "1.0.0" });
    server.tool("token", {}, async (_, { auth: caller }) => (caller ? auth.upstreamToken(caller) : "anonymous"));
    return nodeHandler(server, { auth, report: () => undefined });
  });
  let turn = 0;
  http.on("request", (request, response) => {
    turn += 1;
    handlers[turn % handlers.length]?.(request, response);
  });
  onTestFinished(async () => {
    for (const handler of handlers) handler.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return `${origin}/mcp`;
}

/** A client of the replicas, whose tokens of the provider have expired. */
async function signedIn(url: string, provider: SignInServer): Promise<Awaited<ReturnType<typeof connect>>> {
  const agent = new UserAgent();
  const authorize = async (to: URL): Promise<URL> => {
    await agent.open(to, redirectUrl);
    return (await agent.submit({ decision: "allow" }, redirectUrl)) ?? to;
  };
  provider.behaviour.expiresIn = 1;
  const client = await connect(url, { auth: oauth({ redirectUrl, authorize }), revision: "2026-07-28" });
  onTestFinished(() => client.close());
  provider.behaviour.expiresIn = 3600;
  return client;
}

const refreshesOf = (provider: SignInServer): number =>
  provider.requests("/token").filter(({ parameters }) => parameters.get("grant_type") === "refresh_token").length;

/** The tokens that the tool gets in calls at the same time: one for each replica, twice. */
async function tokens(client: Awaited<ReturnType<typeof connect>>): Promise<readonly unknown[]> {
  const calls = Array.from({ length: 8 }, () => client.tools.call("token"));
  const settled = await Promise.allSettled(calls);
  return settled.map((each) => (each.status === "fulfilled" ? each.value.content : "failed"));
}

test("four replicas that need a token of the provider at once refresh it once", async () => {
  await using provider = await startSignInServer();
  const client = await signedIn(await replicas(provider), provider);
  expect(await tokens(client)).toEqual(Array.from({ length: 8 }, () => [{ type: "text", text: "access-2-CANARY" }]));
  expect(refreshesOf(provider)).toBe(1);
});

test("a refresh that fails at one replica is repeated by another, with the same refresh token", async () => {
  await using provider = await startSignInServer();
  const client = await signedIn(await replicas(provider), provider);
  provider.behaviour.token = () => {
    delete provider.behaviour.token;
    return { status: 503, body: {} };
  };
  const found = await tokens(client);
  expect(found.filter((each) => each === "failed").length).toBeLessThanOrEqual(2);
  expect(found).toContainEqual([{ type: "text", text: "access-2-CANARY" }]);
  expect(refreshesOf(provider)).toBe(2);
  const again = Array.from({ length: 8 }, () => [{ type: "text", text: "access-2-CANARY" }]);
  expect(await tokens(client)).toEqual(again);
});

const expired = { access_token: "old", refresh_token: "one", token_type: "bearer", expires_in: 1 } as const;

/** Processes that share a store. Each waits so many milliseconds for another one. */
const processes = (count: number, store: AuthorizationStore, patience: number): readonly KeptUpstreamTokens[] =>
  Array.from(
    { length: count },
    () => new KeptUpstreamTokens(store, new Secrets(new TextEncoder().encode(secret)), patience),
  );

test("of the processes that wait for one that has ended in its refresh, one goes on", async () => {
  const [ended, ...others] = processes(5, remoteStore(), 2_000);
  await ended?.keep("grant", expired);
  void ended?.refreshed("grant", () => new Promise(() => undefined));
  let refreshes = 0;
  const refresh = async (): Promise<TokenEndpointResponse> => {
    refreshes += 1;
    return { ...expired, access_token: "new", expires_in: 3600 };
  };
  await new Promise((resolve) => setImmediate(resolve));
  const found = await Promise.all(others.map((each) => each.refreshed("grant", refresh)));
  expect(found.map(({ accessToken }) => accessToken)).toEqual(["new", "new", "new", "new"]);
  expect(refreshes).toBe(1);
});

test("tokens that are forgotten while another process refreshes them do not come back", async () => {
  const [one, other] = processes(2, remoteStore(), 5_000);
  await one?.keep("grant", expired);
  let finish: ((granted: TokenEndpointResponse) => void) | undefined;
  const begun = new Promise<void>((resolve) => {
    void one?.refreshed("grant", () => {
      resolve();
      return new Promise((granted) => {
        finish = granted;
      });
    });
  });
  await begun;
  const taken = other?.take("grant");
  finish?.({ ...expired, access_token: "new", refresh_token: "two" });
  expect(await taken).toMatchObject({ accessToken: "new", refreshToken: "two" });
  await expect(one?.get("grant")).rejects.toThrow("have expired: sign in again");
});
