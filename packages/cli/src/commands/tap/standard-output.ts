import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * The stream of our own stdout (1) or stderr (2). The one that Node makes writes to a pipe in one go, and stands still,
 * with everything else, until the reader has taken it.
 */
export function standardOutput(fd: 1 | 2): Writable {
  const stats = fstatSync(fd);
  if (process.platform === "win32" || !(stats.isFIFO() || stats.isSocket())) {
    return fd === 1 ? process.stdout : process.stderr;
  }
  return new Socket({ fd, readable: false, writable: true });
}
