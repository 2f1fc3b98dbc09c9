import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ByteBudget } from "../../base/byte-budget.js";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { settlesWithin } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { type Auth, Authorization } from "../../http/server/authorization.js";
import {
  type OriginCheck,
  type OriginCheckOptions,
  originCheck,
  originCheckMembers,
} from "../../http/server/origin-check.js";
import { type ConcurrencyLimit, connectionBytes, connectionLimits, networkOf, Peers } from "../../http/server/peers.js";
import type { HttpResponse } from "../../http/server/request.js";
import { closingResponse, refusal } from "../../http/server/responses.js";
import type { Authentication, Identity } from "../../jsonrpc/call.js";
import type { Channel } from "../../jsonrpc/channel.js";
import type { Connection } from "../../jsonrpc/connection.js";
import { atOnce } from "../../jsonrpc/hooks.js";
import { type PeerSettings, peerSettings } from "../../jsonrpc/peer-settings.js";
import { type QueueBounds, queueMembers } from "../../jsonrpc/queue-bounds.js";
import { faultOf } from "../../jsonrpc/report.js";
import { requireServable, type Servable } from "../../server/servable.js";
import { serveChannel } from "../../server/session/serve-channel.js";
import { type TransportOptions, transportMembers } from "../../session/options.js";
import { WebSocketChannel } from "../../transport/websocket.js";
import { boundedServer, defaultConnections } from "../http/http-connections.js";
import { NodeExchange } from "../http/http-exchange.js";
import { isAt, nothingHere, pathsOf, requireAuthentication, serveEndpoint } from "../http/serve-http.js";
import { defaultGrace, requireConnection, type Serving } from "../serving.js";
import { type HeartbeatOptions, heartbeat, heartbeatMembers } from "./heartbeat.js";
import { socketOptions } from "./websocket-options.js";

/** The client of a channel. */
export interface WebSocketCaller {
  /** The client, as the upgrade has authenticated it; `"anonymous"` without `auth`. */
  readonly auth: Authentication;
  /** The key by which limits are counted: the principal, or the network address. */
  readonly peer: string | undefined;
  /** The memory budget, shared by all connections of the principal or network address. */
  readonly budget: ByteBudget;
}

/** Opens a connection to one client, to serve something other than MCP. */
export type AcceptWebSocket = (channel: Channel, caller: WebSocketCaller) => Connection;

/** Options of `webSocketUpgrade`. */
export interface WebSocketUpgradeOptions
  extends TransportOptions,
    QueueBounds,
    HeartbeatOptions,
    Pick<OriginCheckOptions, "allowedHosts" | "allowedOrigins" | "exposed"> {
  /**
   * Authenticates a client before the connection is upgraded, as `auth` of `serveHttp`. Default: every client with an allowed host may
   * connect.
   */
  readonly auth?: Auth;
  /** The subprotocol that clients must offer. Default: `mcp`. */
  readonly protocol?: string;
  /** The path of the endpoint, with or without a trailing slash; others get 404. Default: every path. */
  readonly path?: string | readonly string[];
  /** The maximum number of concurrent connections. Default: 4,096. */
  readonly maxConnections?: number;
  /**
   * The same limit per network address (IPv6: per /64). All connections through a proxy share its address. Default:
   * 256.
   */
  readonly maxConnectionsPerAddress?: number;
}

/** The members of `WebSocketUpgradeOptions`, to detect unknown options. */
const upgradeMembers: MembersOf<WebSocketUpgradeOptions> = {
  ...transportMembers,
  ...queueMembers,
  ...heartbeatMembers,
  ...originCheckMembers,
  auth: ["any", "authenticate", "authorize", "authentication", "oauth"],
  protocol: ["string", "subprotocol"],
  path: ["any", "url", "endpoint"],
  exposed: ["boolean", "expose"],
  maxConnections: ["number", "max"],
  maxConnectionsPerAddress: ["number"],
};

/** A listener for the `upgrade` event of a `node:http` or `node:https` server. */
export type WebSocketUpgrade = ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) &
  Readonly<{
    /** The open connections. */
    connections: ReadonlySet<Connection>;
    /** Stops accepting calls, waits up to `grace` milliseconds (default: 10,000) for running ones, then closes. */
    drain(grace?: number): Promise<void>;
    /** Closes every connection at once. */
    close(): Promise<void>;
  }>;

/**
 * Serves MCP clients of every revision over WebSockets on an existing HTTP server. Faults go to stderr unless `report`
 * is set.
 *
 * @example
 * httpsServer.on("upgrade", webSocketUpgrade(server, { allowedHosts: ["mcp.example.com"] }));
 *
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function webSocketUpgrade(
  target: Servable | AcceptWebSocket,
  options: WebSocketUpgradeOptions = {},
): WebSocketUpgrade {
  checkMembers("webSocketUpgrade", options, upgradeMembers);
  const accept: AcceptWebSocket =
    typeof target === "function"
      ? target
      : (channel, { auth, peer, budget }) => serveChannel(target, channel, { ...options, auth, peer, budget });
  const gate = new WebSocketGate(accept, options);
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => gate.upgrade(request, socket, head);
  return Object.assign(upgrade, {
    connections: gate.connections,
    drain: (grace: number = defaultGrace) => gate.end((connection) => connection.drain(grace)),
    close: () => gate.end((connection) => connection.close()),
  });
}

const { max, maxPerAddress } = defaultConnections;

/** The time limit in milliseconds for authentication. */
const handshakeTimeout = 10_000;

class WebSocketGate {
  readonly connections = new Set<Connection>();
  readonly #accept: AcceptWebSocket;
  readonly #options: WebSocketUpgradeOptions;
  readonly #terms: PeerSettings;
  readonly #protocol: string;
  readonly #paths: readonly string[] | undefined;
  readonly #guard: OriginCheck;
  /** Undefined: callers are anonymous. */
  readonly #authorization: Authorization | undefined;
  readonly #admission: ConcurrencyLimit;
  readonly #peers: Peers;
  readonly #webSockets: WebSocketServer;
  /** Resolves on close, with the response for clients that are still being authenticated. */
  readonly #ended = deferred<HttpResponse>();
  #isClosing = false;

  constructor(accept: AcceptWebSocket, options: WebSocketUpgradeOptions) {
    const { protocol = "mcp", maxConnections = max, maxConnectionsPerAddress = maxPerAddress } = options;
    this.#accept = accept;
    this.#options = options;
    this.#terms = peerSettings(options);
    this.#protocol = protocol;
    this.#paths = options.path === undefined ? undefined : pathsOf(options.path);
    this.#guard = originCheck({ ...options, anyHost: options.auth !== undefined });
    this.#authorization = options.auth === undefined ? undefined : new Authorization(options.auth, this.#terms.report);
    this.#admission = connectionLimits(maxConnections, maxConnectionsPerAddress);
    this.#peers = new Peers(this.#terms.limits);
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      ...socketOptions(this.#terms.limits.frameBytes),
      handleProtocols: () => protocol,
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    // The bytes of the connection are charged to its caller, who is known later.
    const from = this.#peers.caller(undefined, request.socket.remoteAddress);
    const turnedAway = this.#refusalOf(request) ?? (this.#admission.enter(from, 0) && tooMany());
    if (turnedAway !== undefined) {
      refuse(socket, turnedAway);
      return;
    }
    socket.once("close", () => this.#admission.leave(from, 0));
    void this.#admit(request).then((admitted) => {
      if ("status" in admitted) refuse(socket, admitted);
      else if (this.#isClosing) refuse(socket, closingResponse());
      else if (!admitted.budget.take(connectionBytes)) refuse(socket, tooMany());
      else {
        socket.once("close", () => admitted.budget.give(connectionBytes));
        this.#webSockets.handleUpgrade(request, socket, head, (opened) => this.#open(opened, request, admitted));
      }
    });
  }

  async end(how: (connection: Connection) => Promise<void>): Promise<void> {
    this.#isClosing = true;
    this.#ended.resolve(closingResponse());
    await Promise.all([...this.connections].map(how));
  }

  /** Checks that need only the request. Returns an error response, or undefined. */
  #refusalOf(request: IncomingMessage): HttpResponse | undefined {
    if (this.#isClosing) return closingResponse();
    const asked = exchangeOf(request);
    const foreign = this.#guard(asked.header("host"), asked.header("origin"), asked.ends);
    if (foreign !== undefined) return refusal(foreign.status, foreign.reason);
    if (this.#paths !== undefined && !isAt(this.#paths, request.url)) return refusal(404, nothingHere(this.#paths));
    const offered = asked.header("sec-websocket-protocol")?.split(",") ?? [];
    if (offered.some((each) => each.trim() === this.#protocol)) return undefined;
    return refusal(400, `Sec-WebSocket-Protocol must have ${this.#protocol}: the option protocol of a client`);
  }

  /** The authenticated caller, or an error response. Never rejects. */
  async #admit(request: IncomingMessage): Promise<WebSocketCaller | HttpResponse> {
    const callerOf = (identity?: Identity): WebSocketCaller => {
      const { auth, peer, budget } = this.#peers.caller(identity, request.socket.remoteAddress);
      return { auth, peer, budget };
    };
    if (this.#authorization === undefined) return callerOf();
    const network = networkOf(request.socket.remoteAddress);
    const identified = this.#authorization.identify(exchangeOf(request), network);
    const outcome = Promise.race([identified, this.#ended.promise]);
    if (!(await settlesWithin(outcome, handshakeTimeout, this.#terms.clock)))
      return refusal(503, "the caller could not be authenticated");
    const known = await outcome;
    if (!("status" in known)) return callerOf(known);
    return "reason" in known ? refusal(known.status, known.reason, known.headers) : known;
  }

  #open(webSocket: WebSocket, { socket }: IncomingMessage, caller: WebSocketCaller): void {
    const { limits, clock, report } = this.#terms;
    chargeUnfinished(webSocket, socket, caller.budget);
    const channel = new WebSocketChannel(webSocket, { ...this.#options, frameBytes: limits.frameBytes });
    try {
      const connection = requireConnection(atOnce("accept", () => this.#accept(channel, caller)));
      this.connections.add(connection);
      void connection.closed.then(() => this.connections.delete(connection));
    } catch (error) {
      report(faultOf("accept", error));
      void channel.close();
    }
    heartbeat(webSocket, socket, { ...this.#options, clock }, (milliseconds) => {
      channel.fail(new Error(`the peer has sent nothing for ${milliseconds} ms`));
    });
  }
}

/** An upgrade request, to read. Node creates no response for it. */
function exchangeOf(request: IncomingMessage): NodeExchange {
  return new NodeExchange(request, new ServerResponse(request));
}

/** Bytes of an incomplete message that are not charged to a budget. */
const freeBytes = 64 * 1024;

/**
 * Charges the bytes that `ws` buffers for an incomplete message. If the budget is exhausted, the connection closes with
 * 1013, *Try Again Later*, because the rest of a message cannot be skipped.
 */
function chargeUnfinished(webSocket: WebSocket, socket: Duplex, budget: ByteBudget): void {
  const unfinished = budget.child();
  let bytes = 0;
  let hasEnded = false;
  webSocket.on("message", () => {
    hasEnded = true;
  });
  // Runs after the listener of `ws`. After a complete message, at most the rest of the chunk belongs to the next.
  socket.on("data", (chunk: Uint8Array) => {
    bytes = hasEnded ? 0 : bytes + chunk.length;
    hasEnded = false;
    if (unfinished.hold(bytes > freeBytes ? bytes : 0)) return;
    webSocket.close(1013, "no room for the message");
    webSocket.terminate();
  });
  socket.once("close", () => unfinished.close());
}

/** The response to a connection over the limit. */
function tooMany(): HttpResponse {
  return refusal(503, "too many connections to this server or from this address", { "retry-after": "1" });
}

/** Rejects an upgrade with an HTTP response. */
function refuse(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const text = typeof body === "string" ? body : "";
  const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(text)), connection: "close" });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

/** Options of `serveWebSocket`. */
export interface ServeWebSocketOptions extends WebSocketUpgradeOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The address of the interface to listen on. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string;
}

const serveWebSocketMembers: MembersOf<ServeWebSocketOptions> = {
  ...upgradeMembers,
  port: ["number"],
  host: ["string", "hostname", "address"],
  path: ["any", "url", "endpoint"],
};

/** A running WebSocket server. */
export type WebSocketListener = Serving & {
  /** The URL for clients. */
  readonly url: string;
  /** The TCP port that the server listens on. */
  readonly port: number;
  /** The open connections. */
  readonly connections: ReadonlySet<Connection>;
};

/** The extra places for connections that are not upgraded yet, or get an error response. */
const spare = 64;

/**
 * Listens for MCP clients of every revision. Reachable from this machine only, unless `host` is set.
 *
 * @example
 * await using listener = await serveWebSocket(server, { port: 3000 });
 * console.log(listener.url); // ws://127.0.0.1:3000/mcp
 *
 * @throws TypeError if other machines can connect and there is no `auth`; Error if the port is in use
 */
export async function serveWebSocket(
  target: Servable | AcceptWebSocket,
  options: ServeWebSocketOptions = {},
): Promise<WebSocketListener> {
  if (typeof target !== "function") requireServable("serveWebSocket", target);
  checkMembers("serveWebSocket", options, serveWebSocketMembers);
  const { port = 0, host = "127.0.0.1", path = "/mcp", exposed = false, ...rest } = options;
  requireAuthentication(host, exposed || rest.auth !== undefined);
  const upgrade = webSocketUpgrade(target, { ...rest, exposed, path });
  const { maxConnections = defaultConnections.max, maxConnectionsPerAddress = defaultConnections.maxPerAddress } = rest;
  const connections = { max: maxConnections + spare, maxPerAddress: maxConnectionsPerAddress + spare };
  const { server, upgraded } = await boundedServer(connections, (request, response) => {
    new NodeExchange(request, response).respond(
      refusal(426, "only WebSockets are served here", { upgrade: "websocket" }),
    );
  });
  server.on("upgrade", (request, socket, head) => {
    upgraded(request);
    upgrade(request, socket, head);
  });
  const place = { protocol: "WebSocket", host, port, paths: pathsOf(path) } as const;
  return { ...(await serveEndpoint(server, upgrade, place, rest.report)), connections: upgrade.connections };
}
