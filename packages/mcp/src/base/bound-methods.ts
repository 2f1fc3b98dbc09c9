import { markHandled } from "./maybe-promise.js";

/**
 * Binds the methods of a class, so that they can be destructured, as handlers do with their context: `({ notify }) => …`. A
 * promise that a method returns need not be awaited.
 *
 * Methods are bound on access and not in the constructor: most handlers use one method or none, and every call has a context.
 *
 * @param prototype is changed; inherited methods are bound, too, if they are named
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
