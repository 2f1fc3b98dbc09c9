import { isPromise } from "../base/maybe-promise.js";
import { HookError, LocalError, RpcError } from "./errors.js";
import { type Fault, faultOf, faultsToConsole, type Reporter } from "./report.js";

/**
 * Hooks are the functions that an application plugs in: `onCall`, `authenticate`, the methods of an event store, … One rule
 * holds for all of them: what a hook throws, and what its promise rejects with, fails the call that it belongs to and is
 * reported under the name of the hook. It never leaves a promise that rejects without a handler, which would end the process.
 *
 * `inHook` is for hooks that belong to a call, `atOnce` and `answered` for those that must return a value and not a promise,
 * `guarded` for those without a call.
 *
 * @throws HookError with the name and the cause; an `RpcError` or a `LocalError`, which the hook has chosen, as it is
 */
export function inHook<Result>(hook: string, run: () => Result): Result {
  const fail = (error: unknown): never => {
    const isChosen = error instanceof RpcError || error instanceof LocalError || error instanceof HookError;
    throw isChosen ? error : new HookError(hook, error);
  };
  try {
    const result = run();
    // A promise of the same, so the cast is right.
    return isPromise(result) ? (Promise.resolve(result).catch(fail) as Result) : result;
  } catch (error) {
    return fail(error);
  }
}

/** As `inHook`, for a hook whose result is used at once. @throws HookError for a promise as well */
export function atOnce<Result>(hook: string, run: () => Result): Result {
  return inHook(hook, () => {
    const result = run();
    if (!isPromise(result)) return result;
    result.then(undefined, () => undefined); // Whatever it comes to, it is an error here.
    throw new TypeError(`${hook} has returned a promise: it must return a value`);
  });
}

/** As `atOnce`, for a hook that can be done without: undefined, and a report, where it fails. */
export function answered<Result>(hook: string, run: () => Result, report: Reporter): Result | undefined {
  try {
    return atOnce(hook, run);
  } catch (error) {
    report(faultOf(hook, error));
    return undefined;
  }
}

/** As `atOnce`, for a hook that returns nothing: its failure, or undefined. */
export function failureOf(hook: string, run: () => unknown): Error | undefined {
  try {
    atOnce(hook, run);
    return undefined;
  } catch (error) {
    return error as Error; // `inHook` throws nothing else.
  }
}

/** Runs a hook without a call: what it throws or rejects with goes to `report`, and no further. */
export function guarded(hook: string, run: () => unknown, report: (fault: Fault) => void): void {
  const failed = (error: unknown): void => report(faultOf(hook, error));
  try {
    const result = run();
    if (isPromise(result)) result.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/**
 * The `report` option as a reporter that never throws: a listener that fails must not end the conversation it listens to. What
 * it was told of, and why it failed, goes to the console instead. Default: faults go to the console.
 */
export function reporterOf(report: ((report: Parameters<Reporter>[0]) => unknown) | undefined): Reporter {
  if (report === undefined || report === faultsToConsole) return faultsToConsole;
  return (each) =>
    guarded(
      "report",
      () => report(each),
      (fault) => {
        faultsToConsole(fault);
        faultsToConsole(each);
      },
    );
}
