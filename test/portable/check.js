// Assertions of the cases in place of `node:assert`, which workers do not have, and `Promise.withResolvers`, which Node.js 20 does not have.

/**
 * Throws unless both values are equal by their members. Members that are undefined count as absent.
 *
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function equal(actual, expected) {
  if (!isEqual(actual, expected, false)) throw new Error(`expected ${show(expected)}, got ${show(actual)}`);
}

/**
 * Throws unless `actual` has every member of `expected`; it may have more.
 *
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function match(actual, expected) {
  if (!isEqual(actual, expected, true)) throw new Error(`expected at least ${show(expected)}, got ${show(actual)}`);
}

/**
 * Throws unless the promise rejects with an error that has the members of `expected`.
 *
 * @param {Promise<unknown>} promise
 * @param {object} expected
 */
export async function rejects(promise, expected) {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === "fulfilled") throw new Error(`expected a rejection, got ${show(outcome.value)}`);
  match(outcome.reason, expected);
}

/**
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {boolean} partial
 * @returns {boolean}
 */
function isEqual(actual, expected, partial) {
  if (!isObject(expected) || !isObject(actual)) return Object.is(actual, expected);
  if (Array.isArray(expected)) {
    const isSameLength = Array.isArray(actual) && actual.length === expected.length;
    return isSameLength && expected.every((item, index) => isEqual(actual[index], item, partial));
  }
  const names = Object.keys(partial ? expected : { ...actual, ...expected });
  return names.every((name) => isEqual(actual[name], expected[name], partial));
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null;
}

/** @param {unknown} value */
function show(value) {
  return value instanceof Error ? `${value}` : (JSON.stringify(value) ?? String(value));
}

/**
 * A promise with its `resolve`.
 *
 * @template T
 * @returns {{ promise: Promise<T>, resolve: (value: T) => void }}
 */
export function deferred() {
  /** @type {((value: T) => void) | undefined} */
  let resolve;
  /** @type {Promise<T>} */
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  if (resolve === undefined) throw new Error("the executor of a promise runs at once");
  return { promise, resolve };
}
