import type { Server } from "node:net";
import type { Closed } from "../jsonrpc/connection.js";

/** Milliseconds that running calls have to finish. */
export const defaultGrace = 10_000;

/** A server that serves, until it is closed. Every serve function resolves with one as soon as clients can come. */
export interface Serving extends AsyncDisposable {
  /** Resolves when it is over: nothing is listened at any more, and every conversation has ended. Never rejects. */
  readonly closed: Promise<Closed>;
  /** Takes nothing new; what runs has `grace` milliseconds (default: 10,000) to come to its end. */
  drain(grace?: number): Promise<void>;
  /** Ends everything at once. Resolves when it is over. */
  close(): Promise<void>;
}

/** Resolves when a server does not listen any more and its last connection is gone. */
export function closedOf(server: Server): Promise<Closed> {
  return new Promise((resolve) => server.once("close", () => resolve({ reason: "closed" })));
}
