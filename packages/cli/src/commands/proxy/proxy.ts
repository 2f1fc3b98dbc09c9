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
import { coverCredentials, type HeaderEntry, SignInCover } from "@parlance/wire";
import { packageVersion } from "../../shared/package-version.js";
import type { Recorder, RecorderOptions } from "../../shared/recorder/recorder.js";
import { type Cover, ExchangeRecord, SessionNames } from "./exchange-record.js";
import { refuse } from "./headers.js";
import { ProxiedExchange } from "./proxied-exchange.js";
import type { ProxyInterceptor } from "./proxy-interceptor.js";
import { SignInRecord } from "./sign-in-record.js";

/** The address of a proxy and its target. */
export interface ProxyOptions {
  readonly target: URL;
  readonly host: string;
  /** The port; 0 for any free one. */
  readonly port: number;
  /** Whether any Host header and remote clients are accepted, for a proxy on a network. */
  readonly anyHost: boolean;
  /** Origins whose web pages may send requests, besides local ones. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly recorder: Recorder;
  /** Whether credentials in HTTP headers and the secrets of sign-ins are recorded uncovered. Default: false. */
  readonly keepsSecrets?: boolean;
  /** Whether clients use the URL of the server, so that no origin is replaced. Default: false. */
  readonly isTransparent?: boolean;
  /** Holds messages and applies faults. Default: messages are forwarded unchanged. */
  readonly interceptor?: ProxyInterceptor | undefined;
}

/** A listening proxy. */
export interface HttpProxy {
  /** The URL of the proxy, for clients. */
  readonly url: URL;
  /** The number of exchanges so far. */
  readonly exchanges: number;
  /** Records sign-ins. */
  readonly signIns: SignInRecord;
  close(): Promise<void>;
}

/** The help of `--keep-secrets`. */
export const keepSecretsHelp = "record Authorization, cookies, API keys and the secrets of sign-ins uncovered";

/** The header of a recording of a server at a URL. */
export function proxyHeader(mode: HeaderEntry["mode"], target: URL, keepsSecrets: boolean): RecorderOptions["header"] {
  const app = { name: "parlance", ver: packageVersion };
  if (keepsSecrets) return { app, mode, server: { url: target.href } };
  // Only the recording of a client has sign-ins.
  const ofSignIns = mode === "launch" ? ["secrets in the bodies of sign-ins"] : [];
  const redact = ["credentials in HTTP headers and URLs", ...ofSignIns];
  return { app, mode, server: coverCredentials({ url: target.href }), redact };
}

/** Covers heads only: bodies on the proxy are messages, which `parlance redact` covers. */
const headsOnly: Cover = { head: coverCredentials, body: (bytes) => bytes };

/** Milliseconds after which an idle connection to the server is closed: less than the five seconds of most servers. */
const idle = 4_000;

/** Starts a proxy before an HTTP server. Rejects if it cannot listen. */
export async function startProxy(options: ProxyOptions): Promise<HttpProxy> {
  const { target, host, port, anyHost, allowedOrigins = [], keepsSecrets = false, recorder, interceptor } = options;
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
      interceptor,
      stopped: stop.signal,
      cover: keepsSecrets ? undefined : headsOnly,
      onWritten,
      send: (options) => (isSecure ? requestHttps : requestHttp)({ ...options, agent }),
    });
  };
  const server = createServer({ requestTimeout: 0 }, pass).on("checkContinue", pass);
  await listening(server, port, host);
  const { port: bound } = server.address() as AddressInfo; // A TCP server has an address with a port.
  const url = new URL(`http://${nameOf(host)}:${bound}${target.pathname}${target.search}`);
  near = isTransparent ? target.origin : url.origin;
  const cover = keepsSecrets ? undefined : new SignInCover();
  const signIns = new SignInRecord((head) => {
    exchanges += 1;
    return new ExchangeRecord(
      { x: exchanges, ...head, bodies: "sign-in", cover, onWritten, target },
      recorder,
      sessions,
    );
  });
  return {
    url,
    get exchanges() {
      return exchanges;
    },
    signIns,
    async close() {
      const allWritten = new Promise<void>((resolve) => {
        onAllWritten = resolve;
      });
      stop.abort();
      signIns.close();
      await closed(server);
      agent.destroy();
      if (written < exchanges) await allWritten;
    },
  };
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

/** A host as part of a URL. */
function nameOf(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function pathOf(url: string): string {
  return url.replace(/[?#].*$/s, "");
}
