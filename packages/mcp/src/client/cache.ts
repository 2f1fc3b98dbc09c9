import type { MembersOf } from "../base/check-members.js";
import type { Clock } from "../base/clock.js";
import { codes, HookError, LocalError, RpcError } from "../jsonrpc/errors.js";
import { atOnce } from "../jsonrpc/hooks.js";
import type { Params } from "../jsonrpc/message.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { cacheable, notifications } from "../protocol/methods.js";
import { changingLists } from "../protocol/types/subscriptions.js";
import type { SessionCall } from "./session/client-session.js";
import { coversUri } from "./subscriptions/covers-uri.js";

/** Limits of the response cache of a client. */
export interface CacheOptions {
  /** How many. The one that was not used for longest makes room. Default: 200. */
  readonly entries?: number;
  /** How many characters of JSON in all: what a server lets a client keep must not fill its memory. Default: 8,388,608. */
  readonly characters?: number;
  /**
   * The principal that calls are currently authorized as. Private responses of one principal are not returned to another.
   * Default: one principal. An error thrown here fails the call.
   */
  readonly principal?: () => string | undefined;
}

/** The members of `CacheOptions`, for the check of options. */
export const cacheMembers: MembersOf<CacheOptions> = {
  entries: ["max", "size"],
  characters: ["bytes", "maxBytes"],
  principal: [],
};

interface Entry {
  readonly method: string;
  readonly uri: unknown;
  /** Parsed anew for everybody who gets it: nobody can alter what others see. */
  readonly text: string;
  readonly endsAt: number;
}

/** The requests whose results a notification makes stale. */
const changed: ReadonlyMap<string, readonly string[]> = new Map(
  changingLists.map(({ notification, requests }) => [notification, requests]),
);

/**
 * Answers of one server, kept for as long as it says, and dropped as soon as it tells of a change.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #options: Required<CacheOptions>;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #characters = 0;
  /** Counts what was dropped for a change: what was asked before one may be older than it. */
  #changes = 0;

  constructor(clock: Clock, options: CacheOptions = {}) {
    this.#clock = clock;
    this.#options = { entries: 200, characters: 8 * 1024 * 1024, principal: () => undefined, ...options };
  }

  /** Answers from what is kept where that is fresh, and keeps what may be kept. */
  around(call: SessionCall): SessionCall {
    return async (method, params = {}, options = {}) => {
      const keys = cacheable.has(method) ? keysOf(method, params, this.#principal()) : undefined;
      if (keys === undefined) return call(method, params, options);
      // A call that is not wanted any more fails, whatever is kept.
      const kept = options.signal?.aborted === true ? undefined : (this.#find(keys.own) ?? this.#find(keys.public));
      if (kept !== undefined) return JSON.parse(kept.text) as JsonObject; // What was kept was an object.
      const changes = this.#changes;
      try {
        const result = await call(method, params, options);
        if (changes === this.#changes) this.#keep(keys, { method, uri: params.uri }, result);
        return result;
      } catch (error) {
        // The pages before it belong to a list that is no more.
        if (params.cursor !== undefined && isInvalidParams(error)) this.#drop((entry) => entry.method === method);
        throw error;
      }
    };
  }

  /** Takes a notification of the server. */
  hear(method: string, params: Params | undefined): void {
    const lists = changed.get(method);
    if (lists !== undefined) this.#drop((entry) => lists.includes(entry.method));
    if (method !== notifications.resourceUpdated || !isObject(params)) return;
    const { uri } = params;
    if (typeof uri === "string") this.#drop((entry) => typeof entry.uri === "string" && coversUri(entry.uri, uri));
  }

  /** Drops everything: there may have been changes that nobody has told. */
  clear(): void {
    this.#drop(() => true);
  }

  /** @throws LocalError `refused`: with whose answers a call may be answered is not known then */
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
    const key = cacheScope === "public" ? keys.public : keys.own; // What says nothing of its scope is private.
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
  /** For whoever asks. */
  readonly own: string;
  /** For everybody. */
  readonly public: string;
}

/** Undefined for a call that is neither answered from what is kept nor kept: one that carries answers, or is no JSON. */
function keysOf(method: string, params: JsonObject, principal: string | undefined): Keys | undefined {
  const { _meta, inputResponses, requestState, ...affecting } = params;
  if (inputResponses !== undefined || requestState !== undefined) return undefined;
  try {
    const what = JSON.stringify([method, affecting]);
    return { own: JSON.stringify([what, principal ?? null]), public: JSON.stringify([what]) };
  } catch {
    return undefined; // It cannot be sent either, and says so there.
  }
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof RpcError && error.code === codes.invalidParams;
}
