import { calculateJwkThumbprint, importJWK } from "jose";
import {
  allowInsecureRequests,
  customFetch,
  DPoP,
  type DPoPHandle,
  generateKeyPair,
  isDPoPNonceError,
  protectedResourceRequest,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import type { Fetch } from "../../http/client/http-target.js";

/** The algorithm of our keys, which every implementation of DPoP has. */
export const proofAlgorithm = "ES256";

/** A key that tokens are bound to (RFC 9449): who copies a token cannot use it. */
export interface TokenKey {
  readonly proofs: DPoPHandle;
  /** The private key, to be kept with the tokens. */
  readonly jwk: JsonWebKey;
  /** The thumbprint, by which a token names it. */
  readonly thumbprint: string;
}

/** A key from the store, or a new one. */
export async function tokenKey(stored: JsonWebKey | undefined): Promise<TokenKey> {
  const jwk = stored ?? (await newKey());
  const { d: _private, key_ops: _operations, ...shared } = jwk;
  const [privateKey, publicKey] = await Promise.all([imported(jwk), imported(shared)]);
  return { proofs: DPoP({}, { privateKey, publicKey }), jwk, thumbprint: await calculateJwkThumbprint(shared) };
}

async function newKey(): Promise<JsonWebKey> {
  const { privateKey } = await generateKeyPair(proofAlgorithm, { extractable: true });
  return crypto.subtle.exportKey("jwk", privateKey);
}

async function imported({ key_ops: _operations, ...jwk }: JsonWebKey): Promise<CryptoKey> {
  const key = await importJWK(jwk, proofAlgorithm, { extractable: jwk.d === undefined });
  if (key instanceof Uint8Array) throw new TypeError("the stored DPoP key is no key pair");
  return key;
}

/**
 * Sends a request with a bound token and the proof of its key; once more with the nonce that the server requires.
 * https://www.rfc-editor.org/rfc/rfc9449#section-7
 */
export async function fetchWithProof(
  fetch: Fetch,
  url: URL,
  init: RequestInit,
  token: string,
  { proofs }: TokenKey,
): Promise<Response> {
  const { method = "GET" } = init;
  const send = (): Promise<Response> =>
    protectedResourceRequest(token, method, url, new Headers(init.headers), undefined, {
      DPoP: proofs,
      [allowInsecureRequests]: true,
      [customFetch]: (_url, { headers }) => fetch(url, { ...init, headers }),
    });
  try {
    return await withNonce(send);
  } catch (error) {
    if (error instanceof WWWAuthenticateChallengeError) return error.response;
    throw error;
  }
}

/** Sends a request with a proof once more, if the server requires a nonce in it: the library keeps the nonce. */
export async function withNonce<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (isDPoPNonceError(error)) return send();
    throw error;
  }
}
