import type { MaybePromise } from "../../base/maybe-promise.js";

/**
 * Where an authorization server keeps codes, grants and refresh tokens. Keys contain no secret: they are names and digests. Processes
 * that serve the same resource share one.
 */
export interface AuthorizationStore {
  /** The value of a key; undefined if there is none or it has expired. */
  get(key: string): MaybePromise<string | undefined>;
  /** @param ttl seconds until the value expires */
  set(key: string, value: string, ttl: number): MaybePromise<void>;
  /** Removes a value and returns it. Of several calls at once, only one gets it: codes and refresh tokens are used once. */
  take(key: string): MaybePromise<string | undefined>;
}

/**
 * A store in the memory of this process.
 * @param maxValues of one kind: anonymous requests create some, so the oldest of the same kind makes room
 */
export function memoryAuthorizationStore(maxValues = 10_000): AuthorizationStore {
  const kinds = new Map<string, Map<string, { readonly value: string; readonly expiresAt: number }>>();
  const get = (key: string): string | undefined => {
    const kept = kinds.get(kindOfKey(key))?.get(key);
    return kept !== undefined && kept.expiresAt > Date.now() ? kept.value : undefined;
  };
  return {
    get,
    set(key, value, ttl) {
      const kind = kindOfKey(key);
      const values = kinds.get(kind) ?? new Map();
      kinds.set(kind, values);
      values.delete(key);
      const [oldest] = values.keys();
      if (values.size >= maxValues && oldest !== undefined) values.delete(oldest);
      values.set(key, { value, expiresAt: Date.now() + ttl * 1000 });
    },
    take(key) {
      const value = get(key);
      kinds.get(kindOfKey(key))?.delete(key);
      return value;
    },
  };
}

function kindOfKey(key: string): string {
  return key.slice(0, key.indexOf(":"));
}
