import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { networkOf } from "../../http/server/peers.js";
import { closeWhenVanished } from "../vanished-peers.js";

/** The maximum number of concurrent connections of a `node:http` server. */
export interface ConnectionBounds {
  readonly max: number;
  readonly maxPerAddress: number;
}

export const defaultConnections: ConnectionBounds = { max: 4_096, maxPerAddress: 256 };

/** Limits on the time and size of a request until it is complete. */
const requestBounds = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  // TCP keep-alive probes an idle connection, and closes it after ten seconds without a response: within 15 s. It does
  // not probe while sent data is unacknowledged; `closeWhenVanished` handles that.
  keepAlive: true,
  keepAliveInitialDelay: 5_000,
} as const;
const maxHeadersCount = 100;
const maxRequestsPerSocket = 10_000;

interface Connection {
  readonly socket: Duplex;
  /** The latest request, whose body may still be incoming, and its response. */
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** The response before it: with pipelining, a request may arrive before it is sent. */
  earlier: ServerResponse | undefined;
  isUpgraded: boolean;
  /** The server's request count at the latest request of this connection. */
  used: number;
}

/** The connections of one network address. */
class AddressConnections extends Set<Connection> {
  #madeRoom = 0;
  #since = 0;

  /**
   * Whether one of them may be closed to make room for a new one. Beyond a rate per second, it is cheaper to close the
   * new connection.
   */
  mayMakeRoom(): boolean {
    const now = performance.now();
    if (now - this.#since > 1_000) {
      this.#madeRoom = 0;
      this.#since = now;
    }
    this.#madeRoom += 1;
    return this.#madeRoom <= mostRoomMade;
  }
}

/** The maximum number of idle connections per network address and second that are closed to make room. */
const mostRoomMade = 32;

/** A server with limits, and the function that counts its upgrades. */
interface BoundedServer {
  readonly server: Server;
  /**
   * Must be called with each upgrade request. `boundedServer` does not listen for them itself, because with an `upgrade`
   * listener Node stops answering upgrade requests of servers that do not support them.
   */
  readonly upgraded: (request: IncomingMessage) => void;
}

/**
 * A server with limits on the time and size of a request, and on its connections, in total and per network address. At
 * that limit, a new connection replaces the one that was idle longest (with no request, or an incomplete one). If none
 * is idle, or too many were replaced in this second, the new connection is closed.
 */
export async function boundedServer(max: ConnectionBounds, listener: RequestListener): Promise<BoundedServer> {
  const { createServer } = await import("node:http"); // A server on stdio does not need it.
  const connections = new HttpConnections(max, listener);
  const server = createServer(requestBounds, connections.requested);
  server.on("connection", (socket) => {
    closeWhenVanished(socket);
    connections.accept(socket, networkOf(socket.remoteAddress) ?? "unknown");
  });
  Object.assign(server, { maxHeadersCount, maxRequestsPerSocket });
  return { server, upgraded: connections.requested };
}

class HttpConnections {
  readonly #bounds: ConnectionBounds;
  readonly #listener: RequestListener;
  readonly #ofAddresses = new Map<string, AddressConnections>();
  readonly #bySocket = new Map<Duplex, Connection>();
  #requests = 0;

  constructor(bounds: ConnectionBounds, listener: RequestListener) {
    this.#bounds = bounds;
    this.#listener = listener;
  }

  accept(socket: Duplex, address: string): void {
    const own = this.#ofAddresses.get(address) ?? new AddressConnections();
    if (!this.#makeRoom(own)) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      request: undefined,
      response: undefined,
      earlier: undefined,
      isUpgraded: false,
      used: this.#requests,
    };
    this.#ofAddresses.set(address, own.add(connection));
    this.#bySocket.set(socket, connection);
    socket.once("close", () => {
      this.#forget(connection, own);
      if (own.size === 0 && this.#ofAddresses.get(address) === own) this.#ofAddresses.delete(address);
    });
  }

  /**
   * Notes the request of a connection, and calls the listener. Two listeners on the server would be slower: Node copies
   * an array of listeners at each event.
   * @param response undefined for an upgrade
   */
  readonly requested = (request: IncomingMessage, response?: Parameters<RequestListener>[1]): void => {
    const connection = this.#bySocket.get(request.socket);
    if (connection !== undefined) {
      this.#requests += 1;
      connection.used = this.#requests;
      connection.request = request;
      connection.earlier = connection.response;
      connection.response = response;
      connection.isUpgraded = response === undefined;
    }
    if (response !== undefined) this.#listener(request, response);
  };

  #makeRoom(own: AddressConnections): boolean {
    const { max, maxPerAddress } = this.#bounds;
    if (own.size >= maxPerAddress && !(own.mayMakeRoom() && this.#closeIdle(own))) return false;
    if (this.#bySocket.size < max) return true;
    // Addresses with the most connections are considered first.
    const all = [...this.#ofAddresses.values()].sort((one, other) => other.size - one.size);
    return all.some((each) => this.#closeIdle(each));
  }

  /** Closes the connection that was idle longest; returns false if none is idle. */
  #closeIdle(own: AddressConnections): boolean {
    let longest: Connection | undefined;
    for (const connection of own) {
      if (isIdle(connection) && (longest === undefined || connection.used < longest.used)) longest = connection;
    }
    if (longest === undefined) return false;
    this.#forget(longest, own);
    longest.socket.destroy();
    return true;
  }

  #forget(connection: Connection, own: AddressConnections): void {
    own.delete(connection);
    this.#bySocket.delete(connection.socket);
  }
}

/** Without a request, or with an incomplete one only. */
function isIdle({ request, response, earlier, isUpgraded }: Connection): boolean {
  if (isUpgraded) return false;
  return isSent(response) || (request?.complete === false && isSent(earlier));
}

/** Responses are sent in the order of their requests, so the ones before are sent too. */
function isSent(response: ServerResponse | undefined): boolean {
  return response === undefined || response.destroyed || response.writableFinished;
}
