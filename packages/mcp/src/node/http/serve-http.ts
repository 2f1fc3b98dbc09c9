import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isResourceServer, pathsOfAuth } from "../../auth/resource-server.js";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { type HttpOptions, httpMembers, httpNotes } from "../../http/server/options.js";
import { isLoopback, originCheck } from "../../http/server/origin-check.js";
import { refusal } from "../../http/server/responses.js";
import { reporterOf } from "../../jsonrpc/hooks.js";
import { requireServable, type Servable } from "../../server/servable.js";
import { describeAddress, listen } from "../listen.js";
import { closedOf, defaultGrace, type Serving } from "../serving.js";
import { boundedServer, defaultConnections } from "./http-connections.js";
import { NodeExchange } from "./http-exchange.js";
import { type NodeHandler, nodeHandler } from "./node-handler.js";

/** Options of `serveHttp`. */
export interface ServeHttpOptions extends HttpOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The address of the interface to listen on. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string;
  /**
   * The path of the endpoint, with or without a trailing slash. If there are several, `url` has the first. Default:
   * `/mcp`.
   */
  readonly path?: string | readonly string[];
  /**
   * Allow other machines without authentication; they may use this machine's own names and address in `Host`. Default:
   * false, and `serveHttp` throws if other machines could connect.
   */
  readonly exposed?: boolean;
  /**
   * The maximum number of concurrent connections. At the limit, a new one replaces the one that was idle longest; if
   * none is idle, it is closed. Default: 4,096.
   */
  readonly maxConnections?: number;
  /**
   * The same limit per network address (IPv6: per /64), so that one client cannot take every place. Default: 256; with
   * `addressOf`, no limit, because all connections come from the proxy.
   */
  readonly maxConnectionsPerAddress?: number;
}

const serveHttpMembers: MembersOf<ServeHttpOptions> = {
  ...httpMembers,
  port: ["number"],
  host: ["string", "hostname", "address"],
  path: ["any", "url", "endpoint", "basePath"],
  exposed: ["boolean", "expose"],
  maxConnections: ["number", "max"],
  maxConnectionsPerAddress: ["number"],
};

/** A running HTTP server. */
export interface HttpServer extends Serving {
  /** The URL for clients. */
  readonly url: string;
  /** The TCP port that the server listens on. */
  readonly port: number;
}

/**
 * Listens for MCP clients of every revision. Reachable from this machine only, unless `host` is set.
 *
 * @example
 * await using http = await serveHttp(server, { port: 3000 });
 * console.log(http.url); // http://127.0.0.1:3000/mcp
 *
 * @throws TypeError if other machines can connect and there is no `auth`; Error if the port is in use
 */
export async function serveHttp(served: Servable, options: ServeHttpOptions = {}): Promise<HttpServer> {
  requireServable("serveHttp", served);
  if (typeof options === "number")
    throw new TypeError("serveHttp: the port is an option: write serveHttp(server, { port: 3000 })");
  checkMembers("serveHttp", options, serveHttpMembers, httpNotes);
  const { port = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...others } = options;
  const { maxConnections, maxConnectionsPerAddress, ...rest } = others;
  const paths = pathsOf(path);
  requireAuthentication(host, exposed || rest.auth !== undefined);
  const report = reporterOf(rest.report);
  const handler = nodeHandler(served, { ...rest, exposed });
  const checkOrigin = originCheck({ ...rest, exposed, anyHost: rest.auth !== undefined });
  const { auth } = rest;
  const authPaths = (): readonly string[] => (isResourceServer(auth) ? pathsOfAuth(auth) : []);
  const perAddress = rest.addressOf === undefined ? defaultConnections.maxPerAddress : Number.POSITIVE_INFINITY;
  const connections = {
    max: maxConnections ?? defaultConnections.max,
    maxPerAddress: maxConnectionsPerAddress ?? perAddress,
  };
  const { server } = await boundedServer(connections, (request, response) => {
    if (isAt(paths, request.url) || isAt(authPaths(), request.url)) return handler(request, response);
    // Check `Host` and `Origin` first, so that forbidden callers do not learn the paths.
    const exchange = new NodeExchange(request, response);
    const foreign = checkOrigin(exchange.header("host"), exchange.header("origin"), exchange.ends);
    const { status, reason } = foreign ?? { status: 404, reason: nothingHere(paths) };
    exchange.respond(refusal(status, reason));
  });
  await listen(server, { port, host, exposed: true }); // `requireAuthentication` checked that.
  // A connection that cannot be accepted, such as for lack of file descriptors, must not end the process.
  server.on("error", (error) => report({ kind: "fault", method: "HTTP", error }));
  // A TCP server always has this type of address.
  const place = { host, path: paths[0] ?? "/", port: (server.address() as AddressInfo).port };
  const serving = running(server, handler, place);
  try {
    if (isResourceServer(auth)) auth.servedAt?.(serving.url, process.env.NODE_ENV === "production");
  } catch (error) {
    await serving.close();
    throw error;
  }
  return serving;
}

/** @throws TypeError if the host is not loopback and there is no authentication */
export function requireAuthentication(host: string, isAllowed: boolean): void {
  if (isAllowed || isLoopback(host)) return;
  const remedy = "set auth, or exposed: true if that is intended";
  throw new TypeError(`Any machine that can reach ${host} could call this server without authentication: ${remedy}`);
}

/**
 * The paths of an endpoint.
 * @throws TypeError for an invalid path
 */
export function pathsOf(path: string | readonly string[]): readonly string[] {
  const paths = typeof path === "string" ? [path] : path;
  const wrong = paths.length === 0 ? "[]" : paths.find((each) => !/^\/[^?#]*$/.test(each));
  if (wrong !== undefined) throw new TypeError(`path: ${JSON.stringify(wrong)} is not a path: write one like "/mcp"`);
  return paths;
}

/** Whether a request URL has one of the paths, with or without a trailing slash. */
export function isAt(paths: readonly string[], url = "/"): boolean {
  const query = url.indexOf("?");
  const asked = query === -1 ? url : url.slice(0, query);
  return paths.includes(asked) || paths.some((path) => withoutSlash(path) === withoutSlash(asked));
}

/** The response body for a request to another path. */
export function nothingHere(paths: readonly string[]): string {
  return `not found: the server is at ${paths.join(", ")}`;
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function running(
  server: Server,
  handler: NodeHandler,
  { host, path, port }: { readonly host: string; readonly path: string; readonly port: number },
): HttpServer {
  const gone = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  const close = (): Promise<void> => {
    const closed = gone();
    handler.close();
    server.closeAllConnections();
    return closed;
  };
  return {
    url: `http://${describeAddress({ host, port })}${path}`,
    port,
    closed: closedOf(server),
    async drain(grace = defaultGrace) {
      const closed = gone();
      await handler.drain(grace);
      server.closeAllConnections();
      await closed;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
