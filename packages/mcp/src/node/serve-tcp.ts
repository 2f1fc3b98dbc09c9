import { createServer, type Server, type Socket } from "node:net";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import type { Reporter } from "../jsonrpc/report.js";
import { type CarrierOptions, serveChannel } from "../lifecycle/serve.js";
import type { Served } from "../lifecycle/served.js";
import { faultsToStderr } from "./faults-to-stderr.js";
import { messagesOnly } from "./first-frame.js";
import { listen } from "./listen.js";
import type { ListenAddress, SocketAddress } from "./socket-address.js";
import { StreamChannel, type StreamChannelOptions } from "./stream-channel.js";
import { tune } from "./tcp.js";

export interface AcceptOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /** Connections at the same time; further ones are closed at once. Stops a flood of them from taking all memory. Default: 4,096. */
  readonly maxConnections?: number;
  /** The same from one network address: a single client cannot take every place. Default: 256. */
  readonly maxConnectionsPerAddress?: number;
  /** Receives what goes wrong before there is a connection. Default: it is written to stderr. */
  readonly report?: Reporter;
}

export interface ServeTcpOptions extends CarrierOptions, Omit<AcceptOptions, "frameBytes"> {}

/** Listens, and holds a conversation on each connection. */
export interface TcpServer extends AsyncDisposable {
  /** Where it listens, as `tcpChannel` takes it. */
  readonly address: SocketAddress;
  /** The conversations that are open. */
  readonly connections: ReadonlySet<Connection>;
  /** Stops listening, lets calls that run finish for at most `grace` milliseconds, then closes every connection. */
  drain(grace: number): Promise<void>;
  /** Stops listening and closes every connection at once. Resolves when the last one is gone. */
  close(): Promise<void>;
}

/**
 * Serves every client that connects to a TCP port or a Unix socket, each in a conversation of its own.
 *
 * @example
 * await using listening = await serveTcp(server, { port: 7007 });
 *
 * @throws TypeError for an address that other machines reach, unless it is `exposed`; Error for one that is in use
 */
export function serveTcp(served: Served, address: ListenAddress, options: ServeTcpOptions = {}): Promise<TcpServer> {
  const { report = faultsToStderr, limits } = options;
  const bounds = limits?.frameBytes === undefined ? {} : { frameBytes: limits.frameBytes };
  const open = (channel: Channel): Connection => serveChannel(served, channel, { ...options, report });
  return acceptTcp(address, open, { ...options, ...bounds });
}

/**
 * Gives `open` a channel for each connection to a TCP port or a Unix socket: what `serveTcp` does, for any JSON-RPC.
 *
 * @example
 * await acceptTcp({ path: "/run/sums.sock" }, (channel) => openConnection(channel, { handle: service.call }));
 *
 * @throws as `serveTcp`
 */
export async function acceptTcp(
  address: ListenAddress,
  open: (channel: Channel) => Connection,
  options: AcceptOptions = {},
): Promise<TcpServer> {
  const server = createServer({ allowHalfOpen: true });
  await listen(server, address);
  return new SocketServer(server, open, options); // In time for the first connection: the event loop has not gone on.
}

class SocketServer implements TcpServer {
  readonly address: SocketAddress;
  readonly #server: Server;
  readonly #open: (channel: Channel) => Connection;
  readonly #options: AcceptOptions;
  readonly #connections = new Set<Connection>();
  /** How many connections there are from each network address. */
  readonly #places = new Map<string, number>();

  constructor(server: Server, open: (channel: Channel) => Connection, options: AcceptOptions) {
    this.#server = server;
    this.#open = open;
    this.#options = options;
    this.address = addressOf(server);
    server.on("connection", (socket) => this.#accept(socket));
    // Without a listener, a connection that could not be accepted would end the process.
    server.on("error", (error) => this.#report(error));
  }

  get connections(): ReadonlySet<Connection> {
    return this.#connections;
  }

  drain(grace: number): Promise<void> {
    return this.#end((connection) => connection.drain(grace));
  }

  close(): Promise<void> {
    return this.#end((connection) => connection.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(end: (connection: Connection) => Promise<void>): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#connections].map(end));
    await stopped;
  }

  #accept(socket: Socket): void {
    // Whoever comes by a Unix socket comes from no network.
    const place = "path" in this.address ? undefined : (socket.remoteAddress ?? "unknown");
    try {
      this.#requireRoom(place);
      this.#converse(socket, place);
    } catch (error) {
      socket.destroy();
      this.#report(error);
    }
  }

  #converse(socket: Socket, place: string | undefined): void {
    tune(socket);
    const connection = this.#open(new AcceptedChannel(socket, place !== undefined, this.#options));
    this.#connections.add(connection);
    this.#count(place, 1);
    void connection.closed.then(() => {
      this.#connections.delete(connection);
      this.#count(place, -1);
    });
  }

  #requireRoom(place: string | undefined): void {
    const { maxConnections = 4_096, maxConnectionsPerAddress = 256 } = this.#options;
    if (this.#connections.size >= maxConnections) {
      throw new Error(`a connection was refused: there are ${maxConnections} already`);
    }
    if (place !== undefined && (this.#places.get(place) ?? 0) >= maxConnectionsPerAddress) {
      throw new Error(`a connection was refused: there are ${maxConnectionsPerAddress} from ${place} already`);
    }
  }

  #count(place: string | undefined, change: number): void {
    if (place === undefined) return;
    const count = (this.#places.get(place) ?? 0) + change;
    if (count === 0) this.#places.delete(place);
    else this.#places.set(place, count);
  }

  #report(error: unknown): void {
    const { report = faultsToStderr } = this.#options;
    report({ kind: "fault", method: "accept", error });
  }
}

function addressOf(server: Server): SocketAddress {
  const bound = server.address();
  if (bound === null) throw new Error("The server does not listen");
  return typeof bound === "string" ? { path: bound } : { host: bound.address, port: bound.port };
}

class AcceptedChannel extends StreamChannel {
  readonly #socket: Socket;
  readonly #fromNetwork: boolean;

  constructor(socket: Socket, fromNetwork: boolean, options: StreamChannelOptions) {
    super(socket, socket, options);
    this.#socket = socket;
    this.#fromNetwork = fromNetwork;
  }

  override open(receiver: ChannelReceiver): void {
    super.open(this.#fromNetwork ? messagesOnly(receiver, (error) => this.#socket.destroy(error)) : receiver);
  }
}
