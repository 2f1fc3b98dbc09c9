import { once } from "node:events";
import { chmodSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { checkMembers, type MembersOf } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import { isLoopback } from "../http/server/origin-check.js";

/**
 * Starts listening. Replaces a socket file that a killed process left. The file is removed when the server closes.
 *
 * @throws TypeError for a forbidden address; Error for an address that is in use
 */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  requireListenable(address);
  if ("port" in address) await bind(server, address);
  else await bindFile(server, address);
}

async function bindFile(server: Server, address: ListenPath): Promise<void> {
  const { path, mode = 0o600 } = address;
  if (await isStale(path)) await unlink(path);
  await bind(server, address);
  if (process.platform === "win32") return; // A named pipe is not a file.
  try {
    chmodSync(path, mode); // Synchronously, before the event loop can accept a connection.
  } catch (error) {
    server.close();
    throw error;
  }
}

async function bind(server: Server, address: ListenAddress): Promise<void> {
  server.listen("path" in address ? { path: address.path } : { port: address.port, host: address.host ?? defaultHost });
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const remedy = "choose another address, or end what listens there";
    const inUse = new Error(`${describeAddress(address)} is in use: ${remedy}`, { cause: error });
    throw Object.assign(inUse, { code: "EADDRINUSE" }); // Programs check the code, as with any Node server.
  }
}

/** True for a socket file that refuses connections. Other files are never deleted. */
async function isStale(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined); // `listen` reports inaccessible paths.
  if (found?.isSocket() !== true) return false;
  const socket = connect({ path });
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

/** The address of a socket: a TCP port, or the path of a Unix socket (on Windows: of a named pipe). */
export type SocketAddress =
  | {
      /** The TCP port; 0 for any free one when listening. */
      readonly port: number;
      /** Default: 127.0.0.1. */
      readonly host?: string;
    }
  | {
      /** The path of a Unix socket, or of a named pipe on Windows. */
      readonly path: string;
    };

/** The address to listen on. */
export type ListenAddress = ListenPort | ListenPath;

export interface ListenPort {
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Whether other machines may connect. Plain TCP has neither authentication nor encryption, so use it only in a network
   * where every machine may do all that the server can. Default: false.
   */
  readonly exposed?: boolean;
}

export interface ListenPath {
  /** The path of the socket file. */
  readonly path: string;
  /** The permissions of the socket file; users with write access may connect. Default: 0o600, this user only. */
  readonly mode?: number;
}

/** The members of an address. A client may be given the address as the server was, with what only a server uses. */
const addressMembers: MembersOf<ListenPort & ListenPath> = {
  port: ["number"],
  host: ["string", "hostname", "address"],
  exposed: ["boolean", "expose"],
  path: ["string", "socket", "socketPath"],
  mode: ["number"],
};

/** @throws TypeError if the value is not an address; the message shows how to write one */
export function requireAddress(subject: string, address: unknown): void {
  if (!isObject(address)) {
    const remedy = typeof address === "number" ? `{ port: ${address} }` : "{ port, host } or { path }";
    throw new TypeError(`${subject}: the address: expected an object, got ${kindOf(address)}: write ${remedy}`);
  }
  checkMembers(`${subject}: the address`, address, addressMembers);
}

/** The default host. Not `localhost`, which may resolve to another address. */
export const defaultHost = "127.0.0.1";

/** The maximum length of a Unix socket path; systems silently truncate longer ones. */
const longestPath = 103;

/** @throws TypeError for a forbidden address, with the remedy */
function requireListenable(address: ListenAddress): void {
  if ("path" in address) requirePath(address.path);
  else if (address.exposed !== true && !isLoopback(address.host ?? defaultHost)) {
    throw new TypeError(
      `Any machine that can reach ${describeAddress(address)} could call this server, and plain TCP is not encrypted. ` +
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
