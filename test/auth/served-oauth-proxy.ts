import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AuthorizationStore, devAuth, oauth, oauthProxy } from "@parlance/mcp/auth";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { decodeJwt } from "jose";
import type { UserAgent } from "./user-agent.js";

export const redirectUrl = "http://127.0.0.1:7777/callback";

/** A server behind `oauthProxy`, on a socket. */
export interface ServedProxy extends AsyncDisposable {
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
export function openStore(written: string[], values = new Map<string, string>()): AuthorizationStore {
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

/**
 * Starts one whose provider is `devAuth`.
 * @param upstream how the proxy knows the provider, by its issuer; default: by the issuer alone
 * @param listener also gets the reports
 */
export async function proxy({
  upstream: upstreamAt = (issuer) => issuer,
  listener,
  ...options
}: Partial<Omit<Options, "upstream">> & {
  readonly upstream?: (issuer: string) => Options["upstream"];
  readonly listener?: (report: Report) => void;
} = {}): Promise<ServedProxy> {
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
  const report = (each: Report): void => {
    refused?.push(describeReport(each));
    listener?.(each);
  };
  const handler = nodeHandler(server, { auth, report });
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
export async function callbackUrl(at: ServedProxy, agent: UserAgent): Promise<URL> {
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
