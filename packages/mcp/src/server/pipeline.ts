import { isPromise } from "../base/later.js";
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

/** Named places to look at what is called. What a hook throws, fails the call. */
export interface Hooks {
  onCall?(call: CalledOperation): void;
  onEnd?(call: CalledOperation, end: OperationEnd): void;
}

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
    this.#last.next = middleware((method, params, operation) => link.next(method, params, operation));
    this.#last = link;
  }
}

/** Runs operations with hooks around them. */
export function hooked(run: OperationCall, { onCall, onEnd }: Hooks): OperationCall {
  if (onCall === undefined && onEnd === undefined) return run;
  return (method, params, operation) => {
    const call = { method, params, operation };
    const succeed = (result: unknown): unknown => {
      onEnd?.(call, endOf(operation, result instanceof InputRequired ? { kind: "asked" } : { kind: "result", result }));
      return result;
    };
    const fail = (error: unknown): never => {
      onEnd?.(call, endOf(operation, error instanceof QuestionOpen ? { kind: "asked" } : { kind: "error", error }));
      throw error;
    };
    onCall?.(call);
    let result: unknown;
    try {
      result = run(method, params, operation);
    } catch (error) {
      return fail(error);
    }
    return isPromise(result) ? result.then(succeed, fail) : succeed(result);
  };
}

function endOf({ signal }: Operation, end: OperationEnd): OperationEnd {
  return signal.aborted ? { kind: "cancelled" } : end;
}
