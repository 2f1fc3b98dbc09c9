import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

/** Faults that an issuer can have. */
export interface Misbehaviour {
  /** The status of the key set, or `"long"` for one of 10 MB. */
  keys?: number | "long";
  /** The issuer in the metadata. */
  issuer?: string;
}

/** A key pair of an issuer. */
interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** Claims that differ from those of a valid token. Undefined leaves a claim out. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The part of an authorization server that a resource server talks to, on a real socket: metadata, a key set that rotates, and
 * introspection.
 */
export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly misbehaviour: Misbehaviour;
  /** The paths that were requested. */
  readonly requests: string[];
  /** The answers to introspection, by token. */
  readonly introspected: Map<string, Claims>;
  /** Signs a token that is valid for `audience`, but for the given claims and header. */
  token(claims?: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Signs with a new key from now on; the key set has the old one too. */
  rotate(): Promise<void>;
  readonly keys: readonly SigningKey[];
}

export const audience = "https://mcp.example/mcp";

async function newKey(kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

export async function startIssuer(): Promise<Issuer> {
  const keys = [await newKey("key-1")];
  const requests: string[] = [];
  const misbehaviour: Misbehaviour = {};
  const introspected = new Map<string, Claims>();
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    requests.push(path);
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (path === "/.well-known/oauth-authorization-server") {
      const introspection_endpoint = `${url}/introspect`;
      return send(200, { issuer: misbehaviour.issuer ?? url, jwks_uri: `${url}/jwks`, introspection_endpoint });
    }
    if (path === "/jwks") {
      if (misbehaviour.keys === "long") return send(200, { keys: [], padding: "x".repeat(10_000_000) });
      return send(misbehaviour.keys ?? 200, { keys: keys.map(({ jwk }) => jwk) });
    }
    if (path === "/introspect") {
      let body = "";
      for await (const part of request) body += part;
      return send(200, introspected.get(new URLSearchParams(body).get("token") ?? "") ?? { active: false });
    }
    return send(404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    misbehaviour,
    requests,
    introspected,
    keys,
    async token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: audience, sub: "ada", client_id: "app", exp: now + 600, scope: "notes", ...claims };
      const key = keys.at(-1);
      if (key === undefined) throw new Error("an issuer has a key");
      const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(payload)
        .setProtectedHeader({ alg: "ES256", kid: key.jwk.kid ?? "", typ: "at+jwt", ...header })
        .sign(key.privateKey);
    },
    async rotate() {
      keys.push(await newKey(`key-${keys.length + 1}`));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
