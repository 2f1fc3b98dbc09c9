import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { oauthProxy } from "@parlance/mcp/auth";
import { publicFetch } from "@parlance/mcp/auth-node";
import { connect, textOf } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { deferred } from "../../packages/mcp/src/base/deferred.js";
import { callbackUrl, openStore, proxy, redirectUrl, type ServedProxy } from "./served-oauth-proxy.js";
import { UserAgent } from "./user-agent.js";

/** The endpoints of the provider, as an operator would write them. */
const endpointsOf = (issuer: string) => ({
  issuer,
  authorizationEndpoint: `${issuer}/authorize`,
  tokenEndpoint: `${issuer}/token`,
});

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

  test("a use whose tokens were read before a refresh that has ended does not refresh with the old refresh token", async () => {
    const values = new Map<string, string>();
    const store = openStore([], values);
    const go = deferred<undefined>();
    let stored = 0;
    let isRead = false;
    await using at = await proxy({
      store: {
        ...store,
        get(key) {
          const value = values.get(key);
          if (!key.startsWith("upstream:") || isRead) return value;
          isRead = true;
          return go.promise.then(() => value);
        },
        set(key, value) {
          values.set(key, value);
          if (key.startsWith("upstream:")) stored += 1;
          if (stored === 2) setImmediate(() => go.resolve(undefined)); // The sign-in was the first.
        },
      },
    });
    const { auth } = at.signIn(new UserAgent(), "ada");
    await using client = await connect(at.url, { auth });
    expect(textOf(await client.tools.call("whoami", {}))).toBe(`ada of ${at.origin}: notes`);
    expect(at.upstreamTokens.length).toBe(5);
  });

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
    async function signOut(at: ServedProxy, kind: "access_token" | "refresh_token"): Promise<Response> {
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
    async function statusUpstream(at: ServedProxy): Promise<number> {
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
