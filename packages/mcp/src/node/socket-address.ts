import type { MembersOf } from "../base/members.js";
import { isLoopback } from "../http/guard.js";

/** Where a socket is: a TCP port, or the path of a Unix socket (on Windows: of a named pipe). */
export type SocketAddress =
  | {
      readonly port: number;
      /** Default: 127.0.0.1. */
      readonly host?: string;
    }
  | { readonly path: string };

/** Where to listen. */
export type ListenAddress = ListenPort | ListenPath;

export interface ListenPort {
  /** 0 for any that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Listen where other machines can reach it. Plain TCP knows neither who calls nor who listens in: only for a network
   * whose every member may do all that the server can. Default: false, only this machine is let in.
   */
  readonly exposed?: boolean;
}

export interface ListenPath {
  readonly path: string;
  /** Permissions of the socket file; whoever may write to it may call. Default: 0o600, this user alone. */
  readonly mode?: number;
}

/** The members of a `ListenAddress`, for the check of options. */
export const listenMembers: MembersOf<ListenPort & ListenPath> = {
  port: [],
  host: ["hostname", "address"],
  exposed: ["expose"],
  path: ["socket", "socketPath"],
  mode: [],
};

/** The host where none is named: a name such as `localhost` may lead elsewhere. */
export const defaultHost = "127.0.0.1";

/** What the systems have room for in the address of a Unix socket; a longer one would be cut off in silence. */
const longestPath = 103;

/** @throws TypeError for an address that must not be listened at, with the remedy */
export function requireListenable(address: ListenAddress): void {
  if ("path" in address) requirePath(address.path);
  else if (address.exposed !== true && !isLoopback(address.host ?? defaultHost)) {
    throw new TypeError(
      `Anybody who reaches ${describeAddress(address)} could call: plain TCP knows no authentication. ` +
        "Listen on 127.0.0.1, serve over HTTP with authentication, or say `exposed: true`",
    );
  }
}

function requirePath(path: string): void {
  if (path.startsWith("\0")) {
    throw new TypeError("An abstract socket has no permissions, so every user could call: give the path of a file");
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > longestPath) {
    throw new TypeError(`The path of a socket has at most ${longestPath} bytes, got ${bytes}: choose a shorter one`);
  }
}

/** An address for a person. */
export function describeAddress(address: SocketAddress): string {
  if ("path" in address) return JSON.stringify(address.path);
  const { host = defaultHost, port } = address;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
