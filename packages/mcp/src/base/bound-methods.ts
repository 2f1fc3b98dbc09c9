import { markHandled } from "./maybe-promise.js";

/**
 * Makes the methods of a class work when they are destructured, as handlers do with their context: `({ notify }) => …`. A promise
 * that a method returns may be left un-awaited.
 *
 * Bound when they are read, and not in the constructor: most handlers use one method or none, and a context is made for every call.
 *
 * @param prototype changed; methods that it inherits are bound too if they are named
 * @param names default: every method of the prototype itself
 */
export function bindMethods(
  prototype: object,
  names: readonly string[] = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor"),
): void {
  for (const name of names) {
    const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    const method: unknown = getter === undefined ? Reflect.get(prototype, name) : undefined;
    if (typeof method !== "function") continue;
    Object.defineProperty(prototype, name, {
      get(this: object) {
        return (...args: unknown[]): unknown => markHandled(Reflect.apply(method, this, args));
      },
    });
  }
}
