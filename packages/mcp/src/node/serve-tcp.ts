import { createServer, type Server, type Socket } from "node:net";
import type { ByteBudget } from "../base/byte-budget.js";
import { checkMembers, type MembersOf, requireFunction } from "../base/check-members.js";
import { type Clock, settlesWithin } from "../base/clock.js";
import type { FrameRefusal } from "../base/framing.js";
import type { MaybePromise } from "../base/maybe-promise.js";
import {
  type ConcurrencyLimit,
  connectionBytes,
  connectionLimits,
  type HttpCaller,
  Peers,
} from "../http/server/peers.js";
import { type Authentication, type Identity, requireIdentity } from "../jsonrpc/call.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Closed, Connection } from "../jsonrpc/connection.js";
import { atOnce, inHook, reporterOf } from "../jsonrpc/hooks.js";
import { serverLimits } from "../jsonrpc/limits.js";
import { faultOf, otherFraming, type Reporter } from "../jsonrpc/report.js";
import { steadyClock } from "../jsonrpc/steady-clock.js";
import { requireServable, type Servable } from "../server/servable.js";
import { serveChannel } from "../server/session/serve-channel.js";
import { type TransportOptions, transportMembers } from "../session/options.js";
import { headBytes } from "../transport/framing/utf8.js";
import { defaultConnections } from "./http/http-connections.js";
import { type ListenAddress, listen, requireAddress, type SocketAddress } from "./listen.js";
import { closedOf, defaultGrace, requireConnection, type Serving } from "./serving.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";
import { tune } from "./tcp.js";

/**
 * Identifies the client of a connection by its socket, before a byte of it is read. Undefined closes the connection: a client cannot be
 * challenged here. What it throws is reported, and closes the connection too.
 */
export type AuthenticateSocket = (socket: Socket) => MaybePromise<Identity | undefined>;

export interface AcceptOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /**
   * The maximum number of concurrent connections; further ones are closed at once. Stops a flood of connections from
   * exhausting memory. Default: 4,096.
   */
  readonly maxConnections?: number;
  /** The same limit per network address (IPv6: per /64), so that one client cannot take every place. Default: 256. */
  readonly maxConnectionsPerAddress?: number;
  /**
   * Authenticates the client of a connection, within 10 s: by its address, by the credentials of the peer of a Unix socket, or by a
   * proxy that has checked a certificate. Default: every client that can connect may call, without an identity.
   *
   * @example
   * const hosts = new Map([["10.0.0.7", { principal: "build server" }]]);
   * await serveTcp(server, { port: 7007 }, { auth: ({ remoteAddress }) => hosts.get(remoteAddress ?? "") });
   */
  readonly auth?: AuthenticateSocket;
  /** Called with errors that precede a connection. Default: they are written to stderr. */
  readonly report?: Reporter;
}

const { keepsOutputOpen, ...socketMembers } = streamMembers;
const acceptMembers: MembersOf<AcceptOptions> = {
  ...socketMembers,
  maxConnections: ["number", "max"],
  maxConnectionsPerAddress: ["number"],
  auth: ["function", "authenticate", "authorize", "authentication"],
  report: ["function", "reporter", "logger", "log", "onerror", "onError"],
};

export interface ServeTcpOptions extends TransportOptions, Omit<AcceptOptions, "frameBytes"> {}

const { frameBytes, ...ownAcceptMembers } = acceptMembers;
const serveTcpMembers: MembersOf<ServeTcpOptions> = { ...transportMembers, ...ownAcceptMembers };

/** The client of a connection. */
export interface TcpCaller {
  /** The network address by which limits are counted; undefined on a Unix socket. */
  readonly peer: string | undefined;
  /** The memory budget, shared by all connections of the network address, or of the authenticated caller. */
  readonly budget: ByteBudget;
  /** The client, as `auth` has identified it; without `auth`, `"anonymous"` over TCP and undefined on a Unix socket. */
  readonly auth: Authentication;
}

/** Opens a connection to one client. */
export type AcceptTcp = (channel: Channel, caller: TcpCaller) => Connection;

/** A listening TCP server, with its connections. */
export type TcpServer = Serving & {
  /** The address, as accepted by `tcpChannel`. */
  readonly address: SocketAddress;
  /** The open connections. */
  readonly connections: ReadonlySet<Connection>;
};

/**
 * Serves every client that connects to a TCP port or a Unix socket.
 *
 * @example
 * await using listening = await serveTcp(server, { port: 7007 });
 *
 * @throws TypeError for an address that other machines can reach, unless `exposed` is set; Error for one in use
 */
export async function serveTcp(
  served: Servable,
  address: ListenAddress,
  options: ServeTcpOptions = {},
): Promise<TcpServer> {
  requireServable("serveTcp", served);
  checkMembers("serveTcp", options, serveTcpMembers);
  const { limits } = options;
  const bounds = limits?.frameBytes === undefined ? {} : { frameBytes: limits.frameBytes };
  const open: AcceptTcp = (channel, caller) => serveChannel(served, channel, { ...options, ...caller });
  return accept("serveTcp", address, open, { ...options, ...bounds });
}

/**
 * Calls `open` with a channel for each connection to a TCP port or a Unix socket. Like `serveTcp`, but for any JSON-RPC
 * service. Give the connection what `open` gets of its caller: without it, handlers do not know who calls, and limits count each
 * connection alone.
 *
 * @example
 * const { call: handle } = service;
 * await acceptTcp({ path: "/run/sums.sock" }, (channel, caller) => openConnection(channel, { handle, ...caller }));
 *
 * @throws as `serveTcp`
 */
export async function acceptTcp(
  address: ListenAddress,
  open: AcceptTcp,
  options: AcceptOptions = {},
): Promise<TcpServer> {
  requireFunction(
    "acceptTcp",
    open,
    "write (channel, caller) => openConnection(channel, { handle: service.call, ...caller })",
  );
  checkMembers("acceptTcp", options, acceptMembers);
  return accept("acceptTcp", address, open, options);
}

async function accept(
  subject: string,
  address: ListenAddress,
  open: AcceptTcp,
  options: AcceptOptions,
): Promise<TcpServer> {
  requireAddress(subject, address);
  const server = createServer({ allowHalfOpen: true });
  await listen(server, address);
  return new SocketServer(server, open, options); // Before any connection: the event loop has not run since.
}

const { max, maxPerAddress } = defaultConnections;

/** The time limit in milliseconds for authentication. */
const authTimeout = 10_000;

class SocketServer implements TcpServer {
  readonly address: SocketAddress;
  readonly closed: Promise<Closed>;
  readonly #server: Server;
  readonly #open: AcceptTcp;
  readonly #options: AcceptOptions;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  readonly #admission: ConcurrencyLimit;
  readonly #peers: Peers;
  /** Sockets whose clients are being authenticated. */
  readonly #arriving = new Set<Socket>();

  constructor(server: Server, open: AcceptTcp, options: AcceptOptions & Pick<ServeTcpOptions, "limits">) {
    const { maxConnections = max, maxConnectionsPerAddress = maxPerAddress } = options;
    this.#admission = connectionLimits(maxConnections, maxConnectionsPerAddress);
    this.#peers = new Peers({ ...serverLimits, ...options.limits });
    this.#server = server;
    this.#open = open;
    this.#options = options;
    this.#clock = steadyClock(options.clock, options.report);
    this.address = addressOf(server);
    this.closed = closedOf(server);
    server.on("connection", (socket) => this.#accept(socket));
    // Without a listener, a connection that cannot be accepted would end the process.
    server.on("error", (error) => this.#report(error));
  }

  get connections(): ReadonlySet<Connection> {
    return this.#connections;
  }

  drain(grace: number = defaultGrace): Promise<void> {
    return this.#end((connection) => connection.drain(grace));
  }

  close(): Promise<void> {
    return this.#end((connection) => connection.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(end: (connection: Connection) => Promise<void>): Promise<void> {
    for (const socket of this.#arriving) socket.destroy();
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#connections].map(end));
    await stopped;
  }

  #accept(socket: Socket): void {
    // Unix socket connections do not come from a network.
    const isLocal = "path" in this.address;
    const place = isLocal ? undefined : (socket.remoteAddress ?? "unknown");
    const arriving = this.#peers.caller(undefined, place);
    try {
      this.#enter(arriving);
    } catch (error) {
      socket.destroy();
      this.#report(error);
      return;
    }
    socket.once("close", () => this.#admission.leave(arriving, connectionBytes));
    tune(socket);
    const { auth } = this.#options;
    // The file mode of a Unix socket decides which users can connect; every user of the machine can connect to a port.
    if (auth === undefined) this.#serve(socket, { ...arriving, auth: isLocal ? undefined : "anonymous" });
    else void this.#authenticate(socket, auth, place);
  }

  /** Never rejects. */
  async #authenticate(socket: Socket, auth: AuthenticateSocket, place: string | undefined): Promise<void> {
    const fail = (error: unknown): void => {
      socket.destroy();
      this.#report(error, "auth");
    };
    this.#arriving.add(socket);
    socket.on("error", () => socket.destroy());
    try {
      const asked = Promise.resolve(inHook("auth", () => auth(socket)));
      if (!(await settlesWithin(asked, authTimeout, this.#clock))) {
        fail(new Error(`a connection was not authenticated within ${authTimeout} ms`));
        return;
      }
      const identity = await asked;
      if (identity === undefined) socket.destroy();
      else if (!socket.destroyed) {
        const known = requireIdentity(identity, "return { principal }, or undefined to close the connection");
        this.#serve(socket, this.#peers.caller(known, place));
      }
    } catch (error) {
      fail(error);
    } finally {
      this.#arriving.delete(socket);
    }
  }

  #serve(socket: Socket, { peer, budget, auth }: TcpCaller): void {
    const options = { ...this.#options, clock: this.#clock };
    try {
      const channel =
        "path" in this.address ? new StreamChannel(socket, socket, options) : new NetworkChannel(socket, options);
      const connection = requireConnection(atOnce("accept", () => this.#open(channel, { peer, budget, auth })));
      this.#connections.add(connection);
      void connection.closed.then(() => this.#connections.delete(connection));
    } catch (error) {
      socket.destroy();
      this.#report(error);
    }
  }

  /** @throws Error if the connection limit or the memory budget is exhausted */
  #enter(caller: HttpCaller): void {
    const full = this.#admission.enter(caller, connectionBytes);
    if (full === undefined) return;
    const { peer } = caller;
    const { maxConnections = max, maxConnectionsPerAddress = maxPerAddress } = this.#options;
    if (full === "place") {
      const isFull = this.#connections.size >= maxConnections;
      const many = isFull ? `${maxConnections}` : `${maxConnectionsPerAddress} from ${peer}`;
      throw new Error(`a connection was refused: there are ${many} already`);
    }
    throw new Error(`a connection was refused: there is no room for more of ${peer ?? "this server's clients"}`);
  }

  #report(error: unknown, hook = "accept"): void {
    const report = reporterOf(this.#options.report);
    report(faultOf(hook, error));
  }
}

function addressOf(server: Server): SocketAddress {
  const bound = server.address();
  if (bound === null) throw new Error("The server does not listen");
  return typeof bound === "string" ? { path: bound } : { host: bound.address, port: bound.port };
}

const beginsLikeMessage = /^\s*[{[]/;

/**
 * A connection from a network. Delivers frames only if the first one starts like a JSON-RPC message; otherwise it drops the connection
 * and discards everything.
 *
 * A web page can make a browser connect to any local port and send lines of its choice, in the body of an HTTP request
 * or in the plain text of a TLS handshake. But it cannot choose the first bytes.
 */
class NetworkChannel extends StreamChannel {
  readonly #socket: Socket;
  #isGenuine: boolean | undefined;

  constructor(socket: Socket, options: StreamChannelOptions) {
    super(socket, socket, options);
    this.#socket = socket;
  }

  override frame(text: string): void {
    if (this.#letsIn(text)) super.frame(text);
  }

  override refuse(refusal: FrameRefusal): void {
    if (this.#letsIn(refusal.head)) super.refuse(refusal);
  }

  #letsIn(head: string): boolean {
    if (this.#isGenuine === undefined) {
      this.#isGenuine = beginsLikeMessage.test(head);
      if (!this.#isGenuine) this.#drop(head);
    }
    return this.#isGenuine;
  }

  /** Nothing is sent: the refusal is that of the last frame, which has no answer. */
  #drop(head: string): void {
    const what = "the connection does not start with a JSON-RPC message: it uses another protocol";
    this.#socket.destroy(new Error(what));
    const message = `${what}${otherFraming(head)}`;
    super.refuse({ reason: "truncated", message, head: head.slice(0, headBytes), bytes: Buffer.byteLength(head) });
  }
}
