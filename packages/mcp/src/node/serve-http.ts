import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { refusal } from "../http/answers.js";
import { guardOf, isLoopback } from "../http/guard.js";
import type { HttpOptions } from "../http/options.js";
import type { Served } from "../lifecycle/served.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { headerOf, writeAnswer } from "./http-exchange.js";
import { listen } from "./listen.js";
import { defaultGrace, type NodeHandler, nodeHandler } from "./node-handler.js";
import { describeAddress } from "./socket-address.js";

/** Where a server listens. */
export interface ServeHttpOptions extends HttpOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** The address of the interface. Default: 127.0.0.1, which only this machine reaches. */
  readonly host?: string;
  /** Default: `/mcp`. */
  readonly path?: string;
  /** Serve other machines although nobody is asked who they are. Default: false, and it does not start. */
  readonly exposed?: boolean;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** What clients connect to. */
  readonly url: string;
  readonly port: number;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

/** What a client may take, and how much it may send, before there is anything to answer. */
const bounds = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
} as const;
const maxConnections = 4_096;
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
  const { port = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...rest } = options;
  requireAuthentication(host, exposed || rest.authenticate !== undefined);
  const { report = faultsToStderr } = rest;
  const handler = nodeHandler(served, { ...rest, report });
  const guard = guardOf({ ...rest, anyHost: rest.authenticate !== undefined });
  const server = boundedServer((request, response) => {
    if (pathOf(request.url) === path) return handler(request, response);
    // Whoever may not in, learns nothing of what there is.
    const foreign = guard(headerOf(request, "host"), headerOf(request, "origin"));
    const { status, reason } = foreign ?? { status: 404, reason: `there is nothing here: the server is at ${path}` };
    writeAnswer(request, response, refusal(status, reason));
  });
  server.maxConnections = maxConnections;
  await listen(server, { port, host, exposed: true }); // Whether it may be was asked above.
  // A connection that cannot be accepted, for want of file descriptors for instance, is no reason to end.
  server.on("error", (error) => report({ kind: "fault", method: "HTTP", error }));
  // A TCP server has an address of this kind.
  return running(server, handler, { host, path, port: (server.address() as AddressInfo).port });
}

/** @throws TypeError */
export function requireAuthentication(host: string, isTold: boolean): void {
  if (isTold || isLoopback(host)) return;
  const remedy = "give authenticate, or say exposed: true if that is what you want";
  throw new TypeError(`Whoever reaches ${host} could call this server, and nobody asks who they are: ${remedy}`);
}

/** A server that does not wait for ever, nor read without end. */
export function boundedServer(listener: RequestListener): Server {
  return Object.assign(createServer(bounds, listener), { maxHeadersCount, maxRequestsPerSocket });
}

export function pathOf(url = "/"): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
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
