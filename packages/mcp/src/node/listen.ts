import { once } from "node:events";
import { chmodSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import {
  defaultHost,
  describeAddress,
  type ListenAddress,
  type ListenPath,
  requireListenable,
} from "./socket-address.js";

/**
 * Starts to listen. A socket file that nobody listens at any more, as a process leaves it that was killed, is replaced.
 * The file goes when the server closes.
 *
 * @throws TypeError for an address that must not be listened at; Error for one that is in use
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
  if (process.platform === "win32") return; // A named pipe is no file.
  try {
    chmodSync(path, mode); // At once, before the event loop can take a connection.
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
    throw Object.assign(inUse, { code: "EADDRINUSE" }); // What programs look at, as with any server of Node.
  }
}

/** True for the file of a socket that refuses connections. Any other file is left alone. */
async function isStale(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined); // What cannot be seen will be told by the attempt to listen.
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
