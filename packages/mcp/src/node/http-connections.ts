import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { networkOf } from "../http/peers.js";

/** How many connections a server of `node:http` has at the same time. */
export interface ConnectionBounds {
  readonly max: number;
  readonly maxPerAddress: number;
}

export const defaultConnections: ConnectionBounds = { max: 4_096, maxPerAddress: 256 };

interface Connection {
  readonly socket: Duplex;
  /** Its last request, whose body may still be on its way. */
  request: IncomingMessage | undefined;
  /** Requests that are not answered yet, and a protocol that the connection was upgraded to. */
  open: number;
  /** The count of all requests when its last one came. */
  used: number;
}

/** The connections of one network address. */
class AddressConnections extends Set<Connection> {
  #madeRoom = 0;
  #since = 0;

  /** Whether one of them may give way to another. Beyond so many in a second, newcomers cost less if they are closed. */
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

/** Idle connections of one network address that are closed in a second to make room. */
const mostRoomMade = 32;

/**
 * Bounds the connections of a server, of one network address before all. One too many takes the place of the one that was idle
 * longest: one on which nothing is asked, or a request is not complete. Where all are in use, or too many came in this second, it
 * is closed.
 *
 * @returns to be called with each request that upgrades its connection. There is no listener for that here: with one, Node hands
 * over the connections of a server that upgrades none, and leaves the client without an answer.
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
    // It closes once: `once` would only cost more.
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
    // Whoever has most gives way first.
    const all = [...this.#ofAddresses.values()].sort((one, other) => other.size - one.size);
    return all.some((each) => this.#closeIdle(each));
  }

  /** Closes the one that has been idle longest; false if none is. */
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
