import type { MembersOf } from "../base/check-members.js";
import type { JsonObject } from "../base/json.js";
import { andThen, isPromise, markHandled } from "../base/maybe-promise.js";
import { methodNotFound } from "../jsonrpc/errors.js";
import { guarded, inHook } from "../jsonrpc/hooks.js";
import { faultOf } from "../jsonrpc/report.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
import { type Middleware, MiddlewareChain, wrapped } from "../session/middleware.js";
import { type ErrorCodes, failedTool, isFailedTool, specified } from "./error-codes.js";
import type { ExtensionMethods } from "./features/extension-methods.js";
import type { Feature, MethodCall } from "./features/feature.js";
import type { Tasks } from "./features/tasks/tasks.js";
import { errorResult, type Tools } from "./features/tools.js";
import { InputRequired } from "./input/input-request.js";
import { InputPending } from "./input/replay.js";
import type { Operation, OperationCall, Servable } from "./servable.js";

/** A called operation: the same object for `onCall` and `onEnd`. */
export interface CalledOperation {
  /** The method of the call. */
  readonly method: string;
  /** The params, in the newest shape. */
  readonly params: JsonObject;
  /** The call: its client, revision and signal. */
  readonly operation: Operation;
}

/** The end of an operation. A failed tool has a result with `isError`. */
export type OperationEnd =
  | {
      readonly kind: "result";
      /** The result, in the newest shape. */
      readonly result: unknown;
    }
  /** The operation requires input from the client, which may call again. */
  | { readonly kind: "asked" }
  | { readonly kind: "cancelled" }
  | {
      readonly kind: "error";
      /** The thrown value. */
      readonly error: unknown;
    };

/**
 * Hooks around calls. A returned promise is awaited. An error fails the call and is reported under the name of the hook; an
 * `RpcError` is sent to the client and not reported.
 */
export interface Hooks {
  /** Called before an operation runs. If it throws, `onEnd` is not called. Default: none. */
  onCall?(call: CalledOperation): unknown;
  /** Called before the response. An operation that has failed keeps its own error. Default: none. */
  onEnd?(call: CalledOperation, end: OperationEnd): unknown;
}

/** The members of `Hooks`, for the check of options. */
export const hookMembers: MembersOf<Hooks> = { onCall: ["function"], onEnd: ["function"] };

/** The parts of a server that its pipeline runs. */
export interface PipelineParts {
  readonly features: readonly Feature[];
  readonly extensions: ExtensionMethods;
  /** The capabilities that the server declares in addition to those of its definitions. */
  readonly declared: ServerCapabilities;
  readonly tools: Tools;
  readonly tasks: Tasks;
  readonly errorCodes: ErrorCodes;
  readonly hooks: Hooks;
}

/**
 * From an operation to its handler, from the outside in: tasks, hooks, error codes, middleware, the method table. Tasks come first:
 * hooks get the call itself, and its end is the end of the task. A result without a promise is returned without one, so no method
 * here is an async function.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #owners: ReadonlyMap<string, Feature>;
  /** The handlers that were looked up. A feature that is offered once stays offered, so they stay valid. */
  readonly #handlers = new Map<string, MethodCall>();
  /** Without hooks and with the codes of the specification, results and errors pass through unchanged. */
  readonly #isDirect: boolean;
  readonly #middleware: MiddlewareChain<Operation>;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#owners = new Map(parts.features.flatMap((each) => [...each.methods.keys()].map((name) => [name, each])));
    const { onCall, onEnd } = parts.hooks;
    this.#isDirect = onCall === undefined && onEnd === undefined && parts.errorCodes === "specification";
    this.#middleware = new MiddlewareChain((method, params, operation) => {
      const handle = this.#handlers.get(method) ?? this.#find(method);
      if (handle === undefined) throw methodNotFound(method);
      return handle(params, operation);
    });
  }

  readonly run: OperationCall = (method, params, operation) => {
    const { tools, tasks } = this.#parts;
    if (tools.offersTasks && tasks.handles(method, operation)) {
      tools.requireScopes(params, operation);
      return tasks.callTool(params, operation, this.#call);
    }
    return this.#isDirect ? this.#middleware.run(method, params, operation) : this.#call(method, params, operation);
  };

  readonly hasMethod: Servable["hasMethod"] = (method) =>
    this.#handlers.has(method) || this.#find(method) !== undefined;

  /** Undefined for an unknown method, and for one of a feature that offers nothing and is not declared. */
  #find(method: string): MethodCall | undefined {
    const { declared, extensions } = this.#parts;
    const owner = this.#owners.get(method);
    const isOffered = owner?.capabilities !== undefined || isAdvertised(methodCapabilities.get(method) ?? "", declared);
    const handle = (isOffered ? owner?.methods.get(method) : undefined) ?? extensions.get(method);
    if (handle !== undefined) this.#handlers.set(method, handle);
    return handle;
  }

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
    if (this.#parts.errorCodes === "specification") return this.#reject(call, thrown);
    if (!isFailedTool(call, thrown)) return this.#reject(call, specified(call, thrown));
    return this.#succeeded(call, errorResult([{ type: "text", text: thrown.message }]));
  }

  /** Fails the call with `error`, even if `onEnd` fails. */
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
    // A failure of the hook cannot change the outcome of a cancelled call.
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
  const around = wrapped(middleware, (method, params, operation) => {
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
