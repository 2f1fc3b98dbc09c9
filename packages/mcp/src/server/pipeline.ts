import { after, handled, isPromise } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import { guarded, inHook } from "../jsonrpc/hooks.js";
import { faultOf } from "../jsonrpc/report.js";
import { QuestionOpen } from "../lifecycle/replay.js";
import { InputRequired } from "../lifecycle/rounds.js";
import type { Operation, OperationCall } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";

/** Turns the running of operations into another: `Middleware`, where the lifecycle has already read who calls and how. */
export type OperationMiddleware = (next: OperationCall) => OperationCall;

/** An operation that was called. The same object at its begin and at its end. */
export interface CalledOperation {
  readonly method: string;
  readonly params: JsonObject;
  readonly operation: Operation;
}

/** How an operation has ended. A tool that failed has a result, whose `isError` says so. */
export type OperationEnd =
  | { readonly kind: "result"; readonly result: unknown }
  /** The client is asked for something, and may call again. */
  | { readonly kind: "asked" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "error"; readonly error: unknown };

/**
 * Named places to look at what is called. A promise is waited for. What a hook throws or rejects with fails the call, and is
 * reported under the name of the hook; an `RpcError` is what the client gets, and is not reported.
 */
export interface Hooks {
  /** Before an operation runs. One that is refused here has no `onEnd`. */
  onCall?(call: CalledOperation): unknown;
  /** Before an operation is answered. One that has failed already keeps its own error. */
  onEnd?(call: CalledOperation, end: OperationEnd): unknown;
}

/** The members of `Hooks`, for the check of options. */
export const hookMembers: MembersOf<Hooks> = { onCall: [], onEnd: [] };

interface Link {
  next: OperationCall;
}

/** Middlewares around a server: the first one that was added is the outermost. */
export class Pipeline {
  readonly #first: Link;
  #last: Link;

  constructor(end: OperationCall) {
    this.#first = { next: end };
    this.#last = this.#first;
  }

  readonly run: OperationCall = (method, params, operation) => this.#first.next(method, params, operation);

  /** Adds the innermost; each is made once, so it may keep something from call to call. */
  use(middleware: OperationMiddleware): void {
    const link: Link = { next: this.#last.next };
    this.#last.next = named(middleware, (method, params, operation) => link.next(method, params, operation));
    this.#last = link;
  }
}

/**
 * A middleware whose own failures have its name: what comes from behind it passes as it is. A call of `next` may be left
 * un-awaited; one that fails after the middleware has answered is reported, since no result can say so.
 */
function named(middleware: OperationMiddleware, next: OperationCall): OperationCall {
  const passed = new WeakSet<object>();
  const answered = new WeakSet<Operation>();
  const pass = (error: unknown): never => {
    if (typeof error === "object" && error !== null) passed.add(error);
    throw error;
  };
  const around = middleware((method, params, operation) => {
    const passOrReport = (error: unknown): never => {
      if (answered.has(operation)) operation.report?.(faultOf(method, error));
      return pass(error);
    };
    try {
      const result = next(method, params, operation);
      return isPromise(result) ? handled(result.then(undefined, passOrReport)) : result;
    } catch (error) {
      return pass(error);
    }
  });
  const fail = (error: unknown): never => {
    if (typeof error === "object" && error !== null && passed.has(error)) throw error;
    return inHook("middleware", () => {
      throw error;
    });
  };
  return (method, params, operation) => {
    const answer = (result: unknown): unknown => {
      answered.add(operation);
      return result;
    };
    try {
      const result = around(method, params, operation);
      return isPromise(result) ? result.then(answer, fail) : answer(result);
    } catch (error) {
      return fail(error);
    }
  };
}

/** Runs operations with hooks around them. */
export function hooked(run: OperationCall, { onCall, onEnd }: Hooks): OperationCall {
  if (onCall === undefined && onEnd === undefined) return run;
  return (method, params, operation) => {
    const call = { method, params, operation };
    const ended = (end: OperationEnd): unknown => {
      if (onEnd === undefined) return undefined;
      if (!operation.signal.aborted) return inHook("onEnd", () => onEnd(call, end));
      // Of a cancelled call there is no outcome that could tell of it.
      return guarded(
        "onEnd",
        () => onEnd(call, { kind: "cancelled" }),
        (fault) => operation.report?.(fault),
      );
    };
    const succeed = (result: unknown): unknown =>
      after(ended(result instanceof InputRequired ? { kind: "asked" } : { kind: "result", result }), () => result);
    const fail = (error: unknown): unknown => {
      const keep = (): never => {
        throw error;
      };
      const failedToo = (fault: unknown): never => {
        operation.report?.(faultOf("onEnd", fault));
        return keep();
      };
      let told: unknown;
      try {
        told = ended(error instanceof QuestionOpen ? { kind: "asked" } : { kind: "error", error });
      } catch (fault) {
        return failedToo(fault);
      }
      return isPromise(told) ? told.then(keep, failedToo) : keep();
    };
    const start = (): unknown => {
      let result: unknown;
      try {
        result = run(method, params, operation);
      } catch (error) {
        return fail(error);
      }
      return isPromise(result) ? result.then(succeed, fail) : succeed(result);
    };
    return onCall === undefined
      ? start()
      : after(
          inHook("onCall", () => onCall(call)),
          start,
        );
  };
}
