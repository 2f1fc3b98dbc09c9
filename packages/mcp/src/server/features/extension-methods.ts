import { requireFunction } from "../../base/check-members.js";
import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { andThen } from "../../base/maybe-promise.js";
import { RawJson } from "../../jsonrpc/message.js";
import { methods } from "../../protocol/methods.js";
import { jsonFault, metaFault, unsendable } from "../../protocol/sendable.js";
import type { Operation } from "../servable.js";

/** The methods that features of this library serve. A method that only a new revision has can be added like one of an extension. */
const served: ReadonlySet<string> = new Set(Object.values(methods));

/** Runs a method of an extension. The result is an object, or undefined for an empty one, and goes out as it is. */
export type MethodHandler = (params: JsonObject, operation: Operation) => unknown;

/** The methods that a server has beyond the protocol: no revision knows them, so each has them alike. */
export class ExtensionMethods {
  readonly #handlers = new Map<string, MethodHandler>();

  /** @throws TypeError for a name that is taken, or that is not for extensions */
  define(name: string, handler: MethodHandler): void {
    const fault = this.#handlers.has(name) ? "it was added already" : nameFault(name);
    if (fault !== undefined) throw new TypeError(`The method ${JSON.stringify(name)} cannot be added: ${fault}`);
    requireFunction(`server.method ${name}`, handler, 'write server.method("acme/double", (params) => result)');
    this.#handlers.set(name, (params, operation) =>
      andThen(handler(params, operation), (result) => checkedResult(name, result)),
    );
  }

  get(name: string): MethodHandler | undefined {
    return this.#handlers.get(name);
  }
}

/** @throws TypeError for what cannot be sent */
function checkedResult(name: string, result: unknown): unknown {
  if (result === undefined || result instanceof RawJson) return result;
  const fault = isObject(result)
    ? (metaFault(result._meta, "/_meta") ?? jsonFault(result, ""))
    : { path: "", message: `must be an object, or undefined for an empty one, got ${kindOf(result)}` };
  if (fault !== undefined) throw unsendable(`The result of ${name}`, fault);
  return result;
}

function nameFault(name: string): string | undefined {
  if (name === "") return "its name is empty";
  if (name.startsWith("rpc.")) return "JSON-RPC keeps names that begin with rpc. to itself";
  return served.has(name) ? "the protocol has it" : undefined;
}
