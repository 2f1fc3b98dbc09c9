import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FromInterceptor, Interceptor, ToInterceptor } from "./interception.js";

/** An address that taps connect to. */
export interface ControlSocket {
  readonly path: string;
  close(): void;
}

/** The port on which a tap reports to the command. */
interface ReportPort {
  take(report: FromInterceptor): void;
  close(): void;
}

/**
 * Listens for the taps that this command starts: on a socket in a folder of mode 0700, or on a Windows pipe with a random name.
 * Messages are lines of JSON. Rejects if it cannot listen.
 */
export async function listenForTaps(onTap: (tap: Interceptor) => ReportPort): Promise<ControlSocket> {
  const folder = process.platform === "win32" ? undefined : mkdtempSync(join(tmpdir(), "parlance-")); // Mode 0700.
  const path = folder === undefined ? `\\\\.\\pipe\\parlance-${randomBytes(16).toString("hex")}` : join(folder, "tap");
  const server = createServer((socket) => {
    socket.on("error", () => undefined); // A close event follows.
    const port = onTap({ apply: (command) => void socket.write(lineOf(command)) });
    readLines<FromInterceptor>(socket, (report) => port.take(report));
    socket.on("close", () => port.close());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return {
    path,
    close() {
      server.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Connects an interceptor to the command that listens at a path. Returns the function that reports to the command. Without a
 * connection, no frame is held.
 */
export function connectToControl(path: string, interceptor: Interceptor): (report: FromInterceptor) => void {
  const socket = connect(path);
  readLines<ToInterceptor>(socket, (command) => interceptor.apply(command));
  socket.on("error", () => undefined); // A close event follows.
  socket.on("close", () => interceptor.apply({ do: "watch", isWatched: false }));
  socket.unref();
  return (report) => {
    if (socket.writable) socket.write(lineOf(report));
  };
}

/** A message as a line. `readline` also ends lines at the Unicode separators U+2028 and U+2029, which JSON need not escape. */
function lineOf(message: ToInterceptor | FromInterceptor): string {
  const text = JSON.stringify(message).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return `${text}\n`;
}

function readLines<Message>(socket: Socket, take: (message: Message) => void): void {
  // The other end is a command of the same version.
  createInterface({ input: socket }).on("line", (line) => take(JSON.parse(line) as Message));
}
