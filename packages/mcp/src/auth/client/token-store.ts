import type { MaybePromise } from "../../base/maybe-promise.js";
import { inHook } from "../../jsonrpc/hooks.js";

/** The credentials of a client at one authorization server for one resource. */
export interface StoredCredentials {
  /** The issuer that made them. Credentials of another one are never used. */
  readonly issuer: string;
  /** The resource that they are for. */
  readonly resource: string;
  /** The client's registration, if it was made dynamically. */
  readonly client?: {
    /** The client id. */
    readonly id: string;
    /** The client secret of a confidential client. */
    readonly secret?: string;
    /** Seconds since 1970; 0 if it does not expire. */
    readonly secretExpiresAt?: number;
    /** The redirect URIs that it was registered with. */
    readonly redirectUris?: readonly string[];
    /** How the client authenticates at the token endpoint, such as `none` or `client_secret_basic`. */
    readonly authMethod?: string;
  };
  /** The tokens, if there are any. */
  readonly tokens?: {
    /** The access token. */
    readonly accessToken: string;
    /** The scheme of the `Authorization` header. */
    readonly tokenType: "Bearer" | "DPoP";
    /** The refresh token; undefined if the server gave none. */
    readonly refreshToken?: string;
    /** Milliseconds since 1970; undefined if the server did not say. */
    readonly expiresAt?: number;
    /** The scopes that were granted. */
    readonly scopes: readonly string[];
  };
  /** The private key to which the tokens are bound, if they are. */
  readonly dpopKey?: JsonWebKey;
}

/**
 * Where a client keeps its registrations and tokens. `memoryTokenStore` is the default; `fileTokenStore` of `@parlance/mcp/auth-node` keeps
 * them in a file. Implement it to keep them elsewhere.
 */
export interface TokenStore {
  /** The credentials under a key, or undefined. */
  get(key: string): MaybePromise<StoredCredentials | undefined>;
  /** Replaces the credentials under a key. */
  set(key: string, credentials: StoredCredentials): MaybePromise<void>;
  /** Removes the credentials under a key, if there are any. */
  delete(key: string): MaybePromise<void>;
  /**
   * Runs a function while no other one runs for the same key: not in this process, and not in another one that shares the store. A refresh
   * token may be used once, so refreshes must not overlap.
   */
  exclusive<T>(key: string, run: () => Promise<T>): Promise<T>;
}

/**
 * Keeps tokens in memory: they are gone when the process ends.
 *
 * @example
 * const store = memoryTokenStore();
 */
export function memoryTokenStore(): TokenStore {
  const kept = new Map<string, StoredCredentials>();
  return {
    get: (key) => kept.get(key),
    set: (key, credentials) => void kept.set(key, credentials),
    delete: (key) => void kept.delete(key),
    exclusive: exclusively(),
  };
}

/** The store of an application, whose failures have the names of its methods. */
export function namedTokenStore(store: TokenStore): TokenStore {
  return {
    get: (key) => inHook("TokenStore.get", () => store.get(key)),
    set: (key, credentials) => inHook("TokenStore.set", () => store.set(key, credentials)),
    delete: (key) => inHook("TokenStore.delete", () => store.delete(key)),
    async exclusive(key, run) {
      let own: { readonly error: unknown } | undefined;
      const kept = async (): Promise<Awaited<ReturnType<typeof run>>> => {
        try {
          return await run();
        } catch (error) {
          own = { error };
          throw error;
        }
      };
      try {
        return await inHook("TokenStore.exclusive", () => store.exclusive(key, kept));
      } catch (error) {
        // An error of the function is not a failure of the store.
        throw own === undefined ? error : own.error;
      }
    },
  };
}

/** Runs functions one after another for each key. */
export function exclusively(): TokenStore["exclusive"] {
  const last = new Map<string, Promise<unknown>>();
  return async (key, run) => {
    const running = (last.get(key) ?? Promise.resolve()).then(run, run);
    // The next one runs whatever becomes of this one.
    const ended = running.catch(() => undefined);
    last.set(key, ended);
    try {
      return await running;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
}
