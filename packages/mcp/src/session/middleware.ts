import { type JsonObject, kindOf } from "../base/json.js";

/** Runs a call, with its params and result in the newest shape. */
interface RunCall<Context> {
  (method: string, params: JsonObject, context: Context): unknown;
  /** As every function has it. With a property, TypeScript does not compare `next` as a callback: see `Middleware`. */
  readonly name: string;
}

/**
 * Wraps every call of a server (`server.use`) or of a client (`client.use`): `(next) => (method, params, context) => result`, where
 * `next` has the same form. The result is `unknown`; `ResultByMethod` has its type for each method. `context` is the `Operation` on
 * a server, and the options of the call on a client; both have the `signal` of the call. A middleware passes it on to `next`.
 *
 * @example
 * const trace: Middleware = (next) => async (method, params, context) => {
 *   console.time(method);
 *   try {
 *     return await next(method, params, context);
 *   } finally {
 *     console.timeEnd(method);
 *   }
 * };
 */
export type Middleware<
  Context = {
    /** Aborted when the call is cancelled. */
    readonly signal?: AbortSignal;
  },
> = {
  // The type of a method, whose parameters are bivariant: so a middleware that reads only `signal` fits both ends.
  /** Returns a call that runs `next`, or something instead of it. */
  wrap(next: RunCall<Context>): RunCall<Context>;
}["wrap"];

/** A call with middleware around it; the middleware added first is the outermost. */
export class MiddlewareChain<Context> {
  /** Runs the outermost middleware. */
  run: RunCall<Context>;
  readonly #innermost: RunCall<Context>;
  #attach: (next: RunCall<Context>) => void;

  constructor(innermost: RunCall<Context>) {
    this.run = innermost;
    this.#innermost = innermost;
    this.#attach = (next) => {
      this.run = next;
    };
  }

  /** Whether there is no middleware. */
  get isEmpty(): boolean {
    return this.run === this.#innermost;
  }

  /** Adds the innermost middleware. The function is called once, so a middleware may keep state from call to call. */
  use(middleware: Middleware<Context>): void {
    let next = this.#innermost;
    this.#attach(wrapped(middleware, (method, params, context) => next(method, params, context)));
    this.#attach = (inner) => {
      next = inner;
    };
  }
}

/** The call that a middleware makes of `next`. @throws TypeError for a middleware that is written for another library */
export function wrapped<Context>(middleware: Middleware<Context>, next: RunCall<Context>): RunCall<Context> {
  const usage = "write use((next) => (method, params, context) => next(method, params, context))";
  if (middleware.length > 1)
    throw new TypeError(`use: a middleware has one parameter, got ${middleware.length}: ${usage}`);
  const call: unknown = middleware(next);
  if (typeof call === "function") return call as RunCall<Context>; // `Middleware` gives its parameters.
  throw new TypeError(`use: a middleware must return a function (method, params, context), got ${kindOf(call)}`);
}
