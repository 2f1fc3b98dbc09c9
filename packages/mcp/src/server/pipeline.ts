import type { MembersOf } from "../base/check-members.js";
import { andThen, isPromise, markHandled } from "../base/maybe-promise.js";
import { methodNotFound } from "../jsonrpc/errors.js";
import { guarded, inHook } from "../jsonrpc/hooks.js";
import { faultOf } from "../jsonrpc/report.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import { type Middleware, MiddlewareChain } from "../session/middleware.js";
import { type ErrorCodes, failedTool, specified } from "./error-codes.js";
import type { MethodCall } from "./features/feature.js";
import type { Tasks } from "./features/tasks/tasks.js";
import { errorResult } from "./features/tool-result.js";
import { InputPending } from "./input/replay.js";
import { InputRequired } from "./input/rounds.js";
import type { Operation, OperationCall } from "./servable.js";
import { ToolError } from "./tool-error.js";

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
 * Hooks around calls. A returned promise is awaited. An error fails the call and is reported under the name of the hook; an
 * `RpcError` is sent to the client and not reported.
 */
export interface Hooks {
  /** Before an operation runs. One that is refused here has no `onEnd`. */
  onCall?(call: CalledOperation): unknown;
  /** Before an operation is answered. One that has failed already keeps its own error. */
  onEnd?(call: CalledOperation, end: OperationEnd): unknown;
}

/** The members of `Hooks`, for the check of options. */
export const hookMembers: MembersOf<Hooks> = { onCall: [], onEnd: [] };

/** What a pipeline runs, and how. */
export interface PipelineParts {
  /** The method table. */
  find(method: string): MethodCall | undefined;
  readonly tasks: Tasks;
  readonly errorCodes: ErrorCodes;
  readonly hooks: Hooks;
}

/**
 * Everything between the lifecycle and a handler, from the outside in: tasks, hooks, error codes, middlewares, the method table.
 * Tasks come first: what hooks see is the call itself, and its end is that of the task. A result that is there at once is given at
 * once, so nothing here is an async function.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #middleware: MiddlewareChain<Operation>;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#middleware = new MiddlewareChain((method, params, operation) => {
      const handle = parts.find(method);
      if (handle === undefined) throw methodNotFound(method);
      return handle(params, operation);
    });
  }

  readonly run: OperationCall = (method, params, operation) => {
    const { tasks, hooks } = this.#parts;
    if (method === methods.callTool && tasks.areOffered(operation))
      return tasks.callTool(params, operation, this.#call);
    return hooks.onCall === undefined
      ? this.#handle({ method, params, operation })
      : this.#call(method, params, operation);
  };

  /** Adds the innermost middleware. */
  use(middleware: Middleware<Operation>): void {
    this.#middleware.use((next) => named(middleware, next));
  }

  readonly #call: OperationCall = (method, params, operation) => {
    const { onCall } = this.#parts.hooks;
    const call = { method, params, operation };
    if (onCall === undefined) return this.#handle(call);
    return andThen(
      inHook("onCall", () => onCall(call)),
      () => this.#handle(call),
    );
  };

  #handle(call: CalledOperation): unknown {
    let result: unknown;
    try {
      result = this.#middleware.run(call.method, call.params, call.operation);
    } catch (error) {
      return this.#failed(call, error);
    }
    if (!isPromise(result)) return this.#succeeded(call, result);
    return result.then(
      (value) => this.#succeeded(call, value),
      (error: unknown) => this.#failed(call, error),
    );
  }

  #succeeded(call: CalledOperation, result: unknown): unknown {
    const { errorCodes, hooks } = this.#parts;
    const failure = errorCodes === "catalogue" ? failedTool(call, result) : undefined;
    if (failure !== undefined) return this.#reject(call, failure);
    if (hooks.onEnd === undefined) return result;
    return andThen(
      this.#ended(call, result instanceof InputRequired ? { kind: "asked" } : { kind: "result", result }),
      () => result,
    );
  }

  #failed(call: CalledOperation, thrown: unknown): unknown {
    const error = this.#parts.errorCodes === "catalogue" ? specified(call, thrown) : thrown;
    const isResult = error !== thrown && error instanceof ToolError;
    return isResult ? this.#succeeded(call, errorResult(error.content)) : this.#reject(call, error);
  }

  /** Fails the call with `error`, whatever `onEnd` makes of it. */
  #reject(call: CalledOperation, error: unknown): unknown {
    const keep = (): never => {
      throw error;
    };
    const report = (fault: unknown): never => {
      call.operation.report?.(faultOf("onEnd", fault));
      return keep();
    };
    let told: unknown;
    try {
      told = this.#ended(call, error instanceof InputPending ? { kind: "asked" } : { kind: "error", error });
    } catch (fault) {
      return report(fault);
    }
    return isPromise(told) ? told.then(keep, report) : keep();
  }

  #ended(call: CalledOperation, end: OperationEnd): unknown {
    const { onEnd } = this.#parts.hooks;
    if (onEnd === undefined) return undefined;
    const { signal, report } = call.operation;
    if (!signal.aborted) return inHook("onEnd", () => onEnd(call, end));
    // A cancelled call has no outcome that a failure of the hook could change.
    return guarded(
      "onEnd",
      () => onEnd(call, { kind: "cancelled" }),
      (fault) => report?.(fault),
    );
  }
}

/**
 * Reports errors of the middleware itself under the name `middleware`; errors of `next` pass unchanged. The result of `next` may
 * be left un-awaited; if it rejects after the middleware has returned, the error is reported, because no response can have it.
 */
function named(middleware: Middleware<Operation>, next: OperationCall): OperationCall {
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
      return isPromise(result) ? markHandled(result.then(undefined, passOrReport)) : result;
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
