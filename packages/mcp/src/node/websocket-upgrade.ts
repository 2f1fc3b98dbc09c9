import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { deferred } from "../base/deferred.js";
import { settlesWithin } from "../base/settles-within.js";
import { Admission } from "../http/admission.js";
import { closingAnswer, refusal } from "../http/answers.js";
import { type Guard, type GuardOptions, guardOf } from "../http/guard.js";
import type { Authenticate } from "../http/options.js";
import type { HttpAnswer } from "../http/request.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import type { QueueBounds } from "../jsonrpc/queue-bounds.js";
import { type Terms, termsOf } from "../jsonrpc/terms.js";
import { type CarrierOptions, serveChannel } from "../lifecycle/serve.js";
import type { Served } from "../lifecycle/served.js";
import { WebSocketChannel } from "../transports/websocket.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { type HeartbeatOptions, heartbeat } from "./heartbeat.js";
import { headerOf } from "./http-exchange.js";
import { defaultGrace } from "./node-handler.js";
import { pathOf } from "./serve-http.js";
import { socketOptions } from "./websocket-options.js";

/** Who is at the other end of a channel. */
export interface WebSocketCaller {
  readonly principal: string | undefined;
}

/** Opens the conversation with one client: for those who serve something else than MCP. */
export type AcceptWebSocket = (channel: Channel, caller: WebSocketCaller) => Connection;

/** What can be set about a server on WebSockets. */
export interface WebSocketUpgradeOptions
  extends CarrierOptions,
    QueueBounds,
    HeartbeatOptions,
    Pick<GuardOptions, "allowedHosts" | "allowedOrigins"> {
  /** Who may connect; asked before the connection is a WebSocket. Default: everybody who reaches this server by an allowed host. */
  readonly authenticate?: Authenticate;
  /** The subprotocol that a client has to offer. Default: `mcp`. */
  readonly protocol?: string;
  /** Where clients find this server; elsewhere there is nothing. Default: at every path. */
  readonly path?: string;
  /** Connections at the same time. Default: 4,096. */
  readonly maxConnections?: number;
  /** Connections from one address at the same time; behind a proxy all have its address. Default: 256. */
  readonly maxConnectionsPerAddress?: number;
}

/** A listener for the `upgrade` event of a server of `node:http` or `node:https`. */
export interface WebSocketUpgrade {
  (request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The conversations that are open. */
  readonly connections: ReadonlySet<Connection>;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends every conversation at once. */
  close(): Promise<void>;
}

/**
 * Serves clients of every revision on a server that is there already: each connection is a conversation of its own. Faults go to
 * stderr unless `report` takes them.
 *
 * @example
 * httpsServer.on("upgrade", webSocketUpgrade(server, { allowedHosts: ["mcp.example.com"] }));
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function webSocketUpgrade(
  target: Served | AcceptWebSocket,
  options: WebSocketUpgradeOptions = {},
): WebSocketUpgrade {
  const carrier = { report: faultsToStderr, ...options };
  const accept: AcceptWebSocket =
    typeof target === "function"
      ? target
      : (channel, { principal }) => serveChannel(target, channel, { ...carrier, principal });
  const gate = new WebSocketGate(accept, carrier);
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => gate.upgrade(request, socket, head);
  return Object.assign(upgrade, {
    connections: gate.connections,
    drain: (grace: number = defaultGrace) => gate.end((connection) => connection.drain(grace)),
    close: () => gate.end((connection) => connection.close()),
  });
}

/** Milliseconds in which it has to be found out who calls. */
const handshakeTimeout = 10_000;

class WebSocketGate {
  readonly connections = new Set<Connection>();
  readonly #accept: AcceptWebSocket;
  readonly #options: WebSocketUpgradeOptions;
  readonly #terms: Terms;
  readonly #protocol: string;
  readonly #guard: Guard;
  readonly #admission: Admission;
  readonly #webSockets: WebSocketServer;
  /** What those get who are not let in yet when everything ends. */
  readonly #ended = deferred<HttpAnswer>();
  #isClosing = false;

  constructor(accept: AcceptWebSocket, options: WebSocketUpgradeOptions) {
    const { protocol = "mcp", maxConnections = 4_096, maxConnectionsPerAddress = 256 } = options;
    this.#accept = accept;
    this.#options = options;
    this.#terms = termsOf(options);
    this.#protocol = protocol;
    this.#guard = guardOf({ ...options, anyHost: options.authenticate !== undefined });
    this.#admission = new Admission({ perPrincipal: maxConnectionsPerAddress, total: maxConnections });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      ...socketOptions(this.#terms.limits.frameBytes),
      handleProtocols: () => protocol,
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const address = request.socket.remoteAddress ?? "";
    const turnedAway = this.#refusalOf(request) ?? (this.#admission.enter(address) ? undefined : tooMany());
    if (turnedAway !== undefined) {
      refuse(socket, turnedAway);
      return;
    }
    socket.once("close", () => this.#admission.leave(address));
    void this.#admit(request).then((admitted) => {
      if ("status" in admitted) refuse(socket, admitted);
      else if (this.#isClosing) refuse(socket, closingAnswer());
      else this.#webSockets.handleUpgrade(request, socket, head, (opened) => this.#open(opened, request, admitted));
    });
  }

  async end(how: (connection: Connection) => Promise<void>): Promise<void> {
    this.#isClosing = true;
    this.#ended.resolve(closingAnswer());
    await Promise.all([...this.connections].map(how));
  }

  /** What the request alone is turned away for. */
  #refusalOf(request: IncomingMessage): HttpAnswer | undefined {
    if (this.#isClosing) return closingAnswer();
    const foreign = this.#guard(headerOf(request, "host"), headerOf(request, "origin"));
    if (foreign !== undefined) return refusal(foreign.status, foreign.reason);
    const { path } = this.#options;
    if (path !== undefined && pathOf(request.url) !== path)
      return refusal(404, `there is nothing here: the server is at ${path}`);
    const offered = headerOf(request, "sec-websocket-protocol")?.split(",") ?? [];
    if (offered.some((each) => each.trim() === this.#protocol)) return undefined;
    return refusal(400, `Sec-WebSocket-Protocol must have ${this.#protocol}`);
  }

  /** Who calls, or why it may not. Never rejects. */
  async #admit(request: IncomingMessage): Promise<WebSocketCaller | HttpAnswer> {
    const { authenticate } = this.#options;
    if (authenticate === undefined) return { principal: undefined };
    try {
      const asked = { method: "GET", url: request.url ?? "/", header: (name: string) => headerOf(request, name) };
      const identity = Promise.race([authenticate(asked), this.#ended.promise]);
      if (!(await settlesWithin(identity, handshakeTimeout, this.#terms.clock))) return unidentified(503);
      return (await identity) ?? refusal(401, "who calls is not known", { "www-authenticate": "Bearer" });
    } catch (error) {
      this.#terms.report({ kind: "fault", method: "authenticate", error });
      return unidentified(500);
    }
  }

  #open(webSocket: WebSocket, { socket }: IncomingMessage, caller: WebSocketCaller): void {
    const { limits, clock, report } = this.#terms;
    const channel = new WebSocketChannel(webSocket, { ...this.#options, frameBytes: limits.frameBytes });
    try {
      const connection = this.#accept(channel, caller);
      this.connections.add(connection);
      void connection.closed.then(() => this.connections.delete(connection));
    } catch (error) {
      report({ kind: "fault", method: "accept", error });
      void channel.close();
    }
    heartbeat(webSocket, socket, { ...this.#options, clock }, (milliseconds) => {
      channel.fail(new Error(`the peer has given no sign of life for ${milliseconds} ms`));
    });
  }
}

function unidentified(status: number): HttpAnswer {
  return refusal(status, "it could not be found out who calls");
}

/** One connection too many. */
function tooMany(): HttpAnswer {
  return refusal(503, "more connections than this server, or your address, may have", { "retry-after": "1" });
}

/** Turns a client away: it gets an answer of HTTP, and no WebSocket. */
function refuse(socket: Duplex, { status, headers, body }: HttpAnswer): void {
  const text = typeof body === "string" ? body : "";
  const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(text)), connection: "close" });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
