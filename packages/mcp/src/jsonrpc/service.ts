import { isObject, kindOf, pointerToken } from "../base/json.js";
import type { Call, Exchange } from "./call.js";
import { invalidParams, methodNotFound, type ParamsFault } from "./errors.js";
import type { Params } from "./message.js";

/** What a method of a service runs. With declared names it receives its params by name in either form. */
export type Handler<P> = (params: P, exchange: Exchange) => unknown;

export interface MethodOptions<P> {
  /** The names of the params, in the order of the positional form. */
  readonly params?: readonly (keyof P & string)[];
  /** Finds what is wrong with the params; any fault answers −32602 with `data.errors`. */
  readonly check?: (params: P) => readonly ParamsFault[];
}

export interface ServiceOptions {
  /** Name the available methods in the answer to an unknown one. Default: false. */
  readonly disclosesMethods?: boolean;
}

/** A table of methods that is a Call. */
export interface Service {
  /**
   * Adds a method and returns the service.
   * @throws TypeError for a name that is taken, or reserved because it begins with `rpc.`
   */
  method<P = Params | undefined>(name: string, handler: Handler<P>, options?: MethodOptions<P>): Service;
  /** The names, in the order of their addition. */
  readonly names: readonly string[];
  /** Runs a method, or throws −32601. */
  readonly call: Call;
}

type Entry = (params: Params | undefined, exchange: Exchange) => unknown;

/**
 * A service of plain JSON-RPC 2.0.
 *
 * @example
 * const service = createService().method("subtract", ({ minuend, subtrahend }) => minuend - subtrahend, {
 *   params: ["minuend", "subtrahend"],
 * });
 */
export function createService(options: ServiceOptions = {}): Service {
  const entries = new Map<string, Entry>(); // A Map: `__proto__` and `constructor` are just unknown names.
  const service: Service = {
    method(name, handler, methodOptions = {}) {
      if (name.startsWith("rpc."))
        throw new TypeError(`A method may not be called ${name}: names that begin with rpc. are reserved`);
      if (entries.has(name)) throw new TypeError(`The method ${name} is already defined`);
      entries.set(name, entryOf(name, handler, methodOptions));
      return service;
    },
    get names() {
      return [...entries.keys()];
    },
    call(method, params, exchange) {
      const entry = entries.get(method);
      if (entry === undefined)
        throw methodNotFound(method, options.disclosesMethods === true ? service.names : undefined);
      return entry(params, exchange);
    },
  };
  return service;
}

function entryOf<P>(name: string, handler: Handler<P>, { params: names, check }: MethodOptions<P>): Entry {
  // P is what the author says the params are; `check` is where the author makes it true.
  const run = handler as unknown as Entry;
  const checkParams = check as ((params: unknown) => readonly ParamsFault[]) | undefined;
  if (names === undefined && checkParams === undefined) return run;
  return (params, exchange) => {
    const named = names === undefined ? params : byName(name, names, params);
    const faults = checkParams?.(named) ?? [];
    if (faults.length > 0) throw invalidParams("Invalid params", faults);
    return run(named, exchange);
  };
}

/** Params by name, whichever way they came. Omitted ones are absent. */
function byName(method: string, names: readonly string[], params: Params | undefined): Params {
  if (params === undefined) return {};
  if (isObject(params)) return params;
  const positional = params as readonly unknown[];
  if (positional.length > names.length) {
    throw invalidParams("Invalid params", [
      {
        path: `/${names.length}`,
        message: `${method} takes ${names.length} params (${names.join(", ")}), got ${positional.length}`,
      },
    ]);
  }
  return Object.fromEntries(positional.map((value, index) => [names[index] as string, value]));
}

/** A fault of one param for `MethodOptions.check`: what was expected, and what came. */
export function expected(what: string, name: string | number, value: unknown): ParamsFault {
  return { path: `/${pointerToken(name)}`, message: `expected ${what}, got ${kindOf(value)}` };
}
