import { base64url, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { audience, type Claims } from "./authorization-server.js";

/** A client with a key of its own. */
export interface ProvingClient {
  readonly cnf: { readonly jkt: string };
  /** A proof for a POST to the server with a token, but for the given claims and header. */
  prove(token: string, claims?: Claims, header?: Claims): Promise<string>;
}

export async function provingClient(): Promise<ProvingClient> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk: JWK = await exportJWK(publicKey);
  return {
    cnf: { jkt: await calculateJwkThumbprint(jwk) },
    async prove(token, claims = {}, header = {}) {
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
      const all: Record<string, unknown> = {
        jti: crypto.randomUUID(),
        htm: "POST",
        htu: audience,
        iat: Math.floor(Date.now() / 1000),
        ath: base64url.encode(new Uint8Array(hash)),
        ...claims,
      };
      const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const protectedHeader = { alg: "ES256", typ: "dpop+jwt", jwk, ...header };
      return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(privateKey);
    },
  };
}
