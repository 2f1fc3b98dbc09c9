import type { Server } from "node:net";
import { kindOf } from "../base/json.js";
import type { Closed, Connection } from "../jsonrpc/connection.js";

/** Milliseconds for running calls to finish. */
export const defaultGrace = 10_000;

/** A running server. Every serve function resolves with one as soon as clients can connect. */
export type Serving = Readonly<
  AsyncDisposable & {
    /** Resolves when the server has stopped listening and every connection is closed. Never rejects. */
    closed: Promise<Closed>;
    /** Stops accepting calls, waits up to `grace` milliseconds (default: 10,000) for running ones, then closes. */
    drain(grace?: number): Promise<void>;
    /** Closes everything at once. Resolves when done. */
    close(): Promise<void>;
  }
>;

/** Resolves when a server has stopped listening and its last connection is closed. */
export function closedOf(server: Server): Promise<Closed> {
  return new Promise((resolve) => server.once("close", () => resolve({ reason: "closed" })));
}

/**
 * The connection that a function of the application has opened to a client. One that it did not return could never be closed.
 * @throws TypeError if it is not a connection
 */
export function requireConnection(opened: Connection): Connection {
  if (typeof opened?.close === "function") return opened;
  const remedy = "write (channel, caller) => openConnection(channel, { handle: service.call, ...caller })";
  throw new TypeError(`accept must return a connection, got ${kindOf(opened)}: ${remedy}`);
}
