import { isObject, type JsonObject } from "../protocol/json.js";

/** Keeps what a call has to remember between two rounds with the client itself: nobody else can read or alter it. */
export interface StateSeal {
  /** @throws RangeError when the state is larger than a client must carry */
  seal(state: JsonObject, binding: Binding): Promise<string>;
  /** The state; undefined if it was altered, has expired, or belongs to another call or another principal. */
  open(sealed: string, binding: Binding): Promise<JsonObject | undefined>;
}

/** What a sealed state belongs to: it opens for nothing else. */
export interface Binding {
  /** Whoever is authorized to make the call; undefined where the carrier knows nobody. */
  readonly principal: string | undefined;
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
  /** Milliseconds until a state expires. Default: 600,000. */
  readonly ttl?: number;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
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
 * @throws RangeError for a secret that is too short
 */
export function createStateSeal(options: StateSealOptions = {}): StateSeal {
  const { secrets, ttl = 600_000, now = Date.now } = options;
  // From an environment where it is not set, a secret comes as undefined, whatever its type says.
  if (secrets?.length === 0 || secrets?.some((secret) => !(secret?.length >= minSecretLength))) {
    throw new RangeError(`A state seal needs secrets of at least ${minSecretLength} characters`);
  }
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
      const encoded = version + encodeBase64Url(concat(iv, new Uint8Array(sealed)));
      if (encoded.length > maxSealedLength) {
        throw new RangeError(
          `The state of a call is ${encoded.length} characters, at most ${maxSealedLength} can be kept: answers and once() results count`,
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
        if (opened !== undefined) return opened.expires > now() ? opened.state : undefined;
      }
      return undefined;
    },
  };
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
    return undefined; // Not sealed with this key, or not for this call: both mean the same to whoever sent it.
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

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function encodeBase64Url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined; // Not base64: altered, or never ours.
  }
}
