import type { MembersOf } from "../base/check-members.js";
import { isLoopback } from "../http/server/origin-check.js";

/** The address of a socket: a TCP port, or the path of a Unix socket (on Windows: of a named pipe). */
export type SocketAddress =
  | {
      readonly port: number;
      /** Default: 127.0.0.1. */
      readonly host?: string;
    }
  | { readonly path: string };

/** The address to listen on. */
export type ListenAddress = ListenPort | ListenPath;

export interface ListenPort {
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Allow other machines to connect. Plain TCP has neither authentication nor encryption, so use it only in a network
   * where every machine may do all that the server can. Default: false.
   */
  readonly exposed?: boolean;
}

export interface ListenPath {
  readonly path: string;
  /** The permissions of the socket file; users with write access may connect. Default: 0o600, this user only. */
  readonly mode?: number;
}

/** The members of a `ListenAddress`, to detect unknown options. */
export const listenMembers: MembersOf<ListenPort & ListenPath> = {
  port: [],
  host: ["hostname", "address"],
  exposed: ["expose"],
  path: ["socket", "socketPath"],
  mode: [],
};

/** The default host. Not `localhost`, which may resolve to another address. */
export const defaultHost = "127.0.0.1";

/** The maximum length of a Unix socket path; systems silently truncate longer ones. */
const longestPath = 103;

/** @throws TypeError for a forbidden address, with the remedy */
export function requireListenable(address: ListenAddress): void {
  if ("path" in address) requirePath(address.path);
  else if (address.exposed !== true && !isLoopback(address.host ?? defaultHost)) {
    throw new TypeError(
      `Any machine that can reach ${describeAddress(address)} could call this server: plain TCP has no authentication. ` +
        "Listen on 127.0.0.1, serve over HTTP with authentication, or set `exposed: true`",
    );
  }
}

function requirePath(path: string): void {
  if (path.startsWith("\0")) {
    throw new TypeError("An abstract socket has no permissions, so every user could call: use the path of a file");
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > longestPath) {
    throw new TypeError(`The path of a socket has at most ${longestPath} bytes, got ${bytes}: choose a shorter one`);
  }
}

/** An address for display. */
export function describeAddress(address: SocketAddress): string {
  if ("path" in address) return JSON.stringify(address.path);
  const { host = defaultHost, port } = address;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
