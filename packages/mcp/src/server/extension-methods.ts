import { after } from "../base/later.js";
import type { Operation } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";
import { requireMetaKeys } from "../protocol/meta-keys.js";
import { isProtocolMethod } from "../protocol/methods.js";

/** Runs a method of an extension. The result is an object, or undefined for an empty one, and goes out as it is. */
export type MethodHandler = (params: JsonObject, operation: Operation) => unknown;

/** The methods that a server has beyond the protocol: no revision knows them, so each has them alike. */
export class ExtensionMethods {
  readonly #handlers = new Map<string, MethodHandler>();

  /** @throws TypeError for a name that is taken, or that is not for extensions */
  define(name: string, handler: MethodHandler): void {
    const fault = this.#handlers.has(name) ? "it was added already" : nameFault(name);
    if (fault !== undefined) throw new TypeError(`The method ${JSON.stringify(name)} cannot be added: ${fault}`);
    this.#handlers.set(name, (params, operation) =>
      after(handler(params, operation), (result) => {
        requireMetaKeys(result, name);
        return result;
      }),
    );
  }

  get(name: string): MethodHandler | undefined {
    return this.#handlers.get(name);
  }
}

function nameFault(name: string): string | undefined {
  if (name === "") return "its name is empty";
  if (name.startsWith("rpc.")) return "JSON-RPC keeps names that begin with rpc. to itself";
  return isProtocolMethod(name) ? "the protocol has it" : undefined;
}
