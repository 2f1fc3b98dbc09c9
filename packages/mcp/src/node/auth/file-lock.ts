import { randomUUID } from "node:crypto";
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning } from "../process/process-table.js";

/** Milliseconds between two signs of life of a holder. */
const heartbeat = 2_000;

/** Milliseconds without a sign of life after which a lock is abandoned: far more than a busy machine delays a timer. */
const abandonedAfter = 30_000;

/** Milliseconds after which a process that waits says so. */
const noticeAfter = 2_000;

/**
 * Runs a function while this process holds a lock file. The lock of a process that was killed is taken over: on this machine when the
 * process no longer exists, from another machine after 30 seconds without a sign of life. As long as the holder lives it is waited for: a
 * user may be signing in there. The user of this process sees which process that is.
 */
export async function withFileLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  await acquire(path);
  const alive = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeat).unref();
  try {
    return await run();
  } finally {
    clearInterval(alive);
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  const noticeAt = performance.now() + noticeAfter;
  let isNoticed = false;
  while (!(await tryCreate(path))) {
    if (await isAbandoned(path)) await breakLock(path);
    else if (performance.now() > noticeAt && !isNoticed) {
      isNoticed = true;
      process.stderr.write(await notice(path));
    } else await delay(20 + Math.random() * 30);
  }
}

async function notice(path: string): Promise<string> {
  const [pid = "", host = ""] = (await readFile(path, "utf8").catch(() => "")).split(" ");
  const holder = pid === "" ? "another process" : `process ${pid} of ${host}`;
  return `Waiting for ${holder}, which signs in or refreshes a token (${path})\n`;
}

/** Creates a lock file that names its holder; false if there is one. */
async function tryCreate(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid} ${hostname()} ${randomUUID()}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Two processes may find the same abandoned lock. Only one may remove it, and only while it is still that lock. */
async function breakLock(path: string): Promise<void> {
  const breaking = `${path}.break`;
  if (await tryCreate(breaking)) {
    try {
      if (await isAbandoned(path)) await rm(path, { force: true });
    } finally {
      await rm(breaking, { force: true });
    }
  } else if (await isAbandoned(breaking)) await rm(breaking, { force: true });
  else await delay(20);
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    if (Date.now() - mtimeMs > abandonedAfter) return true;
    const [pid = "", host] = text.split(" ");
    // A holder that has just created the file has not yet written its name.
    return host === hostname() && !isRunning(Number(pid));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** The code of an error of the operating system, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
