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
