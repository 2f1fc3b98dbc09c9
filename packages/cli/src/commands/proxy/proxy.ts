import {
  Agent,
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import type { AddressInfo } from "node:net";
import { originCheck } from "@parlance/mcp/http";
import { coverCredentials, credentialWords, type HeaderEntry } from "@parlance/wire";
import { packageVersion } from "../../shared/package-version.js";
import type { Recorder, RecorderOptions } from "../../shared/recorder/recorder.js";
import { ExchangeRecord } from "./exchange-record.js";
import type { FaultyExchanges } from "./faulty-exchanges.js";
import { refuse } from "./headers.js";
import { ProxiedExchange, reasonOf } from "./proxied-exchange.js";
import { SessionNames } from "./sessions.js";

/** The address of a proxy and its target. */
export interface ProxyOptions {
  readonly target: URL;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Accept any Host header and remote addresses, for a proxy that others may use. */
  readonly anyHost: boolean;
  /** Origins whose pages may call, besides local ones. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly recorder: Recorder;
  /** Record credentials in HTTP headers unredacted. Default: false. */
  readonly keepsSecrets?: boolean;
  /** Clients know the server by its own URL, so that no origin is replaced. Default: false. */
  readonly isTransparent?: boolean;
  /** The faults to inject. */
  readonly faults?: FaultyExchanges | undefined;
}

type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/** A listening proxy. */
export interface HttpProxy {
  /** The URL for clients, instead of the target. */
  readonly url: URL;
  /** Exchanges so far. */
  readonly exchanges: number;
  /** The same `fetch`, with the head of every exchange recorded. */
  record(fetch: Fetch): Fetch;
  close(): Promise<void>;
}

/** The help of `--keep-secrets`. */
export const keepSecretsHelp = "record Authorization, cookies and API keys of HTTP as they are";

/** The header of a recording of a server at a URL. */
export function proxyHeader(mode: HeaderEntry["mode"], target: URL, keepsSecrets: boolean): RecorderOptions["header"] {
  const app = { name: "parlance", ver: packageVersion };
  if (keepsSecrets) return { app, mode, server: { url: target.href } };
  return { app, mode, server: coverCredentials({ url: target.href }), redact: [credentialWords] };
}

/** Milliseconds that an idle connection to the server is kept: less than the five seconds of most servers. */
const idle = 4_000;

/** Starts a proxy before an HTTP server. Rejects if it cannot listen. */
export async function startProxy(options: ProxyOptions): Promise<HttpProxy> {
  const { target, host, port, anyHost, allowedOrigins = [], keepsSecrets = false, recorder, faults } = options;
  const { isTransparent = false } = options;
  const guard = originCheck({ allowedHosts: [nameOf(host)], allowedOrigins, anyHost, exposed: anyHost });
  const isSecure = target.protocol === "https:";
  const agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true, timeout: idle });
  const sessions = new SessionNames();
  const stop = new AbortController();
  const sessionEndpoint = (url: string): boolean => pathOf(url) === target.pathname || sessions.has(url);
  let near = "";
  let exchanges = 0;
  let written = 0;
  let onAllWritten = (): void => undefined;
  const onWritten = (): void => {
    written += 1;
    if (written === exchanges) onAllWritten();
  };
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const { remoteAddress: remote, localAddress: local } = request.socket;
    const refusal = guard(request.headers.host, request.headers.origin, { remote, local });
    if (refusal !== undefined) {
      refuse(response, refusal.status, refusal.reason);
      return;
    }
    exchanges += 1;
    const { url = "/" } = request;
    const origins = { near: anyHost ? `http://${request.headers.host ?? ""}` : near, far: target.origin };
    new ProxiedExchange(request, response, {
      x: exchanges,
      target,
      origins,
      hasMessages: sessionEndpoint(url),
      recorder,
      sessions,
      faults,
      stopped: stop.signal,
      keepsSecrets,
      onWritten,
      send: (options) => (isSecure ? requestHttps : requestHttp)({ ...options, agent }),
    });
  };
  const server = createServer({ requestTimeout: 0 }, pass).on("checkContinue", pass);
  await listening(server, port, host);
  const { port: bound } = server.address() as AddressInfo; // It listens on a port.
  const url = new URL(`http://${nameOf(host)}:${bound}${target.pathname}${target.search}`);
  near = isTransparent ? target.origin : url.origin;
  return {
    url,
    get exchanges() {
      return exchanges;
    },
    record: (fetch) => (url, init) => {
      exchanges += 1;
      const { method = "GET", headers } = init;
      const head = { x: exchanges, method, url: url.href, headers: [...new Headers(headers)] };
      const start = { ...head, hasMessages: false, keepsSecrets, onWritten, target };
      return recordedExchange(fetch(url, init), new ExchangeRecord(start, recorder, sessions));
    },
    async close() {
      const allWritten = new Promise<void>((resolve) => {
        onAllWritten = resolve;
      });
      stop.abort();
      await closed(server);
      agent.destroy();
      if (written < exchanges) await allWritten;
    },
  };
}

/** Records an exchange without its bodies: it ends with the head of the response. */
async function recordedExchange(sent: Promise<Response>, record: ExchangeRecord): Promise<Response> {
  record.requestEnd();
  try {
    const response = await sent;
    record.responseHead(response.status, [...response.headers]);
    record.end();
    return response;
  } catch (error) {
    record.abort(reasonOf(error), "server");
    throw error;
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

/** Stops listening and aborts open exchanges: event streams may never end. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** An address as part of a URL. */
function nameOf(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function pathOf(url: string): string {
  return url.replace(/[?#].*$/s, "");
}
