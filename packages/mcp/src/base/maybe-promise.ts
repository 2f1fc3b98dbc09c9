/** A value or a promise of it. A value is used synchronously. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** Whether a value has a `then` method. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/**
 * Returns the value. If it is a promise, it need not be awaited: a rejection is still passed to those who await it, but does not
 * end the process.
 */
export function markHandled<T>(value: T): T {
  if (isPromise(value)) value.then(undefined, () => undefined);
  return value;
}

/** `next(value)`: synchronously for a value, later for a promise. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? (value as PromiseLike<T>).then(next) : next(value as T);
}
