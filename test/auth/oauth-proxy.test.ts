import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AuthorizationStore, devAuth, oauth, oauthProxy } from "@parlance/mcp/auth";
import { publicFetch } from "@parlance/mcp/auth-node";
import { connect, textOf } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { Plant } from "../hardening/attacks/a02-plant.js";
import { UserAgent } from "./user-agent.js";

const redirectUrl = "http://127.0.0.1:7777/callback";

interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly upstream: string;
  /** Every value that was written to the store. */
  readonly written: string[];
  /** The keys of what is in the store. */
  kept(): readonly string[];
  readonly refused: string[];
  /** The results of five concurrent calls of `upstreamToken` in the tool. */
  readonly upstreamTokens: string[];
  /** A client that signs in as a user, and every token that it got. */
  signIn(
    agent: UserAgent,
    user: string,
    scopes?: readonly string[],
  ): { readonly auth: ReturnType<typeof oauth>; readonly tokens: string[] };
}

/** A store that shows what was written. The order of keys does not matter to the proxy. */
function openStore(written: string[], values = new Map<string, string>()): AuthorizationStore {
  return {
    get: (key) => values.get(key),
    set(key, value) {
      written.push(key, value);
      values.set(key, value);
    },
    take(key) {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
  };
}

type Options = Parameters<typeof oauthProxy>[0];

/** The endpoints of the provider, as an operator would write them. */
const endpointsOf = (issuer: string) => ({
  issuer,
  authorizationEndpoint: `${issuer}/authorize`,
  tokenEndpoint: `${issuer}/token`,
});

/** @param upstream how the proxy knows the provider, by its issuer; default: by the issuer alone */
async function proxy({
  upstream: upstreamAt = (issuer) => issuer,
  ...options
}: Partial<Omit<Options, "upstream">> & {
  readonly upstream?: (issuer: string) => Options["upstream"];
} = {}): Promise<Proxy> {
  // Its tokens are always about to expire, so that each use refreshes them.
  const provider = await serveHttp(createServer({ name: "provider", version: "1" }), {
    auth: devAuth({ users: ["ada", "eve"], tokenLifetime: 10 }),
  });
  const upstream = new URL(provider.url).origin;
  const http = createHttpServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const registration = await fetch(`${upstream}/register`, {
    method: "POST",
    body: JSON.stringify({ redirect_uris: [`${origin}/callback`] }),
  });
  const { client_id, client_secret } = (await registration.json()) as { client_id: string; client_secret: string };
  const [written, refused, upstreamTokens]: string[][] = [[], [], []];
  const values = new Map<string, string>();
  const auth = oauthProxy({
    resource: `${origin}/mcp`,
    upstream: upstreamAt(upstream),
    clientId: client_id,
    clientSecret: client_secret,
    upstreamScopes: [],
    secret: "a secret of at least 32 characters",
    scopes: ["notes"],
    optionalScopes: ["erase"],
    store: openStore(written ?? [], values),
    subject: ({ accessToken }) => {
      const { sub } = decodeJwt(accessToken);
      return sub === "eve" ? undefined : sub;
    },
    ...options,
  });
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, async (_, { auth: caller }) => {
    if (caller === undefined) return "nobody";
    upstreamTokens?.push(...(await Promise.all(Array.from({ length: 5 }, () => auth.upstreamToken(caller)))));
    return `${caller.subject} of ${caller.issuer}: ${caller.scopes?.join(" ")}`;
  });
  const handler = nodeHandler(server, { auth, report: (each) => void refused?.push(describeReport(each)) });
  http.on("request", handler);
  return {
    url: `${origin}/mcp`,
    origin,
    upstream,
    written: written ?? [],
    kept: () => [...values.keys()],
    refused: refused ?? [],
    upstreamTokens: upstreamTokens ?? [],
    signIn(agent, user, scopes = []) {
      const tokens: string[] = [];
      const authorize = async (url: URL): Promise<URL> => {
        await agent.open(url, redirectUrl);
        await agent.submit({ decision: "allow" }, redirectUrl);
        return (await agent.submit({ user }, redirectUrl)) ?? url;
      };
      const send: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        tokens.push(await response.clone().text());
        return response;
      };
      return { tokens, auth: oauth({ redirectUrl, authorize, fetch: send, scopes }) };
    },
    async [Symbol.asyncDispose]() {
      handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await provider.close();
    },
  };
}

/** Consent in a browser; the URL of the callback, which it has not opened. */
async function callbackUrl(at: Proxy, agent: UserAgent): Promise<URL> {
  const body = JSON.stringify({
    redirect_uris: [redirectUrl],
    token_endpoint_auth_method: "none",
    client_name: "Mallory",
  });
  const { client_id } = (await (await fetch(`${at.origin}/register`, { method: "POST", body })).json()) as {
    client_id: string;
  };
  const query = {
    response_type: "code",
    client_id,
    redirect_uri: redirectUrl,
    state: "s",
    code_challenge: "c".repeat(43),
  };
  await agent.open(
    `${at.origin}/authorize?${new URLSearchParams({ ...query, code_challenge_method: "S256" })}`,
    redirectUrl,
  );
  await agent.submit({ decision: "allow" }, redirectUrl);
  return (await agent.submit({ user: "ada" }, `${at.origin}/callback`)) ?? new URL(at.origin);
}

describe("oauthProxy", () => {
  test("a user consents, signs in at the provider, and the client gets tokens of this server only", async () => {
    await using at = await proxy();
    const agent = new UserAgent();
    const { auth, tokens } = at.signIn(agent, "ada");
    await using client = await connect(at.url, { auth });
    expect(textOf(await client.tools.call("whoami", {}))).toBe(`ada of ${at.origin}: notes`);
    expect(agent.pages.map(({ url }) => url.origin)).toEqual([at.origin, at.upstream]);
    expect(agent.pages[0]?.html).toContain(redirectUrl);
    // Five uses at once of a token that has expired: one refresh, because a second one would end the grant at the provider.
    expect(new Set(at.upstreamTokens).size).toBe(1);
    expect(at.upstreamTokens.length).toBe(5);
    // S25, S45: neither the client nor the store has a token of the provider in the clear.
    const signature = at.upstreamTokens[0]?.split(".")[2] ?? "none";
    expect(tokens.join()).toContain("access_token");
    expect(tokens.join()).not.toContain(signature);
    expect(at.written.join()).not.toContain(signature);
    const issued = /"refresh_token":"([^"]+)"/.exec(tokens.join())?.[1] ?? "none";
    expect(at.written.join()).not.toContain(issued);
  });

  // A rejection that nothing handles fails the run: vitest reports it.
  test.each(["get", "set", "take", "subject"] as const)(
    "what %s of the application throws is reported, whichever call it is, and the sign-in fails or goes on",
    async (name) => {
      const run = async (plant: Plant): Promise<readonly string[]> => {
        const store = openStore([]);
        const hook: (...given: never[]) => unknown = name === "subject" ? () => "ada" : store[name];
        const planted = plant.hook(hook);
        await using at = await proxy(
          name === "subject" ? { subject: planted as () => string } : { store: { ...store, [name]: planted } },
        );
        try {
          const { auth } = at.signIn(new UserAgent(), "ada");
          await using client = await connect(at.url, { auth, reopen: false });
          await client.tools.call("whoami", {});
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
        return [...at.refused];
      };
      const whole = new Plant();
      expect(await run(whole)).toEqual([]);
      for (let nth = 1; nth <= Math.min(whole.calls, 4); nth += 1) {
        const mode = nth % 2 === 0 ? "throws" : "rejects";
        expect((await run(new Plant(nth, mode))).join(), `call ${nth} ${mode}`).toContain("was to fail");
      }
    },
  );

  test("S26: the callback counts once, in the browser that consented, and only for a state of ours", async () => {
    await using at = await proxy();
    const agent = new UserAgent();
    const stolen = await callbackUrl(at, agent);
    expect(await new UserAgent().open(stolen, redirectUrl)).toBeUndefined();
    // The attempt has used the state up.
    expect(await agent.open(stolen, redirectUrl)).toBeUndefined();
    expect(agent.html).toContain("was finished before");
    const own = await callbackUrl(at, agent);
    expect((await agent.open(own, redirectUrl))?.searchParams.get("code")).toMatch(/^[\w-]{43}$/);
    expect(await agent.open(own, redirectUrl)).toBeUndefined();
    own.searchParams.set("state", "x".repeat(43));
    expect(await agent.open(own, redirectUrl)).toBeUndefined();
    expect(at.refused.join()).toContain("/callback: invalid_request: this sign-in was begun in another browser");
  });

  test("a user without access is refused, and the client learns no more", async () => {
    await using at = await proxy();
    const { auth } = at.signIn(new UserAgent(), "eve");
    await expect(connect(at.url, { auth })).rejects.toThrow(/access_denied/);
  });

  test("a failure at the provider is for the operator", async () => {
    await using at = await proxy({ clientSecret: "wrong" });
    const { auth } = at.signIn(new UserAgent(), "ada");
    await expect(connect(at.url, { auth })).rejects.toThrow(/the sign-in at the provider failed/);
    expect(at.refused.join()).toMatch(/\/callback: .+/);
  });

  test("an error of the provider with the status 200, as GitHub sends it, is named for the operator", async () => {
    const github = createHttpServer((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"error":"bad_verification_code"}'),
    );
    await new Promise<void>((resolve) => github.listen(0, "127.0.0.1", resolve));
    const tokenEndpoint = `http://127.0.0.1:${(github.address() as AddressInfo).port}/token`;
    await using at = await proxy({ upstream: (issuer) => ({ ...endpointsOf(issuer), tokenEndpoint }) });
    const { auth } = at.signIn(new UserAgent(), "ada");
    await expect(connect(at.url, { auth })).rejects.toThrow(/the sign-in at the provider failed/);
    expect(at.refused.join()).toContain("/callback: status 400 with bad_verification_code");
    await new Promise((resolve) => github.close(resolve));
  });

  test("S21: a client whose metadata document is in this network is refused, and nothing is requested there", async () => {
    const looked: string[] = [];
    const lookup = async (name: string): Promise<readonly string[]> => {
      looked.push(name);
      return ["10.0.0.1"];
    };
    await using at = await proxy({ fetch: publicFetch({ lookup }) });
    const refused = [
      ...["http://app.example/c.json", "https://127.0.0.1/c.json", "https://localhost/c.json", "https://[::1]/c.json"],
      ...[
        "https://10.0.0.1/c.json",
        "https://169.254.169.254/c.json",
        "https://0x7f.1/c.json",
        "https://2130706433/c.json",
      ],
      ...[
        "https://[::ffff:a9fe:a9fe]/c.json",
        "https://metadata.google.internal/c.json",
        "https://app.example:22/c.json",
      ],
      ...[
        "https://user@app.example/c.json",
        "https://app.example/",
        "https://app.example/c.json#x",
        "https://intranet/c.json",
      ],
    ];
    const pageOf = async (clientId: string): Promise<string> => {
      const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUrl, response_type: "code" });
      return (await fetch(`${at.origin}/authorize?${query}`)).text();
    };
    for (const each of refused) expect(await pageOf(each), each).toContain("must be an https: URL with a path");
    expect(looked).toEqual([]);
    // A name that leads here is refused when it is connected to.
    expect(await pageOf("https://app.example/c.json")).toContain("could not be read");
    expect(looked).toEqual(["app.example"]);
    expect(at.refused.at(-1)).toContain("10.0.0.1 is a private address");
  });

  describe("revocation: a client that signs out", () => {
    const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

    /** Signs in, calls a tool, and revokes one of the tokens at the proxy. */
    async function signOut(at: Proxy, kind: "access_token" | "refresh_token"): Promise<Response> {
      const { auth, tokens } = at.signIn(new UserAgent(), "ada");
      await using client = await connect(at.url, { auth });
      await client.tools.call("whoami", {});
      const shown = tokens.map((text) => JSON.parse(text));
      const token = shown.find((each) => kind in each)?.[kind];
      const { client_id } = shown.find((each) => "client_id" in each);
      const body = new URLSearchParams({ token, token_type_hint: kind, client_id });
      const response = await fetch(`${at.origin}/revoke`, { method: "POST", body });
      const authorization = `Bearer ${shown.find((each) => "access_token" in each).access_token}`;
      expect((await fetch(at.url, { method: "POST", headers: { authorization, ...json }, body: "{}" })).status).toBe(
        401,
      );
      return response;
    }

    /** Status of a request to the provider with the access token that it issued last. */
    async function statusUpstream(at: Proxy): Promise<number> {
      const authorization = `Bearer ${at.upstreamTokens.at(-1)}`;
      return (await fetch(`${at.upstream}/mcp`, { method: "POST", headers: { authorization, ...json }, body: "{}" }))
        .status;
    }

    test.each(["access_token", "refresh_token"] as const)(
      "ends the tokens of the provider, by its %s",
      async (kind) => {
        await using at = await proxy();
        expect((await signOut(at, kind)).status).toBe(200);
        expect(await statusUpstream(at)).toBe(401);
        expect(at.kept().filter((key) => key.startsWith("upstream:"))).toEqual([]);
        expect(at.refused.join()).not.toContain("/revoke");
      },
    );

    test("does so where the provider has no metadata, but a revocation endpoint", async () => {
      await using at = await proxy({
        upstream: (issuer) => ({ ...endpointsOf(issuer), revocationEndpoint: `${issuer}/revoke` }),
      });
      expect((await signOut(at, "refresh_token")).status).toBe(200);
      expect(await statusUpstream(at)).toBe(401);
    });

    test("is signed out here also where the provider revokes nothing", async () => {
      await using at = await proxy({ upstream: endpointsOf });
      expect((await signOut(at, "refresh_token")).status).toBe(200);
      expect(await statusUpstream(at)).not.toBe(401);
      expect(at.kept().filter((key) => key.startsWith("upstream:"))).toEqual([]);
      expect(at.refused.join()).not.toContain("/revoke");
    });

    test.each([
      ["refuses", "/register", "status 400 with invalid_client_metadata"],
      ["is not there", "/nowhere", "status 404"],
    ])(
      "is signed out here also where the endpoint of the provider %s, and the operator learns it",
      async (_what, path, reason) => {
        await using at = await proxy({
          upstream: (issuer) => ({ ...endpointsOf(issuer), revocationEndpoint: `${issuer}${path}` }),
        });
        const response = await signOut(at, "refresh_token");
        expect([response.status, await response.text()]).toEqual([200, "{}"]);
        expect(at.refused.join()).toContain(`/revoke: the tokens of the provider were not revoked: ${reason}`);
      },
    );
  });

  test("clients get only the scopes that this server has", async () => {
    await using at = await proxy();
    const { auth } = at.signIn(new UserAgent(), "ada", ["erase", "admin"]);
    await using client = await connect(at.url, { auth });
    expect(textOf(await client.tools.call("whoami", {}))).toBe(`ada of ${at.origin}: erase notes`);
  });

  test("options that protect nothing are refused", async () => {
    const good = {
      resource: "https://mcp.example.com/mcp",
      upstream: "https://login.example.com",
      clientId: "a",
      clientSecret: "b",
    };
    const secret = "x".repeat(32);
    expect(() => oauthProxy({ ...good, secret: "short" })).toThrow(/at least 32/);
    expect(() => oauthProxy({ ...good, secret, clientSecret: "" })).toThrow(/clientSecret is missing/);
    expect(() => oauthProxy({ ...good, secret, upstream: "http://login.example.com" })).toThrow(/https:/);
    expect(oauthProxy({ ...good, secret }).authorizationServers).toEqual(["https://mcp.example.com"]);
  });
});
