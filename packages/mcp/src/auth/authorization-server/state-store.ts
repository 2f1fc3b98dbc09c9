import type { MaybePromise } from "../../base/maybe-promise.js";
import { inHook } from "../../jsonrpc/hooks.js";

/**
 * Where an authorization server keeps codes, grants and refresh tokens. Keys contain no secret: they are names and digests. Processes
 * that serve the same resource share one.
 */
export interface AuthorizationStore {
  /** The value of a key; undefined if there is none or it has expired. */
  get(key: string): MaybePromise<string | undefined>;
  /** @param ttl seconds until the value expires */
  set(key: string, value: string, ttl: number): MaybePromise<void>;
  /**
   * Removes a value and returns it, in one step: of several calls at once, of any process, only one gets it. Codes and refresh tokens are
   * used once by it, also the refresh tokens of the provider.
   */
  take(key: string): MaybePromise<string | undefined>;
}

/** The store of an application, whose failures have the names of its methods. */
export function namedStore(store: AuthorizationStore): AuthorizationStore {
  return {
    get: (key) => inHook("AuthorizationStore.get", () => store.get(key)),
    set: (key, value, ttl) => inHook("AuthorizationStore.set", () => store.set(key, value, ttl)),
    take: (key) => inHook("AuthorizationStore.take", () => store.take(key)),
  };
}

/** The most characters of the values of one kind. A value of a stranger, such as a sign-in that was begun, may have 30,000. */
const maxCharacters = 64 * 1024 * 1024;

interface Kept {
  readonly value: string;
  readonly expiresAt: number;
}

/** Values in the order of their setting. */
class Kind {
  readonly #values = new Map<string, Kept>();
  readonly #maxValues: number;
  #characters = 0;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  get(key: string): string | undefined {
    const kept = this.#values.get(key);
    return kept !== undefined && kept.expiresAt > Date.now() ? kept.value : undefined;
  }

  set(key: string, kept: Kept): void {
    this.delete(key);
    this.#values.set(key, kept);
    this.#characters += kept.value.length;
    for (const [oldest] of this.#values) {
      if (this.#values.size <= this.#maxValues && this.#characters <= maxCharacters) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#characters -= this.#values.get(key)?.value.length ?? 0;
    this.#values.delete(key);
  }
}

/**
 * A store in the memory of this process. Anonymous requests create some values, so the oldest of the same kind make room.
 * @param maxValues of one kind
 */
export function memoryAuthorizationStore(maxValues = 10_000): AuthorizationStore {
  const kinds = new Map<string, Kind>();
  const kindOf = (key: string): Kind => {
    const name = key.slice(0, key.indexOf(":"));
    const kind = kinds.get(name) ?? new Kind(maxValues);
    kinds.set(name, kind);
    return kind;
  };
  return {
    get: (key) => kindOf(key).get(key),
    set: (key, value, ttl) => kindOf(key).set(key, { value, expiresAt: Date.now() + ttl * 1000 }),
    take(key) {
      const kind = kindOf(key);
      const value = kind.get(key);
      kind.delete(key);
      return value;
    },
  };
}
