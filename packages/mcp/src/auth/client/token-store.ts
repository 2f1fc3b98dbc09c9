import type { MaybePromise } from "../../base/maybe-promise.js";

/** What a client keeps of one authorization server for one resource. */
export interface StoredCredentials {
  /** The issuer that made them. Credentials of another one are never used. */
  readonly issuer: string;
  /** The resource that they are for. */
  readonly resource: string;
  /** A dynamic registration. */
  readonly client?: {
    /** The client id. */
    readonly id: string;
    /** The client secret, if the server issued one. */
    readonly secret?: string;
    /** When the secret expires, in seconds since 1970. Absent if it does not. */
    readonly secretExpiresAt?: number;
    /** The redirect URLs that were registered. */
    readonly redirectUris?: readonly string[];
    /** How the client authenticates at the token endpoint. */
    readonly authMethod?: string;
  };
  /** The tokens of the latest grant or refresh. */
  readonly tokens?: {
    /** The access token. */
    readonly accessToken: string;
    /** How it is presented. */
    readonly tokenType: "Bearer" | "DPoP";
    /** The refresh token, if the server issued one. */
    readonly refreshToken?: string;
    /** When the access token expires, in milliseconds since 1970, if the server says so. */
    readonly expiresAt?: number;
    /** The granted scopes. */
    readonly scopes: readonly string[];
  };
  /** The private key to which the tokens are bound, if they are. */
  readonly dpopKey?: JsonWebKey;
}

/** Where tokens are kept. */
export interface TokenStore {
  /** The credentials of a key. */
  get(key: string): MaybePromise<StoredCredentials | undefined>;
  /** Replaces the credentials of a key. */
  set(key: string, credentials: StoredCredentials): MaybePromise<void>;
  /** Removes the credentials of a key, if there are any. */
  delete(key: string): MaybePromise<void>;
  /** Runs one at a time per key among all who share the store: calls of one process, and processes of one file. */
  exclusive<T>(key: string, run: () => Promise<T>): Promise<T>;
}

/** Keeps tokens until the process ends. */
export function memoryTokenStore(): TokenStore {
  const entries = new Map<string, StoredCredentials>();
  const running = new Map<string, Promise<unknown>>();
  return {
    get: (key) => entries.get(key),
    set: (key, credentials) => void entries.set(key, credentials),
    delete: (key) => void entries.delete(key),
    exclusive(key, run) {
      const after = (running.get(key) ?? Promise.resolve()).then(run);
      running.set(
        key,
        after.catch(() => undefined),
      );
      return after;
    },
  };
}
