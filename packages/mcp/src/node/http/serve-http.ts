import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isResourceServer, pathsOfAuth } from "../../auth/resource-server.js";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { type HttpOptions, httpMembers, httpNotes } from "../../http/server/options.js";
import { isLoopback, originCheck } from "../../http/server/origin-check.js";
import { refusal } from "../../http/server/responses.js";
import { reporterOf } from "../../jsonrpc/hooks.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { requireServable, type Servable } from "../../server/servable.js";
import { describeAddress, listen } from "../listen.js";
import { closedOf, type Serving } from "../serving.js";
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
  const serving = await serveEndpoint(server, handler, { protocol: "HTTP", host, port, paths }, rest.report);
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

/** The address and the paths of an endpoint. */
interface EndpointPlace {
  readonly protocol: "HTTP" | "WebSocket";
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly paths: readonly string[];
}

/** Listens for the clients of an endpoint. `requireAuthentication` has checked the host. */
export async function serveEndpoint(
  server: Server,
  endpoint: Pick<NodeHandler, "drain"> & { close(): Promise<void> | void },
  { protocol, host, port: wanted, paths }: EndpointPlace,
  report: Reporter | undefined,
): Promise<HttpServer> {
  await listen(server, { port: wanted, host, exposed: true });
  // A connection that cannot be accepted, such as for lack of file descriptors, must not end the process.
  server.on("error", (error) => reporterOf(report)({ kind: "fault", method: protocol, error }));
  const { port } = server.address() as AddressInfo; // A TCP server always has this type of address.
  const ended = async (calls: Promise<void> | void): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    await calls;
    server.closeAllConnections();
    await closed;
  };
  const close = (): Promise<void> => ended(endpoint.close());
  return {
    url: `${protocol === "HTTP" ? "http" : "ws"}://${describeAddress({ host, port })}${paths[0]}`,
    port,
    closed: closedOf(server),
    drain: (grace) => ended(endpoint.drain(grace)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
