import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { Worker } from "node:worker_threads";
import type { FromInterceptor, ToInterceptor } from "../../shared/intercept/interception.js";
import { packageVersion } from "../../shared/package-version.js";
import { missingAtEnd, Recorder } from "../../shared/recorder/recorder.js";
import { newRecordingPath, serverName } from "../../shared/recorder/recording-name.js";
import type { TapArguments } from "./arguments.js";
import { Relay } from "./relay.js";
import type { TapInterceptor } from "./tap-interceptor.js";
import { leaveLike, type StartedServer, sweep } from "./tapped-process.js";

/** The exit codes of shells for a missing command and for a file that is not executable. */
const notFound = 127;
const notExecutable = 126;

/** Runs the relay and the recorder until the server exits, and exits in the same way. */
export async function runTap(started: StartedServer, options: TapArguments): Promise<never> {
  // SIGXFSZ: a file has reached its size limit. By default the signal kills the process.
  if (process.platform !== "win32") process.on("SIGXFSZ", () => undefined);
  const stderr = standardOutput(2);
  const say = (text: string): void => {
    stderr.write(`parlance: ${text}\n`);
  };
  const recorder = recorderOf(options, say);
  const exit = (code: number): void => {
    if (started.server.pid !== undefined) sweep(started.server.pid, "SIGKILL");
    void recorder.end().then(() => process.exit(code)); // Never rejects.
  };
  // Loaded only for rules and pages, because the host waits for its server.
  const mayIntercept = options.faults !== undefined || options.ui === true || options.control !== undefined;
  const interceptor = mayIntercept
    ? new (await import("./tap-interceptor.js")).TapInterceptor(options.faults, { recorder, stderr, exit })
    : undefined;
  if (options.ui === true && interceptor !== undefined)
    void recorder.opened.then((path) => {
      interceptor.tell = showPage(path, options, interceptor, say);
    });
  if (options.control !== undefined && interceptor !== undefined) {
    const { connectToControl } = await import("../../shared/intercept/control-socket.js");
    interceptor.tell = connectToControl(options.control, interceptor);
  }
  const relay = new Relay({ ...started, recorder, stdout: standardOutput(1), stderr, interceptor });
  const ended = await relay.ended;
  if (ended instanceof Error) say(cannotStart(options.command, ended));
  const outcome = await recorder.end();
  if (outcome.unreported > 0) say(missingAtEnd(outcome));
  await relay.flushed();
  if (ended instanceof Error) process.exit(codeOf(ended) === "EACCES" ? notExecutable : notFound);
  return leaveLike(ended);
}

/** The start data of the thread that serves the page, and its messages to the tap. */
export interface PageThreadStart {
  readonly path: string;
  readonly breakpoints: readonly string[];
  readonly faults: readonly string[];
}

/** The messages of the thread of the page. */
export type FromPageThread = { readonly url: string } | { readonly says: string } | { readonly command: ToInterceptor };

/** Serves the page until this process ends. Returns the function that reports held frames to it. */
function showPage(
  path: string,
  { breakpoints = [], faults }: TapArguments,
  interceptor: TapInterceptor,
  say: (text: string) => void,
): (report: FromInterceptor) => void {
  const workerData: PageThreadStart = { path, breakpoints, faults: faults?.rules.map(({ text }) => text) ?? [] };
  const page = new Worker(new URL("../open/page-thread.js", import.meta.url), { workerData, execArgv: [] });
  page.on("message", (message: FromPageThread) => {
    if ("command" in message) interceptor.apply(message.command);
    else say("url" in message ? `open ${message.url}` : message.says);
  });
  page.on("error", (error) => {
    interceptor.apply({ do: "watch", isWatched: false });
    say(`the page cannot be shown: ${error.message}`);
  });
  page.unref();
  return (report) => page.postMessage(report);
}

function recorderOf(
  { command, args, record, name, verbose, launched }: TapArguments,
  say: (text: string) => void,
): Recorder {
  const path = record ?? newRecordingPath(name ?? serverName([command, ...args]), process.env);
  const envNames = Object.keys(process.env).sort();
  const recorder = new Recorder({
    path,
    header: {
      app: { name: "parlance", ver: packageVersion },
      mode: launched === true ? "launch" : "tap",
      server: { cmd: command, args, cwd: process.cwd(), envNames },
      host: { pid: process.ppid },
    },
    ...(verbose === true && { onViolations: (violations) => violations.forEach(say) }),
  });
  if (verbose === true) void recorder.opened.then((opened) => say(`the recording is ${opened}`));
  return recorder;
}

function cannotStart(command: string, error: Error): string {
  const why: Readonly<Record<string, string>> = {
    ENOENT: "there is no such command: check the name, PATH, and the folder it is started in",
    EACCES: "permission denied: check that it is a program and may be executed",
  };
  return `${JSON.stringify(command)} could not be started: ${why[codeOf(error) ?? ""] ?? error.message}`;
}

function codeOf(error: Error): string | undefined {
  return (error as NodeJS.ErrnoException).code; // `spawn` emits system errors.
}

/**
 * The stream of our stdout (1) or stderr (2). Node's own stream writes to a pipe synchronously, and blocks the process until the
 * reader has taken the bytes.
 */
function standardOutput(fd: 1 | 2): Writable {
  const stats = fstatSync(fd);
  if (process.platform === "win32" || !(stats.isFIFO() || stats.isSocket())) {
    return fd === 1 ? process.stdout : process.stderr;
  }
  return new Socket({ fd, readable: false, writable: true });
}
