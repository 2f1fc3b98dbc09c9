/** A value or a promise of it. A value is used without waiting. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** True for anything with a `then` method. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/**
 * The same value. If it is a promise, a handler may leave it un-awaited: a rejection reaches those who await it, and does not
 * end the process.
 */
export function markHandled<T>(value: T): T {
  if (isPromise(value)) value.then(undefined, () => undefined);
  return value;
}

/** `next(value)`: at once when the value is here, later when it is a promise. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? (value as PromiseLike<T>).then(next) : next(value as T);
}
