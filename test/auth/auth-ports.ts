import {
  deviceCode,
  introspectionAuth,
  jwtAuth,
  memoryTokenStore,
  oauth,
  oauthProxy,
  type ResourceServer,
  type TokenStore,
  workloadIdentity,
} from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { createServer } from "@parlance/mcp/server";
import type { Plant, Port } from "../hardening/attacks/a02-plant.js";
import { audience, startIssuer } from "./authorization-server.js";
import { approve, startProtectedServer, startSignInServer } from "./client/protected-server.js";
import { openStore, proxy } from "./served-oauth-proxy.js";
import { UserAgent } from "./user-agent.js";

type OAuthOptions = Parameters<typeof oauth>[0];
type ConnectAuth = NonNullable<NonNullable<Parameters<typeof connect>[1]>["auth"]>;

const redirectUrl = "http://127.0.0.1:1/callback";

/** A client that signs in and calls a tool twice. */
async function signsIn(plant: Plant, auth: (url: string) => ConnectAuth, expiresIn = 3600): Promise<void> {
  await using issuer = await startSignInServer();
  issuer.behaviour.expiresIn = expiresIn;
  issuer.behaviour.device = { interval: 0.01, answer: () => undefined };
  await using server = await startProtectedServer(issuer);
  const opening = connect(server.url, { auth: auth(issuer.url), reopen: false, report: plant.report });
  await plant.outcome(opening);
  const client = await opening.catch(() => undefined);
  for (let time = 0; time < 2; time += 1) await plant.outcome(client?.tools.call("read") ?? Promise.resolve());
  await client?.close();
}

const ofOAuth = (port: string, shown: string, set: (plant: Plant) => OAuthOptions): Port => ({
  port,
  shown,
  converse: (plant) => signsIn(plant, () => oauth({ clientName: "hooks", ...set(plant) })),
});

/** A store of tokens, one of whose methods is the application's. Its tokens have expired, so that it is used again for each call. */
const tokenStore = (method: keyof TokenStore): Port => ({
  port: `TokenStore.${method}`,
  shown: `TokenStore.${method} failed`,
  converse: (plant) => {
    const store = memoryTokenStore();
    const own = plant.hook(store[method] as (...given: unknown[]) => unknown);
    // A token that is still valid for some seconds is used although it cannot be renewed: a step says so.
    const onStep = ({ text }: { readonly text: string }): void =>
      plant.report({ kind: "fault", method: "step", error: new Error(text) });
    const options = { redirectUrl, authorize: approve, onStep, store: { ...store, [method]: own } };
    return signsIn(plant, () => oauth({ clientName: "hooks", ...options }), 1);
  },
});

/** A server whose users sign in at another one. */
async function proxied(plant: Plant, options: Parameters<typeof proxy>[0]): Promise<void> {
  await using at = await proxy({ ...options, listener: plant.report });
  const { auth } = at.signIn(new UserAgent(), "ada");
  const opening = connect(at.url, { auth, reopen: false });
  await plant.outcome(opening);
  const client = await opening.catch(() => undefined);
  await plant.outcome(client?.tools.call("whoami") ?? Promise.resolve());
  await client?.close();
}

const authorizationStore = (method: "get" | "set" | "take"): Port => ({
  port: `AuthorizationStore.${method}`,
  converse: (plant) => {
    const store = openStore([]);
    return proxied(plant, { store: { ...store, [method]: plant.hook(store[method] as () => undefined) } });
  },
});

/** Requests with one token to a server that verifies it by requests of its own. */
async function verifies(plant: Plant, auth: ResourceServer, token: string): Promise<void> {
  const server = createServer({ name: "hooks", version: "1" });
  const handle = httpHandler(server, { auth, report: plant.report });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  for (let id = 0; id < 3; id += 1) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    await (await handle(new Request(audience, { method: "POST", headers, body }))).text();
  }
  handle.close();
}

/** The ports of `@parlance/mcp/auth`. */
export const authPorts: readonly Port[] = [
  ofOAuth("OAuthOptions.authorize", "sign-in failed (authorization)", (plant) => ({
    redirectUrl,
    authorize: plant.hook(approve),
  })),
  ofOAuth("OAuthOptions.signIn", "signIn failed", (plant) => ({
    signIn: plant.hook(async () => ({ redirectUrl, authorize: approve })),
  })),
  ofOAuth("RedirectReceiver.authorize", "sign-in failed (authorization)", (plant) => ({
    signIn: async () => ({ redirectUrl, authorize: plant.hook(approve) }),
  })),
  ofOAuth("RedirectReceiver.close", "RedirectReceiver.close failed", (plant) => ({
    signIn: async () => ({ redirectUrl, authorize: approve, close: plant.hook(() => undefined) }),
  })),
  ofOAuth("TokenOptions.fetch", "fetch failed", (plant) => {
    const own = plant.hook((url: URL, init: RequestInit) => fetch(url, init));
    // Metadata that cannot be had is looked for at further places.
    const send = (url: URL, init: RequestInit): Promise<Response> =>
      init.method === "POST" ? own(url, init) : fetch(url, init);
    return { redirectUrl, authorize: approve, fetch: send };
  }),
  ...(["get", "set", "exclusive"] as const).map(tokenStore),
  {
    port: "DeviceCodeOptions.show",
    shown: "show",
    converse: (plant) => signsIn(plant, () => deviceCode({ clientName: "hooks", show: plant.hook(() => undefined) })),
  },
  {
    port: "WorkloadIdentityOptions.assertion",
    shown: "assertion",
    converse: (plant) =>
      signsIn(plant, (issuer) =>
        workloadIdentity({ issuer, clientId: "workload", assertion: plant.hook(async () => "an.assertion.of-it") }),
      ),
  },
  ...(["get", "set", "take"] as const).map(authorizationStore),
  {
    port: "OAuthProxyOptions.subject",
    shown: "subject",
    converse: (plant) => proxied(plant, { subject: plant.hook(() => "ada") }),
  },
  {
    port: "RemoteOptions.fetch",
    shown: "fetch failed",
    async converse(plant) {
      await using issuer = await startIssuer();
      const options = {
        issuer: issuer.url,
        audience,
        fetch: plant.hook((url: URL, init: RequestInit) => fetch(url, init)),
      };
      await verifies(plant, jwtAuth({ ...options, jwksUri: `${issuer.url}/jwks` }), await issuer.token({}));
      const introspectionEndpoint = `${issuer.url}/introspect`;
      const secret = { clientId: "notes", clientSecret: "s", introspectionEndpoint };
      await verifies(plant, introspectionAuth({ ...options, ...secret }), "opaque");
    },
  },
  {
    port: "OAuthProxyOptions.fetch",
    shown: "fetch failed",
    async converse(plant) {
      const redirect_uris = ["http://127.0.0.1:7777/callback"];
      const auth = oauthProxy({
        resource: audience,
        upstream: "https://login.example.com",
        clientId: "notes",
        clientSecret: "s",
        secret: "a secret of at least 32 characters",
        fetch: plant.hook(async (url) => Response.json({ client_id: String(url), redirect_uris })) as typeof fetch,
      });
      const handle = httpHandler(createServer({ name: "hooks", version: "1" }), { auth, report: plant.report });
      for (let client = 0; client < 3; client += 1) {
        const query = new URLSearchParams({ client_id: `https://client${client}.example.com/client` });
        await (await handle(new Request(`${new URL(audience).origin}/authorize?${query}`))).text();
      }
      handle.close();
    },
  },
  {
    port: "ResourceServer.verify",
    shown: "auth",
    async converse(plant) {
      const verify = plant.hook(() => ({ kind: "invalid", reason: "never" }) as const);
      const auth = { resource: audience, authorizationServers: [], scopes: [], metadata: {}, verify };
      await verifies(plant, auth, "token");
    },
  },
];
