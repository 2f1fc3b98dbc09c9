import { exitCodes } from "./exit-codes.js";

/** Interrupts by the user or the system: the first one ends the program gracefully, the second immediately. */
export interface Interrupt {
  /** Aborted by the first interrupt: close everything, then exit. */
  readonly stop: AbortSignal;
  /** Aborted by the second interrupt: kill everything and exit. */
  readonly force: AbortSignal;
  /** The exit code once `stop` is aborted. */
  readonly exitCode: number;
  /** Why the output could not be written, for instance a full disk. A closed pipe is no failure. */
  readonly lostOutput: Error | undefined;
}

/**
 * Milliseconds in which a repeated signal counts as one: `npm start` forwards a signal that the terminal sends to the whole
 * group.
 */
const sameInterrupt = 300;

const signals = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated, SIGHUP: exitCodes.terminated };

/** Listens to signals, and to errors of the output. */
export function listenForInterrupt(): Interrupt {
  const stop = new AbortController();
  const force = new AbortController();
  let exitCode: number = exitCodes.clean;
  let lastAt = Number.NEGATIVE_INFINITY;
  const interrupt = (code: number): void => {
    const now = performance.now();
    if (now - lastAt < sameInterrupt) return;
    lastAt = now;
    if (force.signal.aborted) process.exit(code);
    if (stop.signal.aborted) force.abort();
    exitCode = code;
    stop.abort();
  };
  for (const [signal, code] of Object.entries(signals)) process.on(signal, () => interrupt(code));
  let lostOutput: Error | undefined;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has exited, as in `parlance talk … | head`: not a failure.
    if (error.code !== "EPIPE") lostOutput ??= error;
    stop.abort();
  });
  process.stderr.on("error", () => undefined); // There is no output to report it.
  return {
    stop: stop.signal,
    force: force.signal,
    get exitCode() {
      return exitCode;
    },
    get lostOutput() {
      return lostOutput;
    },
  };
}

/** Promises by signal: one listener per signal, because Node warns of a leak when a signal has more than ten. */
const abortions = new WeakMap<AbortSignal, Promise<undefined>>();

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  const known = abortions.get(signal);
  if (known !== undefined) return known;
  const abortion = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  abortions.set(signal, abortion);
  return abortion;
}
