import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { checkMembers, type MembersOf } from "../base/members.js";
import { refusal } from "../http/answers.js";
import { guardOf, isLoopback } from "../http/guard.js";
import { type HttpOptions, httpMembers } from "../http/options.js";
import { reporterOf } from "../jsonrpc/hooks.js";
import { requireServed, type Served } from "../lifecycle/served.js";
import { boundConnections, defaultConnections } from "./http-connections.js";
import { endsOf, headerOf, writeAnswer } from "./http-exchange.js";
import { listen } from "./listen.js";
import { type NodeHandler, nodeHandler } from "./node-handler.js";
import { closedOf, defaultGrace, type Serving } from "./serving.js";
import { describeAddress } from "./socket-address.js";
import { closeWhenVanished } from "./vanished-peers.js";

/** Where a server listens. */
export interface ServeHttpOptions extends HttpOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** The address of the interface. Default: 127.0.0.1, which only this machine reaches. */
  readonly host?: string;
  /** Where clients find it, with a slash at the end or without; the first of several is the one of `url`. Default: `/mcp`. */
  readonly path?: string | readonly string[];
  /**
   * Serve other machines although nobody is asked who they are; they may use this machine's own names and its address. Default:
   * false, and it does not start where they could reach it.
   */
  readonly exposed?: boolean;
  /**
   * Connections at the same time. One too many takes the place of the one that was idle longest; where all are in use, it is
   * closed. Default: 4,096.
   */
  readonly maxConnections?: number;
  /**
   * The same for one network address (IPv6: one /64), so that none takes every place. Default: 256; with `addressOf`, no bound,
   * because all connections are those of the proxy.
   */
  readonly maxConnectionsPerAddress?: number;
}

const serveHttpMembers: MembersOf<ServeHttpOptions> = {
  ...httpMembers,
  port: [],
  host: ["hostname", "address"],
  path: ["url", "endpoint", "basePath"],
  exposed: ["expose"],
  maxConnections: ["max"],
  maxConnectionsPerAddress: [],
};

/** A server that listens. */
export interface HttpServer extends Serving {
  /** What clients connect to. */
  readonly url: string;
  readonly port: number;
}

/** What a client may take, and how much it may send, before there is anything to answer. */
const bounds = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  // The system asks an idle client whether it is there, and after ten questions in as many seconds without an answer breaks the
  // connection: within 15 s. Behind bytes that were not acknowledged it does not ask: those are for `closeWhenVanished`.
  keepAlive: true,
  keepAliveInitialDelay: 5_000,
} as const;
const maxHeadersCount = 100;
const maxRequestsPerSocket = 10_000;

/**
 * Listens for clients of every revision. Only this machine reaches it, unless `host` says otherwise.
 *
 * @example
 * await using http = await serveHttp(server, { port: 3000 });
 * console.log(http.url); // http://127.0.0.1:3000/mcp
 *
 * @throws TypeError for an address that others reach, without `authenticate`; Error when the port is taken
 */
export async function serveHttp(served: Served, options: ServeHttpOptions = {}): Promise<HttpServer> {
  requireServed("serveHttp", served);
  checkMembers("serveHttp", options, serveHttpMembers);
  const { port = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...others } = options;
  const { maxConnections, maxConnectionsPerAddress, ...rest } = others;
  const paths = pathsOf(path);
  requireAuthentication(host, exposed || rest.authenticate !== undefined);
  const report = reporterOf(rest.report);
  const handler = nodeHandler(served, { ...rest, exposed });
  const guard = guardOf({ ...rest, exposed, anyHost: rest.authenticate !== undefined });
  const server = boundedServer((request, response) => {
    if (isAt(paths, request.url)) return handler(request, response);
    // Whoever may not in, learns nothing of what there is.
    const foreign = guard(headerOf(request, "host"), headerOf(request, "origin"), endsOf(request));
    const { status, reason } = foreign ?? { status: 404, reason: nothingHere(paths) };
    writeAnswer(request, response, refusal(status, reason));
  });
  const perAddress = rest.addressOf === undefined ? defaultConnections.maxPerAddress : Number.POSITIVE_INFINITY;
  boundConnections(server, {
    max: maxConnections ?? defaultConnections.max,
    maxPerAddress: maxConnectionsPerAddress ?? perAddress,
  });
  await listen(server, { port, host, exposed: true }); // Whether it may be was asked above.
  // A connection that cannot be accepted, for want of file descriptors for instance, is no reason to end.
  server.on("error", (error) => report({ kind: "fault", method: "HTTP", error }));
  // A TCP server has an address of this kind.
  return running(server, handler, { host, path: paths[0] ?? "/", port: (server.address() as AddressInfo).port });
}

/** @throws TypeError */
export function requireAuthentication(host: string, isTold: boolean): void {
  if (isTold || isLoopback(host)) return;
  const remedy = "give authenticate, or say exposed: true if that is what you want";
  throw new TypeError(`Whoever reaches ${host} could call this server, and nobody asks who they are: ${remedy}`);
}

/** A server that does not wait for ever, nor read without end. */
export function boundedServer(listener: RequestListener): Server {
  const server = createServer(bounds, listener).on("connection", closeWhenVanished);
  return Object.assign(server, { maxHeadersCount, maxRequestsPerSocket });
}

/** The paths that a server is found at. @throws TypeError for what is none */
export function pathsOf(path: string | readonly string[]): readonly string[] {
  const paths = typeof path === "string" ? [path] : path;
  const wrong = paths.length === 0 ? "[]" : paths.find((each) => !/^\/[^?#]*$/.test(each));
  if (wrong !== undefined) throw new TypeError(`path: ${JSON.stringify(wrong)} is not a path: write one like "/mcp"`);
  return paths;
}

/** Whether a request is for one of the paths, with a slash at the end or without. */
export function isAt(paths: readonly string[], url = "/"): boolean {
  const query = url.indexOf("?");
  const asked = query === -1 ? url : url.slice(0, query);
  return paths.includes(asked) || paths.some((path) => withoutSlash(path) === withoutSlash(asked));
}

/** What a request for another path is answered with. */
export function nothingHere(paths: readonly string[]): string {
  return `there is nothing here: the server is at ${paths.join(", ")}`;
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
