import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { networkOf } from "../../http/server/peers.js";

/** The maximum number of concurrent connections of a `node:http` server. */
export interface ConnectionBounds {
  readonly max: number;
  readonly maxPerAddress: number;
}

export const defaultConnections: ConnectionBounds = { max: 4_096, maxPerAddress: 256 };

interface Connection {
  readonly socket: Duplex;
  /** The latest request, whose body may still be incoming. */
  request: IncomingMessage | undefined;
  /** The number of unanswered requests, plus one if the connection was upgraded. */
  open: number;
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

/**
 * Limits the connections of a server, in total and per network address. At the limit, a new connection replaces the one
 * that was idle longest (with no request, or an incomplete one). If none is idle, or too many were replaced in this
 * second, the new connection is closed.
 *
 * @returns a function to call with each upgrade request. It is not an event listener here, because with an `upgrade`
 * listener Node stops answering upgrade requests of servers that do not support them.
 */
export function boundConnections(server: Server, bounds: ConnectionBounds): (request: IncomingMessage) => void {
  const connections = new HttpConnections(bounds);
  server.on("connection", (socket) => connections.accept(socket, networkOf(socket.remoteAddress) ?? "unknown"));
  server.on("request", (request, response) => connections.requested(request, response));
  return (request) => connections.upgraded(request);
}

class HttpConnections {
  readonly #bounds: ConnectionBounds;
  readonly #ofAddresses = new Map<string, AddressConnections>();
  readonly #bySocket = new Map<Duplex, Connection>();
  #requests = 0;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  accept(socket: Duplex, address: string): void {
    const own = this.#ofAddresses.get(address) ?? new AddressConnections();
    if (!this.#makeRoom(own)) {
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, request: undefined, open: 0, used: this.#requests };
    this.#ofAddresses.set(address, own.add(connection));
    this.#bySocket.set(socket, connection);
    socket.once("close", () => {
      this.#forget(connection, own);
      if (own.size === 0 && this.#ofAddresses.get(address) === own) this.#ofAddresses.delete(address);
    });
  }

  requested(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#use(request);
    if (connection === undefined) return;
    connection.open += 1;
    // `close` fires once, so `on` is enough, and `once` is slower.
    response.on("close", () => {
      connection.open -= 1;
    });
  }

  upgraded(request: IncomingMessage): void {
    const connection = this.#use(request);
    if (connection !== undefined) connection.open += 1;
  }

  #use(request: IncomingMessage): Connection | undefined {
    const connection = this.#bySocket.get(request.socket);
    if (connection === undefined) return undefined;
    this.#requests += 1;
    connection.used = this.#requests;
    connection.request = request;
    return connection;
  }

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

function isIdle({ open, request }: Connection): boolean {
  return open === 0 || (open === 1 && request?.complete === false);
}
