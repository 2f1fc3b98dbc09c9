import { jwtAuth } from "@parlance/mcp/auth";
import { createServer, type Server } from "@parlance/mcp/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Asked,
  type AskedHeaders,
  sessionGet,
  sessionPost,
  statelessPost,
  written,
} from "../http/server/asked.js";
import { openSession } from "../http/server/handlers.js";
import { type Site, site, until } from "../http/server/site.js";
import type { Answer } from "../http/server/wire.js";
import { type Frame, initialize, initialized, modern, notification, parse, request } from "../testing/frames.js";
import { audience, type Claims, type Issuer, startIssuer } from "./authorization-server.js";
import { type ProvingClient, provingClient } from "./proving-client.js";

/*
 * Scenarios on the authorization of a server, named after those that the conformance suite of the protocol has in its repository and
 * not yet in a release: server-scope-challenge, auth-token-audience, session-isolation, and dpop. Each runs over real sockets, in sessions
 * of the handshake revisions and in the stateless revision. The checks are ours: of the suite only the names are known.
 */

let issuer: Issuer;
let client: ProvingClient;
let other: ProvingClient;
beforeAll(async () => {
  issuer = await startIssuer();
  client = await provingClient();
  other = await provingClient();
});
afterAll(() => issuer[Symbol.asyncDispose]());

type JwtOptions = Partial<Parameters<typeof jwtAuth>[0]>;

const serve = (server: Server, options: JwtOptions = {}): Promise<Site> =>
  site(server, { auth: jwtAuth({ issuer: issuer.url, audience, ...options }), report: () => undefined });
const bearer = async (claims?: Claims): Promise<string> => `Bearer ${await issuer.token(claims)}`;

/** A server whose tools note that they ran. */
function notes(ran: string[] = []): Server {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, () => `${ran.push("read")}`);
  server.tool("erase", { scopes: ["notes:write", "notes:erase"] }, () => `${ran.push("erase")}`);
  server.tool("confirm", {}, async (_, ctx) => {
    ran.push("confirm");
    const form = { type: "object", properties: { sure: { type: "boolean" } } } as const;
    const response = await ctx.elicit("Sure?", form);
    return `${ctx.auth?.subject}: ${JSON.stringify(response)}`;
  });
  return server;
}

const metadataUrl = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

interface Challenge {
  readonly status: number;
  readonly scheme: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

function challengeOf({ status, headers }: Answer): Challenge {
  const text = headers.get("www-authenticate") ?? "";
  const parameters = Array.from(text.matchAll(/(\w+)="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]);
  return { status, scheme: text.split(" ")[0], parameters: Object.fromEntries(parameters) };
}

/** Makes a request with the given headers, where the session, if there is one, was opened by its owner. */
type Ask = (method: string, params: object, headers: AskedHeaders) => Promise<Answer>;

const inSession =
  (version: string) =>
  async (at: Site, owner: AskedHeaders): Promise<Ask> => {
    const session = await openSession(at, version, owner);
    return (method, params, headers) => at.ask(sessionPost(session, request(7, method, params), headers));
  };

const eras: readonly (readonly [era: string, open: (at: Site, owner: AskedHeaders) => Promise<Ask>])[] = [
  ["2025-03-26", inSession("2025-03-26")],
  ["2025-06-18", inSession("2025-06-18")],
  ["2025-11-25", inSession("2025-11-25")],
  [modern, async (at) => (method, params, headers) => at.ask(statelessPost(method, params, headers))],
];

const read = ["tools/call", { name: "read", arguments: {} }] as const;
const erase = ["tools/call", { name: "erase", arguments: {} }] as const;

/** The response in JSON, or at the end of a stream. */
const frameOf = ({ body }: Answer): Frame => parse(/^data: (?<data>\{.*"id".*)$/m.exec(body)?.groups?.data ?? body);

describe.each(eras)("%s: server-scope-challenge", (_era, open) => {
  const scopes = ["notes"];

  test("unauthenticated-challenge: 401 names the metadata and the scopes that every request needs", async () => {
    await using at = await serve(notes(), { scopes });
    const ask = await open(at, { authorization: await bearer() });
    const { status, scheme, parameters } = challengeOf(await ask(...read, {}));
    expect([status, scheme]).toEqual([401, "Bearer"]);
    expect(parameters).toEqual({ resource_metadata: metadataUrl, scope: "notes" });
  });

  test("insufficient-scope-status: 403 with insufficient_scope, and the tool does not run", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { scopes });
    const authorization = await bearer();
    const ask = await open(at, { authorization });
    const { status, scheme, parameters } = challengeOf(await ask(...erase, { authorization }));
    expect([status, scheme, parameters.error]).toEqual([403, "Bearer", "insufficient_scope"]);
    expect(parameters.resource_metadata).toBe(metadataUrl);
    expect(ran).toEqual([]);
  });

  test("challenge-is-complete: a token with exactly the scopes of one challenge is served", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { scopes });
    const authorization = await bearer();
    const ask = await open(at, { authorization });
    const { scope = "" } = challengeOf(await ask(...erase, { authorization })).parameters;
    expect(scope.split(" ").sort()).toEqual(["notes", "notes:erase", "notes:write"]);
    expect((await ask(...erase, { authorization: await bearer({ scope }) })).status).toBe(200);
    expect(ran).toEqual(["erase"]);
  });

  test("partial-scopes-are-not-enough: one of two scopes, a prefix, and another case are challenged", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { scopes });
    const ask = await open(at, { authorization: await bearer() });
    for (const granted of ["notes notes:write", "notes notes:write notes:era", "notes NOTES:WRITE NOTES:ERASE"]) {
      const answer = await ask(...erase, { authorization: await bearer({ scope: granted }) });
      expect(challengeOf(answer), granted).toMatchObject({ status: 403, parameters: { error: "insufficient_scope" } });
    }
    expect(ran).toEqual([]);
  });

  test("other-operations-go-on: what needs no more scopes is served before and after the challenge", async () => {
    await using at = await serve(notes(), { scopes });
    const authorization = await bearer();
    const ask = await open(at, { authorization });
    for (const [method, params] of [read, ["tools/list", {}], erase, read] as const) {
      const { status } = await ask(method, params, { authorization });
      expect(status, method).toBe(params === erase[1] ? 403 : 200);
    }
  });

  test("metadata-lists-scopes: every scope of a challenge is in the metadata", async () => {
    await using at = await serve(notes(), { scopes });
    const { body } = await at.ask({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
    expect(JSON.parse(body)).toMatchObject({ scopes_supported: ["notes", "notes:write", "notes:erase"] });
  });
});

describe.each(eras)("%s: auth-token-audience", (_era, open) => {
  const accepted: readonly (readonly [what: string, aud: unknown])[] = [
    ["the URL of the server", audience],
    ["several, of which one is the server", ["https://other.example/mcp", audience]],
  ];

  test.each(accepted)("audience-accepted: %s", async (_what, aud) => {
    await using at = await serve(notes());
    const authorization = await bearer({ aud });
    const ask = await open(at, { authorization });
    expect((await ask(...read, { authorization })).status).toBe(200);
  });

  const refused: readonly (readonly [what: string, aud: unknown])[] = [
    ["another server", "https://other.example/mcp"],
    ["another path of the host", "https://mcp.example/other"],
    ["the host alone", "https://mcp.example"],
    ["a path below", `${audience}/below`],
    ["a slash more", `${audience}/`],
    ["another scheme", "http://mcp.example/mcp"],
    ["another port", "https://mcp.example:8443/mcp"],
    ["another case of the path", "https://mcp.example/MCP"],
    ["a subdomain", "https://a.mcp.example/mcp"],
    ["the client, as in an ID token", "app"],
    ["an empty text", ""],
    ["an empty list", []],
    ["a list of others", ["https://a.example", "https://b.example"]],
    ["none", undefined],
  ];

  test.each(refused)("audience-refused: 401 invalid_token for %s, and the tool does not run", async (_what, aud) => {
    const ran: string[] = [];
    await using at = await serve(notes(ran));
    const ask = await open(at, { authorization: await bearer() });
    const { status, parameters } = challengeOf(await ask(...read, { authorization: await bearer({ aud }) }));
    expect([status, parameters.error, parameters.resource_metadata]).toEqual([401, "invalid_token", metadataUrl]);
    expect(ran).toEqual([]);
    // What went before does not suffer.
    expect((await ask(...read, { authorization: await bearer() })).status).toBe(200);
  });

  test("audience-is-resource: the metadata names the audience that tokens must have", async () => {
    await using at = await serve(notes());
    const { body } = await at.ask({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
    expect(JSON.parse(body).resource).toBe(audience);
  });

  test("audience-before-session: a token for another server opens no session, and learns of none", async () => {
    await using at = await serve(notes());
    const authorization = await bearer({ aud: "https://other.example/mcp" });
    const opened = await at.ask({ headers: { authorization }, body: initialize("2025-11-25") });
    expect([opened.status, opened.headers.has("mcp-session-id")]).toEqual([401, false]);
    const unknown = await at.ask(sessionPost("unknown", request(1, "ping"), { authorization }));
    expect(unknown.status).toBe(401);
  });
});

describe.each(["2025-03-26", "2025-06-18", "2025-11-25"])("%s: session-isolation", (version) => {
  const elicits = { elicitation: {} };

  test("id-is-random: ids are long, of visible ASCII, and different", async () => {
    await using at = await serve(notes());
    const authorization = await bearer();
    const ids = await Promise.all(Array.from({ length: 20 }, () => openSession(at, version, { authorization })));
    expect(new Set(ids).size).toBe(20);
    // 128 bits in base64 are 22 characters, in hexadecimal digits 32.
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{22,}$/);
  });

  test("id-is-no-authentication: every request of a session needs a token", async () => {
    await using at = await serve(notes());
    const session = await openSession(at, version, { authorization: await bearer() });
    const all: readonly Asked[] = [
      sessionPost(session, request(1, "ping")),
      sessionGet(session),
      { method: "DELETE", headers: { "mcp-session-id": session } },
    ];
    for (const asked of all) expect((await at.ask(asked)).status).toBe(401);
    const expired = await bearer({ exp: Math.floor(Date.now() / 1000) - 120 });
    expect((await at.ask(sessionPost(session, request(1, "ping"), { authorization: expired }))).status).toBe(401);
  });

  test("requests-of-others: 404, as for an id that does not exist", async () => {
    await using at = await serve(notes());
    const session = await openSession(at, version, { authorization: await bearer() });
    const authorization = await bearer({ sub: "mallory" });
    for (const body of [request(1, "ping"), request(1, ...read), initialized, notification("notifications/x")]) {
      const [taken, unknown] = await Promise.all(
        [session, "unknown"].map((id) => at.ask(sessionPost(id, body, { authorization }))),
      );
      expect([taken?.status, taken?.body]).toEqual([404, unknown?.body]);
    }
  });

  // There is no elicitation in 2025-03-26.
  test.skipIf(version === "2025-03-26")(
    "responses-of-others: an answer to a request of the server counts only from its owner",
    async () => {
      const ran: string[] = [];
      await using at = await serve(notes(ran));
      const [ofAda, ofMallory] = [await bearer(), await bearer({ sub: "mallory" })];
      const session = await openSession(at, version, { authorization: ofAda }, elicits);
      using call = await at.open();
      const confirm = request(7, "tools/call", { name: "confirm", arguments: {} });
      call.write(written(sessionPost(session, confirm, { authorization: ofAda })));
      expect((await call.head()).status).toBe(200);
      const { id, method } = parse(await call.message());
      expect(method).toBe("elicitation/create");
      const answer = (sure: boolean): string =>
        JSON.stringify({ jsonrpc: "2.0", id, result: { action: "accept", content: { sure } } });
      const own = await openSession(at, version, { authorization: ofMallory }, elicits);
      const stolen = await at.ask(sessionPost(session, answer(false), { authorization: ofMallory }));
      const misplaced = await at.ask(sessionPost(own, answer(false), { authorization: ofMallory }));
      expect([stolen.status, misplaced.status]).toEqual([404, 202]);
      await at.ask(sessionPost(session, answer(true), { authorization: ofAda }));
      expect(parse(await call.message()).result?.content).toEqual([
        { type: "text", text: 'ada: {"action":"accept","content":{"sure":true}}' },
      ]);
    },
  );

  test("sessions-of-one-user: an answer goes to its own session, also with the same id", async () => {
    const server = notes();
    const calls = new Map<string, () => void>();
    server.tool("wait", { inputSchema: { type: "object", properties: { as: { type: "string" } } } }, ({ as }) => {
      return new Promise<string>((resolve) => calls.set(`${as}`, () => resolve(`${as}`)));
    });
    await using at = await serve(server);
    const authorization = await bearer();
    const wait = async (as: string): Promise<Frame> => {
      const session = await openSession(at, version, { authorization });
      const params = { name: "wait", arguments: { as } };
      return frameOf(await at.ask(sessionPost(session, request(1, "tools/call", params), { authorization })));
    };
    const both = Promise.all(["first", "second"].map(wait));
    await until(() => calls.size === 2);
    calls.get("second")?.();
    calls.get("first")?.();
    expect((await both).map(({ result }) => result?.content)).toEqual([
      [{ type: "text", text: "first" }],
      [{ type: "text", text: "second" }],
    ]);
  });

  test("ended-session: 404 for its owner, and its id is not given out again", async () => {
    await using at = await serve(notes());
    const authorization = await bearer();
    const session = await openSession(at, version, { authorization });
    const ended = await at.ask({ method: "DELETE", headers: { "mcp-session-id": session, authorization } });
    expect(ended.status).toBeLessThan(300);
    expect((await at.ask(sessionPost(session, request(1, "ping"), { authorization }))).status).toBe(404);
    expect(await openSession(at, version, { authorization })).not.toBe(session);
  });
});

describe(`${modern}: session-isolation`, () => {
  test("no-session: a session id gives a request nothing, and takes nothing from it", async () => {
    await using at = await serve(notes());
    const session = await openSession(at, "2025-11-25", { authorization: await bearer() });
    const authorization = await bearer({ sub: "mallory" });
    const answers = await Promise.all(
      [session, "unknown", undefined].map((id) =>
        at.ask(statelessPost(...read, { authorization, "mcp-session-id": id })),
      ),
    );
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    expect(answers[0]?.headers.has("mcp-session-id")).toBe(false);
    expect((await at.ask(statelessPost(...read, { "mcp-session-id": session }))).status).toBe(401);
  });
});

describe.each(eras)("%s: dpop", (_era, open) => {
  const now = (): number => Math.floor(Date.now() / 1000);

  interface Bound {
    readonly ask: Ask;
    readonly token: string;
    readonly ran: string[];
    send(proof: string | undefined, scheme?: string): Promise<Answer>;
  }

  async function bound(at: Site, ran: string[], nonce?: string): Promise<Bound> {
    const token = await issuer.token({ cnf: client.cnf });
    const prove = (): Promise<string> => client.prove(token, nonce === undefined ? {} : { nonce });
    // A session takes two requests to open, and a proof is for one.
    const ask = await open(proving(at, token, prove), {});
    const send: Bound["send"] = (dpop, scheme = "DPoP") => ask(...read, { authorization: `${scheme} ${token}`, dpop });
    return { ask, token, ran, send };
  }

  /** A site where requests without a token get one, with a proof of their own. */
  const proving = (at: Site, token: string, prove: () => Promise<string>): Site => ({
    ...at,
    ask: async (asked) => {
      if (asked.headers?.authorization !== undefined) return at.ask(asked);
      const headers = { ...asked.headers, authorization: `DPoP ${token}`, dpop: await prove() };
      return at.ask({ ...asked, headers });
    },
  });

  test("proof-accepted: a token that is bound to a key is served with a proof of it, each time a new one", async () => {
    await using at = await serve(notes(), { dpop: "required" });
    const { token, send } = await bound(at, []);
    for (let time = 0; time < 2; time += 1) expect((await send(await client.prove(token))).status).toBe(200);
  });

  test("bearer-refused: the same token is worth nothing without a proof", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { dpop: "required" });
    const { token, send } = await bound(at, ran);
    expect((await send(undefined, "Bearer")).status).toBe(401);
    expect((await send(await client.prove(token), "Bearer")).status).toBe(401);
    expect((await send(undefined)).status).toBe(401);
    expect(ran).toEqual([]);
  });

  test("proof-refused: of another key, request, server, token, time or type", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { dpop: "required" });
    const { token, send } = await bound(at, ran);
    const hash = "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"; // Of another token.
    const wrong: readonly (readonly [what: string, proof: string])[] = [
      ["another key", await other.prove(token)],
      ["another method", await client.prove(token, { htm: "GET" })],
      ["another server", await client.prove(token, { htu: "https://other.example/mcp" })],
      ["another token", await client.prove(token, { ath: hash })],
      ["two minutes ago", await client.prove(token, { iat: now() - 120 })],
      ["the future", await client.prove(token, { iat: now() + 120 })],
      ["no identifier", await client.prove(token, { jti: undefined })],
      ["another type", await client.prove(token, {}, { typ: "JWT" })],
    ];
    for (const [what, proof] of wrong) {
      const { status, scheme, parameters } = challengeOf(await send(proof));
      expect([status, scheme, parameters.error], what).toEqual([401, "DPoP", "invalid_dpop_proof"]);
    }
    expect(ran).toEqual([]);
  });

  test("proof-replayed: a proof counts once", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { dpop: "required" });
    const { token, send } = await bound(at, ran);
    const proof = await client.prove(token);
    expect([(await send(proof)).status, (await send(proof)).status]).toEqual([200, 401]);
    expect(ran).toEqual(["read"]);
  });

  test("unbound-refused: where DPoP is required, a bearer token is not served", async () => {
    await using at = await serve(notes(), { dpop: "required" });
    const { ask } = await bound(at, []);
    const { status, scheme } = challengeOf(await ask(...read, { authorization: await bearer() }));
    expect([status, scheme]).toEqual([401, "DPoP"]);
  });

  test("dpop-nonce: a proof without the nonce of the server gets one, and is served with it", async () => {
    const ran: string[] = [];
    await using at = await serve(notes(ran), { dpop: "nonce" });
    const first = await issuer.token({ cnf: client.cnf });
    const authorization = `DPoP ${first}`;
    const asked = await at.ask(statelessPost(...read, { authorization, dpop: await client.prove(first) }));
    expect(challengeOf(asked)).toMatchObject({ status: 401, parameters: { error: "use_dpop_nonce" } });
    const nonce = asked.headers.get("dpop-nonce") ?? "";
    const { token, send } = await bound(at, ran, nonce);
    for (const wrong of [undefined, "guessed", `${nonce}x`]) {
      const refused = await send(await client.prove(token, { nonce: wrong }));
      expect(challengeOf(refused)).toMatchObject({ status: 401, parameters: { error: "use_dpop_nonce" } });
      expect(refused.headers.get("dpop-nonce")).toBe(nonce);
    }
    expect((await send(await client.prove(token, { nonce }))).status).toBe(200);
    expect(ran).toEqual(["read"]);
  });

  test("metadata-announces-dpop: required, with the algorithms", async () => {
    await using at = await serve(notes(), { dpop: "required" });
    const { body } = await at.ask({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
    const metadata = JSON.parse(body);
    expect(metadata.dpop_bound_access_tokens_required).toBe(true);
    expect(metadata.dpop_signing_alg_values_supported).toContain("ES256");
    expect(metadata.dpop_signing_alg_values_supported.join()).not.toMatch(/none|HS/);
  });
});
