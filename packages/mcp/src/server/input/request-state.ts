import { encodeBase64 } from "../../base/base64.js";
import { type MembersOf, requireCount } from "../../base/check-members.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { atOnce } from "../../jsonrpc/hooks.js";

/** Stores the state of a call between two rounds at the client, encrypted and authenticated. */
export interface StateSeal {
  /** @throws RangeError when the state is larger than a client must carry */
  seal(state: JsonObject, binding: Binding): Promise<string>;
  /**
   * The state; undefined if it was altered or opened before, has expired, or belongs to another call or another principal.
   * @throws Error when the store of used states fails
   */
  open(sealed: string, binding: Binding): Promise<JsonObject | undefined>;
}

/** The call that a sealed state is bound to. */
export interface Binding {
  /** The authenticated principal of the call; undefined for anonymous callers. */
  readonly principal: string | undefined;
  /** The method of the call. */
  readonly method: string;
  /** The params that must be the same when the call is made again. */
  readonly params: JsonObject;
}

export interface StateSealOptions {
  /**
   * Secrets of at least 16 characters. The first one seals, all of them open, so that a new one can be put in front.
   * Default: a random one, which only this process knows; several processes that share their clients need one in common.
   */
  readonly secrets?: readonly string[];
  /**
   * Remembers which states were used, so that each round of a call runs once. Processes that share secrets need one in common:
   * without it, each of them takes a state once. Default: `memoryRequestStates()`.
   */
  readonly store?: RequestStateStore;
  /** Milliseconds until a state expires. Default: 600,000. */
  readonly ttl?: number;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

/** The members of `StateSealOptions`, for the check of options. */
export const stateSealMembers: MembersOf<StateSealOptions> = {
  secrets: ["strings", "secret", "keys"],
  store: ["object"],
  ttl: ["number", "ttlMs"],
  now: ["function"],
};

/**
 * Remembers which request states were used. A state is claimed after it was opened and before the handler runs, and stays used
 * whatever becomes of the round.
 */
export interface RequestStateStore {
  /**
   * Claims a state: `true` for exactly one of all calls with this id, whichever process makes it; anything else refuses the round.
   * It must be atomic, and must answer `false` if it cannot know. What it throws or rejects with fails the call (−32603) and is
   * reported; the handler does not run.
   *
   * @param id 16 random characters of base64url
   * @param expires milliseconds since 1970: from then on the state does not open, and the id may be forgotten
   *
   * @example
   * const store: RequestStateStore = {
   *   use: async (id, expires) => (await redis.set(`state:${id}`, "", { NX: true, PXAT: expires })) === "OK",
   * };
   */
  use(id: string, expires: number): MaybePromise<boolean>;
}

/** Bounds of a store in memory. */
export interface MemoryRequestStatesOptions {
  /** Used states that are remembered, of about 100 bytes each. Default: 50,000. */
  readonly max?: number;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

/** Used states in memory. */
export type MemoryRequestStates = RequestStateStore & {
  /** The number of remembered states. */
  readonly size: number;
};

/**
 * Used states of one process. A client can fill it by answering many questions fast; then the oldest id is dropped, and states as
 * old as that are refused as if they had expired. So no state is ever taken twice, and calls that begin later are not shut out.
 *
 * @example
 * createServer({ name: "shop", version: "1.0.0", requestState: { store: memoryRequestStates({ max: 1_000 }) } });
 *
 * @throws RangeError for a `max` that is not a whole number above zero
 */
export function memoryRequestStates({
  max = 50_000,
  now = Date.now,
}: MemoryRequestStatesOptions = {}): MemoryRequestStates {
  requireCount("max", max);
  /** The end of each, in the order of their use, which is nearly the order in which they end. */
  const used = new Map<string, number>();
  /** The latest expiry of forgotten states: for states that expire by then, it is unknown whether they were used. */
  let unknownUntil = Number.NEGATIVE_INFINITY;
  return {
    get size() {
      return used.size;
    },
    use(id, expires) {
      for (const [oldest, end] of used) {
        if (end > now()) break;
        used.delete(oldest);
      }
      if (expires <= unknownUntil || used.has(id)) return false;
      const [oldest] = used;
      if (used.size >= max && oldest !== undefined) {
        used.delete(oldest[0]);
        unknownUntil = Math.max(unknownUntil, oldest[1]);
      }
      used.set(id, expires);
      return true;
    },
  };
}

const version = "v1.";
const ivBytes = 12;
const minSecretLength = 16;
/** A client has to send it back, and may have to put it into a header of its own log line: a small packet, not a database. */
const maxSealedLength = 8 * 1024;

/**
 * Seals with AES-GCM, so a state can neither be read nor altered; the binding is authenticated with it.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 *
 * @throws RangeError for a secret that is too short; TypeError for an invalid store
 */
export function createStateSeal(options: StateSealOptions = {}): StateSeal {
  const { secrets, ttl = 600_000, now: given = Date.now } = options;
  const now = (): number => atOnce("requestState.now", given);
  // From an environment where it is not set, a secret comes as undefined, whatever its type says.
  if (secrets?.length === 0 || secrets?.some((secret) => !(secret?.length >= minSecretLength))) {
    throw new RangeError(`requestState needs secrets of at least ${minSecretLength} characters`);
  }
  const store = options.store ?? memoryRequestStates({ now });
  if (typeof store.use !== "function") throw new TypeError("requestState.store needs a method use(id, expires)");
  let derived: readonly Promise<CryptoKey>[] | undefined;
  // With the first state, not before: while a worker's modules load, it has neither randomness nor digests.
  const keys = (): readonly Promise<CryptoKey>[] => {
    derived ??= (secrets ?? [randomSecret()]).map(deriveKey);
    return derived;
  };
  return {
    async seal(state, binding) {
      const [key] = keys();
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const text = new TextEncoder().encode(JSON.stringify({ expires: now() + ttl, state }));
      const sealed = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv, additionalData: bytesOf(binding) },
        (await key) as CryptoKey,
        text,
      );
      // The length of the vector is a multiple of three, so the two texts together are the Base64 of all bytes.
      const encoded = version + encodeBase64Url(iv) + encodeBase64Url(new Uint8Array(sealed));
      if (encoded.length > maxSealedLength) {
        throw new RangeError(
          `The state of a call is ${encoded.length} characters, at most ${maxSealedLength} can be kept: input responses and once() results count`,
        );
      }
      return encoded;
    },
    async open(sealed, binding) {
      const bytes =
        sealed.length <= maxSealedLength && sealed.startsWith(version)
          ? decodeBase64Url(sealed.slice(version.length))
          : undefined;
      if (bytes === undefined || bytes.length <= ivBytes) return undefined;
      for (const key of keys()) {
        const opened = await openWith(await key, bytes, bytesOf(binding));
        if (opened === undefined) continue;
        // The initialisation vector is a nonce of each state, and authenticated with it.
        const id = encodeBase64Url(bytes.subarray(0, ivBytes));
        return opened.expires > now() && (await isFirstUse(store, id, opened.expires)) ? opened.state : undefined;
      }
      return undefined;
    },
  };
}

/** Fails closed: a store that does not work, or says anything but `true`, has not said that the state is unused. */
async function isFirstUse(store: RequestStateStore, id: string, expires: number): Promise<boolean> {
  try {
    return (await store.use(id, expires)) === true;
  } catch (error) {
    throw new Error("requestState.store.use failed, so the round was not run", { cause: error });
  }
}

interface Opened {
  readonly expires: number;
  readonly state: JsonObject;
}

async function openWith(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  additionalData: Uint8Array<ArrayBuffer>,
): Promise<Opened | undefined> {
  try {
    const iv = bytes.subarray(0, ivBytes);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key, bytes.subarray(ivBytes));
    const opened: unknown = JSON.parse(new TextDecoder().decode(text));
    const whole = isObject(opened) && typeof opened.expires === "number" && isObject(opened.state);
    return whole ? (opened as unknown as Opened) : undefined;
  } catch {
    return undefined; // Not sealed with this key, or for another call: the client gets the same error for both.
  }
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return crypto.subtle.importKey("raw", digest, "AES-GCM", false, ["encrypt", "decrypt"]);
}

function randomSecret(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The same bytes for the same call, in whatever order a client writes the members of its params. */
function bytesOf({ principal, method, params }: Binding): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonical([principal ?? null, method, params]));
}

/** JSON with the members of every object in order of their names. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined; // Not base64: altered, or never ours.
  }
}
