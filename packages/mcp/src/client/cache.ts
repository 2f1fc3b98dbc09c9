import type { MembersOf } from "../base/check-members.js";
import type { Clock } from "../base/clock.js";
import { isObject, type JsonObject } from "../base/json.js";
import { HookError, isInvalidParams, LocalError } from "../jsonrpc/errors.js";
import { atOnce } from "../jsonrpc/hooks.js";
import type { Params } from "../jsonrpc/message.js";
import { cacheable, notifications } from "../protocol/methods.js";
import { changingLists } from "../protocol/types/subscriptions.js";
import type { SessionCall } from "./session/client-session.js";
import { coversUri } from "./subscriptions/follow.js";

/** Limits of the response cache of a client. */
export interface CacheOptions {
  /** Maximum responses; the least recently used is dropped. Default: 200. */
  readonly entries?: number;
  /** Maximum characters of JSON in all, so that a server cannot fill the memory of the client. Default: 8,388,608. */
  readonly characters?: number;
  /**
   * The principal that calls are currently authorized as. Private responses of one principal are not returned to another.
   * Default: one principal. An error thrown here fails the call.
   */
  readonly principal?: () => string | undefined;
}

/** The members of `CacheOptions`, for the check of options. */
export const cacheMembers: MembersOf<CacheOptions> = {
  entries: ["number", "max", "size"],
  characters: ["number", "bytes", "maxBytes"],
  principal: ["function"],
};

interface Entry {
  readonly method: string;
  readonly uri: unknown;
  /** Parsed for each caller, so that no caller can modify the result of another. */
  readonly text: string;
  readonly endsAt: number;
}

/** The requests whose results each notification invalidates. */
const changed: ReadonlyMap<string, readonly string[]> = new Map(
  changingLists.map(({ notification, requests }) => [notification, requests]),
);

/**
 * Cached responses of one server, kept for their `ttlMs`, and dropped when the server notifies a change.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #options: Required<CacheOptions>;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #characters = 0;
  /** The number of changes. A response to a request from before a change may be stale. */
  #changes = 0;

  constructor(clock: Clock, options: CacheOptions = {}) {
    this.#clock = clock;
    this.#options = { entries: 200, characters: 8 * 1024 * 1024, principal: () => undefined, ...options };
  }

  /** Wraps a call: returns fresh responses from the cache, and stores those that may be cached. */
  around(call: SessionCall): SessionCall {
    return async (method, params = {}, options = {}) => {
      const keys = cacheable.has(method) ? keysOf(method, params, this.#principal()) : undefined;
      if (keys === undefined) return call(method, params, options);
      // A cancelled call fails in any case.
      const kept = options.signal?.aborted === true ? undefined : (this.#find(keys.own) ?? this.#find(keys.public));
      if (kept !== undefined) return JSON.parse(kept.text) as JsonObject; // Only objects are stored.
      const changes = this.#changes;
      try {
        const result = await call(method, params, options);
        if (changes === this.#changes) this.#keep(keys, { method, uri: params.uri }, result);
        return result;
      } catch (error) {
        // The list has changed, so its cached pages are stale.
        if (params.cursor !== undefined && isInvalidParams(error)) this.#drop((entry) => entry.method === method);
        throw error;
      }
    };
  }

  /** Drops the responses that a notification of the server invalidates. */
  invalidate(method: string, params: Params | undefined): void {
    const lists = changed.get(method);
    if (lists !== undefined) this.#drop((entry) => lists.includes(entry.method));
    if (method !== notifications.resourceUpdated || !isObject(params)) return;
    const { uri } = params;
    if (typeof uri === "string") this.#drop((entry) => typeof entry.uri === "string" && coversUri(entry.uri, uri));
  }

  /** Drops everything, because change notifications may have been missed. */
  clear(): void {
    this.#drop(() => true);
  }

  /** @throws LocalError `refused` if the option fails, because the principal of the call is then unknown */
  #principal(): string | undefined {
    try {
      return atOnce("cache.principal", this.#options.principal);
    } catch (cause) {
      throw cause instanceof HookError ? new LocalError("refused", cause.message, { cause }) : cause;
    }
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key, entry);
    if (this.#clock.now() >= entry.endsAt) return undefined;
    this.#set(key, entry);
    return entry;
  }

  #keep(keys: Keys, what: Pick<Entry, "method" | "uri">, result: JsonObject): void {
    const { resultType = "complete", ttlMs, cacheScope } = result;
    if (resultType !== "complete" || typeof ttlMs !== "number" || !(ttlMs > 0)) return;
    const text = JSON.stringify(result);
    if (text.length > this.#options.characters) return;
    const key = cacheScope === "public" ? keys.public : keys.own; // The default scope is private.
    for (const each of [keys.own, keys.public]) {
      const before = this.#entries.get(each);
      if (before !== undefined) this.#delete(each, before);
    }
    this.#set(key, { ...what, text, endsAt: this.#clock.now() + ttlMs });
    this.#makeRoom();
  }

  #makeRoom(): void {
    const { entries, characters } = this.#options;
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= entries && this.#characters <= characters) return;
      this.#delete(key, entry);
    }
  }

  #drop(isStale: (entry: Entry) => boolean): void {
    this.#changes += 1;
    for (const [key, entry] of this.#entries) if (isStale(entry)) this.#delete(key, entry);
  }

  #set(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#characters += key.length + entry.text.length;
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#characters -= key.length + entry.text.length;
  }
}

interface Keys {
  /** For the principal of the call. */
  readonly own: string;
  /** For all principals. */
  readonly public: string;
}

/** Undefined for a call that must not be cached: one with input responses, or whose params are not JSON. */
function keysOf(method: string, params: JsonObject, principal: string | undefined): Keys | undefined {
  const { _meta, inputResponses, requestState, ...affecting } = params;
  if (inputResponses !== undefined || requestState !== undefined) return undefined;
  try {
    const what = JSON.stringify([method, affecting]);
    return { own: JSON.stringify([what, principal ?? null]), public: JSON.stringify([what]) };
  } catch {
    return undefined; // Sending it fails with an error of its own.
  }
}
