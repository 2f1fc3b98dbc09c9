import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { bearerAuth } from "@parlance/mcp/auth";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";

/** A request to an authorization server. */
export interface Seen {
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly authorization: string | undefined;
  /** The body of a registration. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface IssuedToken {
  readonly scopes: readonly string[];
  readonly resource: string | null;
  readonly refreshToken: string;
  isRevoked: boolean;
}

/** Settings of an authorization server. */
export interface Behaviour {
  /** Members of its metadata that differ; undefined removes one. */
  metadata?: Readonly<Record<string, unknown>>;
  /** Changes the parameters of its redirects. */
  redirect?: (parameters: URLSearchParams) => void;
  /** The response of the token endpoint, instead of its own. */
  token?: (parameters: URLSearchParams) => { readonly status: number; readonly body: unknown } | undefined;
  /** Changes the response to a registration; one with an `error` refuses it. */
  registration?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** The path of its metadata. */
  metadataPath?: string;
  /** The scopes that it grants. Default: those that are requested. */
  grants?: readonly string[];
  /** Device codes, which it has none of by default. */
  device?: {
    /** Seconds between two token requests. */
    readonly interval?: number;
    /** Seconds that a code lives. Default: 600. */
    readonly expiresIn?: number;
    /** The error for a token request; undefined once the user has approved. */
    answer: () => string | undefined;
  };
  /** Seconds that its tokens live, by its own account. */
  expiresIn?: number;
}

/** An authorization server on a socket. Its users approve at once. */
export interface SignInServer extends AsyncDisposable {
  readonly url: string;
  readonly behaviour: Behaviour;
  readonly seen: Seen[];
  readonly issued: Map<string, IssuedToken>;
  /** The requests to one path. */
  requests(path: string): readonly Seen[];
  /** Makes every token invalid at the MCP servers, as if it had expired. */
  expireAll(): void;
}

export async function startSignInServer(path = ""): Promise<SignInServer> {
  const behaviour: Behaviour = {};
  const seen: Seen[] = [];
  const issued = new Map<string, IssuedToken>();
  const codes = new Map<string, URLSearchParams>();
  const refreshes = new Map<string, { scopes: readonly string[]; resource: string | null; isUsed: boolean }>();
  let counter = 0;
  const issue = (scopes: readonly string[], resource: string | null): unknown => {
    counter += 1;
    const [token, refreshToken] = [`access-${counter}-CANARY`, `refresh-${counter}-CANARY`];
    issued.set(token, { scopes, resource, refreshToken, isRevoked: false });
    refreshes.set(refreshToken, { scopes, resource, isUsed: false });
    const { expiresIn = 3600 } = behaviour;
    const scope = scopes.join(" ");
    return { access_token: token, token_type: "Bearer", expires_in: expiresIn, refresh_token: refreshToken, scope };
  };
  const redeem = (parameters: URLSearchParams): { status: number; body: unknown } => {
    const refused = (error: string): { status: number; body: unknown } => ({ status: 400, body: { error } });
    if (parameters.get("grant_type") === "refresh_token") {
      const refresh = refreshes.get(parameters.get("refresh_token") ?? "");
      if (refresh === undefined) return refused("invalid_grant");
      if (refresh.isUsed) {
        // A token that is used twice is stolen: all of its family end.
        for (const each of issued.values()) each.isRevoked = true;
        refreshes.clear();
        return refused("invalid_grant");
      }
      refresh.isUsed = true;
      return { status: 200, body: issue(refresh.scopes, refresh.resource) };
    }
    if (parameters.has("device_code")) {
      const error = behaviour.device?.answer();
      if (error !== undefined) return refused(error);
      const asked = codes.get(parameters.get("device_code") ?? "");
      return { status: 200, body: issue((asked?.get("scope") ?? "").split(" "), parameters.get("resource")) };
    }
    const code = codes.get(parameters.get("code") ?? "");
    codes.delete(parameters.get("code") ?? "");
    if (code === undefined || parameters.get("code_verifier") === null) return refused("invalid_grant");
    const scopes = behaviour.grants ?? (code.get("scope") ?? "").split(" ");
    return { status: 200, body: issue(scopes, code.get("resource")) };
  };
  const server = await listening(async (request, response) => {
    const url = new URL(request.url ?? "/", origin);
    const text = await bodyOf(request);
    const isJson = request.headers["content-type"] === "application/json";
    const parameters = isJson
      ? new URLSearchParams()
      : new URLSearchParams(request.method === "POST" ? text : url.search);
    const body = isJson ? JSON.parse(text) : {};
    seen.push({ path: url.pathname, parameters, authorization: request.headers.authorization, body });
    const send = (status: number, content: unknown): void => {
      const headers = { "content-type": "application/json", "cache-control": "no-store" };
      response.writeHead(status, headers).end(JSON.stringify(content));
    };
    const { metadataPath = `/.well-known/oauth-authorization-server${path}` } = behaviour;
    if (url.pathname === metadataPath) {
      const device = behaviour.device === undefined ? {} : { device_authorization_endpoint: `${origin}/device` };
      return send(200, { ...metadataOf(`${origin}${path}`), ...device, ...behaviour.metadata });
    }
    if (url.pathname === "/register") {
      const registered = { ...body, client_id: `client-${seen.length}`, client_id_issued_at: 0 };
      const answer = behaviour.registration?.(registered) ?? registered;
      return send("error" in answer ? 403 : 201, answer);
    }
    if (url.pathname === "/authorize") {
      const code = `code-${seen.length}-CANARY`;
      codes.set(code, parameters);
      const redirect = new URL(parameters.get("redirect_uri") ?? "");
      redirect.searchParams.set("code", code);
      redirect.searchParams.set("state", parameters.get("state") ?? "");
      behaviour.redirect?.(redirect.searchParams);
      return void response.writeHead(302, { location: redirect.href }).end();
    }
    if (url.pathname === "/device") {
      const { interval, expiresIn = 600 } = behaviour.device ?? {};
      const device = `device-${seen.length}-CANARY`;
      codes.set(device, parameters);
      const answer = { device_code: device, user_code: "WDJB-MJHT", verification_uri: `${origin}/enter` };
      return send(200, { ...answer, expires_in: expiresIn, interval });
    }
    if (url.pathname === "/token") {
      const { status, body: content } = behaviour.token?.(parameters) ?? redeem(parameters);
      return send(status, content);
    }
    return send(404, {});
  });
  const origin = originOf(server);
  return {
    url: `${origin}${path}`,
    behaviour,
    seen,
    issued,
    requests: (wanted) => seen.filter((each) => each.path === wanted),
    expireAll() {
      for (const each of issued.values()) each.isRevoked = true;
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

function metadataOf(issuer: string): Readonly<Record<string, unknown>> {
  const { origin } = new URL(issuer);
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
  };
}

/** An MCP server on a socket that accepts the tokens of authorization servers. */
export interface ProtectedServer extends AsyncDisposable {
  readonly url: string;
  /** Its authorization server, which can change. */
  issuer: SignInServer;
  /** Responds to a request instead of the server. */
  intercept?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** The `Authorization` headers that it got. */
  readonly presented: (string | undefined)[];
}

/** The tools `read` and `write` of this server need the scopes of the same names. */
export async function startProtectedServer(issuer: SignInServer): Promise<ProtectedServer> {
  const presented: (string | undefined)[] = [];
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, (_, { auth }) => `read by ${auth?.subject}`);
  server.tool("write", { scopes: ["read", "write"] }, () => "written");
  const handlers = new Map<SignInServer, ReturnType<typeof nodeHandler>>();
  const http = await listening((request, response) => {
    presented.push(request.headers.authorization);
    if (running.intercept?.(request, response) === true) return;
    const { issuer: current } = running;
    const handler = handlers.get(current) ?? nodeHandler(server, { auth: authOf(current) });
    handlers.set(current, handler);
    handler(request, response);
  });
  const url = `${originOf(http)}/mcp`;
  const authOf = (current: SignInServer): ReturnType<typeof bearerAuth> =>
    bearerAuth({
      resource: url,
      authorizationServers: [current.url],
      scopes: ["read"],
      verify(token) {
        const known = current.issued.get(token);
        if (known === undefined || known.isRevoked || known.resource !== url) return undefined;
        return { subject: "ada", scopes: known.scopes };
      },
    });
  const running: ProtectedServer = {
    url,
    issuer,
    presented,
    async [Symbol.asyncDispose]() {
      for (const handler of handlers.values()) handler.close();
      await closed(http);
    },
  };
  return running;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const part of request) body += part;
  return body;
}

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<HttpServer> {
  const server = createHttpServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function originOf(server: HttpServer): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closed(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Follows the authorization request like a browser whose user approves at once; the URL of the redirect. */
export async function approve(url: URL): Promise<string> {
  const { headers } = await fetch(url, { redirect: "manual" });
  return headers.get("location") ?? "";
}
