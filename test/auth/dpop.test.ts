import { introspectionAuth, jwtAuth } from "@parlance/mcp/auth";
import type { HttpOptions } from "@parlance/mcp/http";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { createServer, type Server } from "@parlance/mcp/server";
import { base64url, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Asked, statelessCall } from "../http/server/asked.js";
import { type Door, doors } from "../http/server/handlers.js";
import type { Answer } from "../http/server/wire.js";
import { audience, type Claims, type Issuer, startIssuer } from "./authorization-server.js";
import { type ProvingClient, provingClient } from "./proving-client.js";

let issuer: Issuer;
let client: ProvingClient;
let other: ProvingClient;
beforeAll(async () => {
  issuer = await startIssuer();
  client = await provingClient();
  other = await provingClient();
});
afterAll(() => issuer[Symbol.asyncDispose]());

let reports: Report[] = [];
beforeEach(() => {
  reports = [];
});

type Auth = NonNullable<HttpOptions["auth"]>;
type JwtOptions = Partial<Parameters<typeof jwtAuth>[0]>;

const jwt = (options: JwtOptions = {}): Auth => jwtAuth({ issuer: issuer.url, audience, ...options });
function notes(): Server {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => auth?.subject ?? "");
  return server;
}
const whoami = (scheme: string, token: string, dpop?: string): Asked =>
  statelessCall("whoami", {}, { authorization: `${scheme} ${token}`, dpop });
const challengeOf = ({ status, headers }: Answer): string => `${status} ${headers.get("www-authenticate")}`;
const algs = 'algs="ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256"';
const metadata = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';

describe.each(doors)("DPoP on $on", ({ open }) => {
  const opened = (auth = jwt()): Promise<Door> => open(notes(), { auth, report: (each) => reports.push(each) });

  test("a token that is bound to a key is served with a proof of that key", async () => {
    await using door = await opened();
    const token = await issuer.token({ cnf: client.cnf });
    for (let time = 0; time < 2; time += 1) {
      expect((await door.ask(whoami("DPoP", token, await client.prove(token)))).status).toBe(200);
    }
  });

  test("a token that is bound to a key is refused as a bearer token", async () => {
    await using door = await opened();
    const token = await issuer.token({ cnf: client.cnf });
    for (const dpop of [undefined, await client.prove(token)]) {
      expect(challengeOf(await door.ask(whoami("Bearer", token, dpop)))).toMatch(/^401 Bearer error="invalid_token"/);
    }
    expect(reports.map(describeReport)).toEqual(Array(2).fill(expect.stringMatching(/without a DPoP proof/)));
  });

  test("a token that is not bound to a key is no DPoP token", async () => {
    await using door = await opened();
    const token = await issuer.token();
    const answer = await door.ask(whoami("DPoP", token, await client.prove(token)));
    expect(challengeOf(answer)).toMatch(/^401 Bearer error="invalid_token"/);
  });

  test("a token that is bound in another way is refused", async () => {
    await using door = await opened();
    for (const cnf of [{ "x5t#S256": "x" }, { ...client.cnf, "x5t#S256": "x" }, "x"]) {
      const token = await issuer.token({ cnf });
      expect((await door.ask(whoami("DPoP", token, await client.prove(token)))).status).toBe(401);
    }
  });

  test("a proof is used once, also when two requests come together", async () => {
    await using door = await opened();
    const token = await issuer.token({ cnf: client.cnf });
    const proof = await client.prove(token);
    const answers = await Promise.all([1, 2, 3].map(() => door.ask(whoami("DPoP", token, proof))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(challengeOf(answers.find(({ status }) => status === 401) as Answer)).toBe(
      `401 DPoP error="invalid_dpop_proof", error_description="the proof is not valid", ${metadata}, ${algs}`,
    );
  });

  test('"supported": challenges and metadata name both schemes', async () => {
    await using door = await opened(jwt({ dpop: "supported", scopes: ["notes"] }));
    const challenge = `${metadata}, scope="notes"`;
    expect(challengeOf(await door.ask(statelessCall("whoami", {})))).toBe(
      `401 Bearer ${challenge}, DPoP ${challenge}, ${algs}`,
    );
    expect((await door.ask(whoami("Bearer", await issuer.token()))).status).toBe(200);
    const { body } = await door.ask({ method: "GET", path: "/.well-known/oauth-protected-resource", headers: {} });
    expect(JSON.parse(body)).toMatchObject({ dpop_bound_access_tokens_required: false });
    expect(JSON.parse(body).dpop_signing_alg_values_supported).toContain("ES256");
  });

  test('"required": a bearer token is refused, and the challenge is for DPoP alone', async () => {
    await using door = await opened(jwt({ dpop: "required" }));
    const answer = await door.ask(whoami("Bearer", await issuer.token()));
    expect(challengeOf(answer)).toMatch(/^401 DPoP error="invalid_token"/);
    const { body } = await door.ask({ method: "GET", path: "/.well-known/oauth-protected-resource", headers: {} });
    expect(JSON.parse(body)).toMatchObject({ dpop_bound_access_tokens_required: true });
  });

  test('"nonce": a proof without the nonce of the server gets it', async () => {
    await using door = await opened(jwt({ dpop: "nonce" }));
    const token = await issuer.token({ cnf: client.cnf });
    const first = await door.ask(whoami("DPoP", token, await client.prove(token)));
    expect(challengeOf(first)).toMatch(/^401 DPoP error="use_dpop_nonce"/);
    const nonce = first.headers.get("dpop-nonce");
    expect((await door.ask(whoami("DPoP", token, await client.prove(token, { nonce })))).status).toBe(200);
    const guessed = await door.ask(whoami("DPoP", token, await client.prove(token, { nonce: "guessed" })));
    expect(guessed.headers.get("dpop-nonce")).toBe(nonce);
  });

  test("an introspected token is bound to its key too", async () => {
    const how = { issuer: issuer.url, audience, clientId: "notes", clientSecret: "secret" };
    await using door = await opened(introspectionAuth(how));
    issuer.introspected.set("opaque", { active: true, aud: audience, sub: "ada", cnf: client.cnf });
    expect((await door.ask(whoami("Bearer", "opaque"))).status).toBe(401);
    expect((await door.ask(whoami("DPoP", "opaque", await other.prove("opaque")))).status).toBe(401);
    expect((await door.ask(whoami("DPoP", "opaque", await client.prove("opaque")))).status).toBe(200);
  });
});

const [onNode] = doors;
const now = (): number => Math.floor(Date.now() / 1000);

describe("a proof is refused", () => {
  const wrong: readonly { what: string; claims?: () => Claims; reason: RegExp; header?: Claims }[] = [
    { what: "for another method", claims: () => ({ htm: "GET" }), reason: /htm/ },
    { what: "for another server", claims: () => ({ htu: "https://other.example/mcp" }), reason: /htu/ },
    { what: "for another path", claims: () => ({ htu: `${audience}/more` }), reason: /htu/ },
    { what: "for another token", claims: () => ({ ath: base64url.encode("x".repeat(32)) }), reason: /ath/ },
    { what: "without the hash of the token", claims: () => ({ ath: undefined }), reason: /"ath"/ },
    { what: "of two minutes ago", claims: () => ({ iat: now() - 120 }), reason: /"iat"/ },
    { what: "of the future", claims: () => ({ iat: now() + 60 }), reason: /"iat"/ },
    { what: "without a time", claims: () => ({ iat: undefined }), reason: /"iat"/ },
    { what: "without an identifier", claims: () => ({ jti: undefined }), reason: /"jti"/ },
    { what: "with a long identifier", claims: () => ({ jti: "x".repeat(1_000) }), reason: /jti/ },
    { what: "of another type", reason: /"typ"/, header: { typ: "JWT" } },
    { what: "without its key", reason: /jwk/, header: { jwk: undefined } },
    { what: "with a symmetric key", reason: /ERR|jwk|key/i, header: { jwk: { kty: "oct", k: "c2VjcmV0" } } },
  ];

  test.each(wrong)("$what", async ({ claims, reason, header }) => {
    if (onNode === undefined) throw new Error("there is a door on Node");
    await using door = await onNode.open(notes(), { auth: jwt(), report: (each) => reports.push(each) });
    const token = await issuer.token({ cnf: client.cnf });
    const answer = await door.ask(whoami("DPoP", token, await client.prove(token, claims?.(), header)));
    expect(challengeOf(answer)).toMatch(/^401 DPoP error="invalid_dpop_proof"/);
    expect(reports.map(describeReport)).toEqual([expect.stringMatching(reason)]);
  });

  test("of another key, with a private key, or none at all", async () => {
    if (onNode === undefined) throw new Error("there is a door on Node");
    await using door = await onNode.open(notes(), { auth: jwt(), report: (each) => reports.push(each) });
    const token = await issuer.token({ cnf: client.cnf });
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const withPrivate = await client.prove(token, {}, { jwk: await exportJWK(privateKey) });
    for (const proof of [await other.prove(token), withPrivate, "", "x", "a.b.c"]) {
      expect((await door.ask(whoami("DPoP", token, proof))).status).toBe(401);
    }
  });
});
