import {
  base64url,
  type CryptoKey,
  EncryptJWT,
  errors,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  jwtDecrypt,
} from "jose";

/** The keys that sign and verify access tokens. */
export interface SigningKey {
  readonly algorithm: "ES256" | "HS256";
  readonly sign: CryptoKey;
  readonly verify: CryptoKey;
  /** The public key; undefined where only this server verifies its tokens. */
  readonly jwk: JWK | undefined;
}

/** A key pair in memory: resource servers elsewhere can verify its tokens. */
export async function newKeyPair(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: crypto.randomUUID(), alg: "ES256", use: "sig" };
  return { algorithm: "ES256", sign: privateKey, verify: publicKey, jwk };
}

const utf8 = new TextEncoder();

/** The keys that are derived from one secret, so that processes with the same secret understand each other. */
export class Secrets {
  readonly #root: Promise<CryptoKey>;
  readonly #sealing: Promise<Uint8Array<ArrayBuffer>>;

  constructor(secret: Uint8Array<ArrayBuffer>) {
    this.#root = crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
    this.#sealing = this.#derive("sealing");
    // A failure belongs to the request that needs the key.
    this.#sealing.catch(() => undefined);
  }

  /** A symmetric key for access tokens that only this server verifies. */
  async signingKey(): Promise<SigningKey> {
    const key = await hmacKey(await this.#derive("access tokens"));
    return { algorithm: "HS256", sign: key, verify: key, jwk: undefined };
  }

  /** The secret of a client, which need not be stored: it is derived from its id. */
  async clientSecret(clientId: string): Promise<string> {
    const key = await hmacKey(await this.#derive("client secrets"));
    return base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode(clientId))));
  }

  /**
   * Encrypts values for `open`.
   * @param kind distinguishes values of different use: one of another kind is not opened
   * @param ttl seconds; undefined for a value that does not expire
   */
  async seal(kind: string, value: JWTPayload, ttl?: number): Promise<string> {
    const sealed = new EncryptJWT(value).setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: kind });
    if (ttl !== undefined) sealed.setExpirationTime(Math.floor(Date.now() / 1000) + ttl);
    return sealed.encrypt(await this.#sealing);
  }

  /** The value; undefined for one that was not sealed here, for another use, or that has expired. */
  async open(kind: string, sealed: string): Promise<JWTPayload | undefined> {
    try {
      const options = { typ: kind, keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
      return (await jwtDecrypt(sealed, await this.#sealing, options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async #derive(purpose: string): Promise<Uint8Array<ArrayBuffer>> {
    const salt = new Uint8Array(32);
    const info = utf8.encode(`parlance authorization server: ${purpose}`);
    const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, await this.#root, 256);
    return new Uint8Array(bits);
  }
}

/** 256 random bits as text. */
export function randomSecret(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** The SHA-256 digest of a text: what a store keeps of a secret. */
export async function digest(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(text))));
}

function hmacKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
