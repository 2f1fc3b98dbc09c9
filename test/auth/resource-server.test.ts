import { bearerAuth, introspectionAuth, jwtAuth } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import type { HttpOptions } from "@parlance/mcp/http";
import { describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Asked, sessionPost, statelessCall, statelessPost } from "../http/server/asked.js";
import { type Door, doors, openSession } from "../http/server/handlers.js";
import type { Answer } from "../http/server/wire.js";
import { request } from "../testing/frames.js";
import { audience, type Claims, type Issuer, startIssuer } from "./authorization-server.js";

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

let reports: Report[] = [];
beforeEach(() => {
  reports = [];
});
afterEach(() => {
  vi.useRealTimers();
});
const report = (each: Report): void => void reports.push(each);
const reported = (kind: Report["kind"]): string[] => reports.filter((each) => each.kind === kind).map(describeReport);

function notes(): Server {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => JSON.stringify(auth ?? null));
  server.tool("erase", { scopes: ["notes:write", "notes:erase"] }, () => "erased");
  server.tool("later", { scopes: ["notes:write"], execution: { taskSupport: "optional" } }, () => "done");
  server.resource("notes:/secret", { scopes: ["notes:secret"] }, () => "a secret");
  server.resourceTemplate("notes:/shelf/{n}", { scopes: ["notes:secret"], complete: { n: ["1"] } }, () => "a secret");
  server.prompt(
    "plan",
    { scopes: ["notes:plan"], arguments: { day: {} }, complete: { day: ["monday"] } },
    () => "plan",
  );
  return server;
}

type Auth = NonNullable<HttpOptions["auth"]>;

const jwt = (options: Partial<Parameters<typeof jwtAuth>[0]> = {}): Auth =>
  jwtAuth({ issuer: issuer.url, audience, scopes: ["notes"], ...options });
const metadataUrl = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const bearer = async (claims?: Claims, header?: Claims): Promise<string> =>
  `Bearer ${await issuer.token(claims, header)}`;
const whoami = (authorization?: string): Asked => statelessCall("whoami", {}, { authorization });
const challengeOf = ({ status, headers }: Answer): string => `${status} ${headers.get("www-authenticate")}`;
const invalid = `401 Bearer error="invalid_token", error_description="the token is not valid for this server", resource_metadata="${metadataUrl}", scope="notes"`;

describe.each(doors)("a protected server on $on", ({ open }) => {
  const opened = (auth = jwt()): Promise<Door> => open(notes(), { auth, report });

  test("AU-R1: shows its metadata at both well-known places, without a token and to pages of any origin", async () => {
    await using door = await opened(jwt({ resourceName: "Notes", documentation: "https://mcp.example/docs" }));
    const root = "/.well-known/oauth-protected-resource";
    for (const path of [root, `${root}/mcp`]) {
      const { status, headers, body } = await door.ask({
        method: "GET",
        path,
        headers: { origin: "https://page.example" },
      });
      expect(status).toBe(200);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("content-type")).toBe("application/json");
      expect(JSON.parse(body)).toEqual({
        resource: audience,
        authorization_servers: [issuer.url],
        bearer_methods_supported: ["header"],
        scopes_supported: ["notes", "notes:write", "notes:erase", "notes:secret", "notes:plan"],
        resource_name: "Notes",
        resource_documentation: "https://mcp.example/docs",
      });
      const preflight = {
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
      };
      const asked = await door.ask({
        method: "OPTIONS",
        path,
        headers: { origin: "https://page.example", ...preflight },
      });
      expect([asked.status, asked.headers.get("access-control-allow-headers")]).toEqual([204, "mcp-protocol-version"]);
    }
  });

  test("AU-R2: a request without a token gets a challenge that names the metadata and the scopes", async () => {
    await using door = await opened();
    const bare = `401 Bearer resource_metadata="${metadataUrl}", scope="notes"`;
    expect(challengeOf(await door.ask(whoami()))).toBe(bare);
    expect(challengeOf(await door.ask(whoami("Basic YTpi")))).toBe(bare);
    expect(challengeOf(await door.ask(whoami(`DPoP ${await issuer.token()}`)))).toBe(bare);
    // A token in the query is not looked at (AU-R5).
    expect(challengeOf(await door.ask({ ...whoami(), path: `/mcp?access_token=${await issuer.token()}` }))).toBe(bare);
    expect(reported("unauthorized")).toEqual([]);
  });

  test("AU-R4: a malformed header is a bad request", async () => {
    await using door = await opened();
    for (const header of ["Bearer", "Bearer a b", 'Bearer "x"', `Bearer ${"x".repeat(15_000)}!`]) {
      expect(challengeOf(await door.ask(whoami(header))), header.slice(0, 20)).toMatch(
        /^400 Bearer error="invalid_request"/,
      );
    }
  });

  test("a valid token is served, and the handler sees whose it is", async () => {
    await using door = await opened();
    const { status, body } = await door.ask(whoami(await bearer({ scope: "notes other", plan: "pro" })));
    expect(status).toBe(200);
    const auth = JSON.parse(JSON.parse(body).result.content[0].text);
    expect(auth).toMatchObject({
      issuer: issuer.url,
      subject: "ada",
      clientId: "app",
      scopes: ["notes", "other"],
      claims: { plan: "pro" },
      principal: JSON.stringify([issuer.url, "ada", "app"]),
    });
    expect(auth.expiresAt).toBeGreaterThan(Date.now());
  });

  test("AU-R3: a token without a scope of the server gets 403 with all of them", async () => {
    await using door = await opened(jwt({ scopes: ["notes", "mcp"] }));
    expect(challengeOf(await door.ask(whoami(await bearer())))).toBe(
      `403 Bearer error="insufficient_scope", error_description="the token lacks a scope that this operation requires", resource_metadata="${metadataUrl}", scope="notes mcp"`,
    );
  });

  const scoped: readonly (readonly [what: string, method: string, params: object, scopes: string])[] = [
    ["tool", "tools/call", { name: "erase" }, "notes:write notes:erase"],
    ["resource", "resources/read", { uri: "notes:/secret" }, "notes:secret"],
    ["resource of a template", "resources/read", { uri: "notes:/shelf/1" }, "notes:secret"],
    ["prompt", "prompts/get", { name: "plan" }, "notes:plan"],
    [
      "completion of a prompt",
      "completion/complete",
      { ref: { type: "ref/prompt", name: "plan" }, argument: { name: "day", value: "" } },
      "notes:plan",
    ],
    [
      "completion of a template",
      "completion/complete",
      { ref: { type: "ref/resource", uri: "notes:/shelf/{n}" }, argument: { name: "n", value: "" } },
      "notes:secret",
    ],
  ];

  test.each(scoped)("AU-R3: step-up: a %s with scopes, in both eras", async (_what, method, params, scopes) => {
    await using door = await opened();
    const expected = `403 Bearer error="insufficient_scope", error_description="the token lacks a scope that this operation requires", resource_metadata="${metadataUrl}", scope="notes ${scopes}"`;
    const weak = await bearer();
    const strong = await bearer({ scope: `notes ${scopes}` });
    const stateless = (authorization: string): Asked => statelessPost(method, params, { authorization });
    const refused = await door.ask(stateless(weak));
    expect(challengeOf(refused)).toBe(expected);
    expect(JSON.parse(refused.body).error).toMatchObject({ code: 40_300, data: { scopes: scopes.split(" ") } });
    expect((await door.ask(stateless(strong))).status).toBe(200);

    const session = await openSession(door, "2025-11-25", { authorization: weak });
    const post = (authorization: string): Asked => sessionPost(session, request(7, method, params), { authorization });
    expect(challengeOf(await door.ask(post(weak)))).toBe(expected);
    // The same session, once the client has stepped up.
    expect((await door.ask(post(strong))).status).toBe(200);
    expect(challengeOf(await door.ask(post(weak)))).toBe(expected);
  });

  test("a call that would run as a task is refused before there is one", async () => {
    await using door = await opened();
    const authorization = await bearer();
    const session = await openSession(door, "2025-11-25", { authorization });
    const call = request(7, "tools/call", { name: "later", arguments: {}, task: {} });
    expect(challengeOf(await door.ask(sessionPost(session, call, { authorization })))).toMatch(/^403 /);
  });

  test("scopes that include others", async () => {
    const scopeHierarchy = { "notes:admin": ["notes:write", "notes:erase"], root: ["notes:admin", "notes"] };
    await using door = await opened(jwt({ scopeHierarchy }));
    const erase = (authorization: string): Asked => statelessCall("erase", {}, { authorization });
    expect((await door.ask(erase(await bearer({ scope: "root" })))).status).toBe(200);
    expect((await door.ask(erase(await bearer({ scope: "notes notes:write" })))).status).toBe(403);
  });

  test("S14: a session belongs to issuer, subject and client: for anybody else it does not exist", async () => {
    await using door = await opened();
    const ada = await bearer();
    const session = await openSession(door, "2025-11-25", { authorization: ada });
    const ping = (id: string, authorization: string): Asked => sessionPost(id, request(7, "ping"), { authorization });
    const others = [{ sub: "mallory" }, { client_id: "another" }];
    const unknown = await door.ask(ping("unknown", await bearer({ sub: "mallory" })));
    for (const claims of others) {
      const taken = await door.ask(ping(session, await bearer(claims)));
      expect([taken.status, taken.body]).toEqual([unknown.status, unknown.body]);
      for (const method of ["GET", "DELETE"]) {
        const headers = { accept: "text/event-stream", "mcp-session-id": session, authorization: await bearer(claims) };
        expect((await door.ask({ method, headers })).status).toBe(404);
      }
    }
    expect((await door.ask(ping(session, ada))).status).toBe(200);
    // A fresh token of the same caller goes on with it.
    expect((await door.ask(ping(session, await bearer({ exp: Math.floor(Date.now() / 1000) + 999 })))).status).toBe(
      200,
    );
  });

  test("S17: two users in one session each, interleaved, never see each other", async () => {
    await using door = await opened();
    const users = await Promise.all(["ada", "bob"].map(async (sub) => ({ sub, authorization: await bearer({ sub }) })));
    const asked = Array.from({ length: 400 }, (_, index) => users[index % 2] ?? { sub: "", authorization: "" });
    const seen = await Promise.all(
      asked.map(async ({ authorization }) => (await door.ask(whoami(authorization))).body),
    );
    expect(seen.map((body) => JSON.parse(JSON.parse(body).result.content[0].text).subject)).toEqual(
      asked.map(({ sub }) => sub),
    );
  });
});

const [onNode] = doors;
const node = (auth: Auth | undefined, server = notes()): Promise<Door> => {
  if (onNode === undefined) throw new Error("there is a door on Node");
  return onNode.open(server, { ...(auth && { auth }), report });
};
const now = (): number => Math.floor(Date.now() / 1000);

describe("S25 and S27: a token that is not valid for this server gets 401, and the operator the reason", () => {
  const wrong: readonly (readonly [what: string, claims: Claims, reason: RegExp, header: Claims])[] = [
    [
      "another audience",
      { aud: "https://other.example/mcp" },
      /unexpected "aud" claim value: it is "https:\/\/other\.example\/mcp", expected https:\/\/mcp\.example\/mcp$/,
      {},
    ],
    ["a prefix of the audience", { aud: "https://mcp.example" }, /"aud"/, {}],
    ["an extension of the audience", { aud: `${audience}/more` }, /"aud"/, {}],
    [
      "an array without it",
      { aud: ["https://a.example", "https://b.example"] },
      /it is "https:\/\/a.example https:\/\/b.example"/,
      {},
    ],
    ["no audience", { aud: undefined }, /missing required "aud" claim, expected https:/, {}],
    ["an ID token, whose audience is the client", { aud: "app" }, /"aud"/, { typ: "JWT" }],
    ["another issuer", { iss: "https://evil.example" }, /it is "https:\/\/evil.example", expected http/, {}],
    ["no expiry", { exp: undefined }, /"exp"/, {}],
    ["expired by two minutes", { exp: now() - 120 }, /"exp"/, {}],
    ["expired by one minute", { exp: now() - 60 }, /"exp"/, {}],
    ["valid in an hour", { nbf: now() + 3_600 }, /"nbf"/, {}],
    ["a token that is bound to a key", { cnf: { jkt: "thumbprint" } }, /bound to a key/, {}],
    ["another type", {}, /its type is dpop\+jwt/, { typ: "dpop+jwt" }],
    ["an unknown crit", {}, /crit|Extension/, { crit: ["x"], x: 1 }],
    ["an unknown key", {}, /ERR_JWKS_NO_MATCHING_KEY/, { kid: "../../etc/passwd' OR 1=1" }],
    ["no subject and no client", { sub: undefined, client_id: undefined }, /neither a subject nor a client/, {}],
  ];

  test.each(wrong)("%s", async (_what, claims, reason, header) => {
    await using door = await node(jwt());
    const token = header.crit === undefined ? await issuer.token(claims, header) : await withCrit();
    const answer = await door.ask(whoami(`Bearer ${token}`));
    expect(challengeOf(answer)).toBe(invalid);
    expect(reported("unauthorized")).toEqual([expect.stringMatching(reason)]);
    expect(JSON.stringify([answer.body, reports.map(describeReport)])).not.toContain(token);
  });

  async function withCrit(): Promise<string> {
    const [header = "", ...rest] = (await issuer.token()).split(".");
    const members = { ...JSON.parse(Buffer.from(header, "base64url").toString()), crit: ["x"], x: 1 };
    return [Buffer.from(JSON.stringify(members)).toString("base64url"), ...rest].join(".");
  }

  test.each([
    ["alg none", () => unsigned()],
    ["HS256 with the public key as its secret", () => confused()],
    ["an altered payload", async () => (await issuer.token()).replace(/\.[^.]+\./, `.${encoded({ sub: "root" })}.`)],
    ["an opaque token", () => Promise.resolve("opaque")],
    ["three dots", () => Promise.resolve("...")],
  ])("%s", async (_what, make) => {
    await using door = await node(jwt());
    expect(challengeOf(await door.ask(whoami(`Bearer ${await make()}`)))).toBe(invalid);
  });

  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

  async function unsigned(): Promise<string> {
    const [, payload] = (await issuer.token()).split(".");
    return `${encoded({ alg: "none", typ: "at+jwt" })}.${payload}.`;
  }

  function confused(): Promise<string> {
    const [key] = issuer.keys;
    const secret = new TextEncoder().encode(JSON.stringify(key?.jwk));
    const claims = { iss: issuer.url, aud: audience, sub: "ada", exp: now() + 60 };
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: key?.jwk.kid ?? "" }).sign(secret);
  }

  test("R30: clocks may differ by 30 seconds", async () => {
    await using door = await node(jwt());
    for (const claims of [{ exp: now() - 25 }, { nbf: now() + 25 }, { exp: now() + 120 }]) {
      expect((await door.ask(whoami(await bearer(claims)))).status).toBe(200);
    }
  });
});

describe("the keys of the issuer", () => {
  test("R30: rotate: tokens of the old and of the new key are served", async () => {
    await using own = await startIssuer();
    await using door = await node(jwt({ issuer: own.url, jwksUri: `${own.url}/jwks` }));
    await own.rotate(); // Before the first fetch, so that the cooldown does not hold up the test.
    const [oldKey] = own.keys;
    const token = await own.token();
    expect((await door.ask(whoami(`Bearer ${token}`))).status).toBe(200);
    const claims = { iss: own.url, aud: audience, sub: "ada", exp: now() + 60, scope: "notes" };
    if (oldKey === undefined) throw new Error("there was a key");
    const old = await new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "key-1" }).sign(oldKey.privateKey);
    expect((await door.ask(whoami(`Bearer ${old}`))).status).toBe(200);
  });

  test("S27: a thousand tokens with random key ids cause one request", async () => {
    // Keys are asked for again after 30 s, which a busy machine may take.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    await using own = await startIssuer();
    await using door = await node(jwt({ issuer: own.url, jwksUri: `${own.url}/jwks` }));
    const token = await own.token();
    expect((await door.ask(whoami(`Bearer ${token}`))).status).toBe(200);
    const strangers = await Promise.all(Array.from({ length: 1_000 }, (_, n) => own.token({}, { kid: `random-${n}` })));
    for (const each of strangers) expect((await door.ask(whoami(`Bearer ${each}`))).status).toBe(401);
    expect(own.requests.filter((path) => path === "/jwks")).toHaveLength(1);
  });

  test.each([
    ["500", 500],
    ["10 MB", "long"],
  ] as const)("S27: a key set of %s is a 401 with one request, and a fault for the operator", async (_what, keys) => {
    await using own = await startIssuer();
    own.misbehaviour.keys = keys;
    await using door = await node(jwt({ issuer: own.url }));
    for (let time = 0; time < 5; time += 1) {
      const { status, body } = await door.ask(whoami(`Bearer ${await own.token()}`));
      expect(status).toBe(401);
      expect(body).not.toContain(own.url);
    }
    expect(own.requests.filter((path) => path === "/jwks")).toHaveLength(1);
    expect(reported("fault")[0]).toContain(`the keys of ${own.url} could not be fetched`);
  });

  test("S24: metadata of another issuer is not used", async () => {
    await using own = await startIssuer();
    own.misbehaviour.issuer = "https://evil.example";
    await using door = await node(jwt({ issuer: own.url }));
    expect((await door.ask(whoami(`Bearer ${await own.token()}`))).status).toBe(401);
    expect(own.requests).not.toContain("/jwks");
    expect(reported("fault")[0]).toContain(`no metadata of ${own.url}`);
  });
});

describe("introspection", () => {
  const opaque = (own: Issuer): Auth =>
    introspectionAuth({ issuer: own.url, audience, clientId: "server", clientSecret: "s3cret", scopes: ["notes"] });

  test("of active tokens for this server, and no others", async () => {
    await using own = await startIssuer();
    const active = { active: true, aud: audience, iss: own.url, sub: "ada", client_id: "app", scope: "notes" };
    own.introspected.set("good", active);
    own.introspected.set("elsewhere", { ...active, aud: "https://other.example" });
    own.introspected.set("unbound", { ...active, aud: undefined });
    own.introspected.set("foreign", { ...active, iss: "https://evil.example" });
    await using door = await node(opaque(own));
    const { status, body } = await door.ask(whoami("Bearer good"));
    expect([status, JSON.parse(JSON.parse(body).result.content[0].text).subject]).toEqual([200, "ada"]);
    for (const token of ["elsewhere", "unbound", "foreign", "unknown"]) {
      expect((await door.ask(whoami(`Bearer ${token}`))).status, token).toBe(401);
    }
  });

  test("503 with Retry-After while the authorization server is away, so that clients keep their tokens", async () => {
    const own = await startIssuer();
    await using door = await node(opaque(own));
    await own[Symbol.asyncDispose]();
    const { status, headers, body } = await door.ask(whoami("Bearer good"));
    expect([status, headers.get("retry-after")]).toEqual([503, "30"]);
    expect(body).not.toContain(own.url);
    expect(reported("fault")[0]).toContain("did not introspect a token");
  });
});

describe("a verifier of the application", () => {
  const own = (verify: Parameters<typeof bearerAuth>[0]["verify"]): Auth =>
    bearerAuth({ resource: audience, authorizationServers: ["https://login.example"], scopes: ["notes"], verify });

  test("decides", async () => {
    const known = { ada: { subject: "ada", scopes: ["notes"] }, old: { subject: "old", expiresAt: Date.now() - 1 } };
    await using door = await node(own((token) => known[token as keyof typeof known]));
    expect((await door.ask(whoami("Bearer ada"))).status).toBe(200);
    expect((await door.ask(whoami("Bearer old"))).status).toBe(401);
    expect((await door.ask(whoami("Bearer nobody"))).status).toBe(401);
  });

  test("that throws is a 401, never a 500, and a fault for the operator", async () => {
    await using door = await node(
      own(() => {
        throw new Error("the database is away: secret");
      }),
    );
    const { status, body } = await door.ask(whoami("Bearer ada"));
    expect(status).toBe(401);
    expect(body).not.toContain("database");
    expect(reported("fault")[0]).toContain("the database is away");
  });

  test.each([
    [true, "verify has returned a boolean: return { subject, scopes }, or undefined"],
    [false, "verify has returned a boolean"],
    [null, "verify has returned null"],
    ["ada", "verify has returned a string"],
    [[], "verify has returned an array"],
    [{}, "the subject that verify returns must be a string, got nothing"],
    [{ active: false }, "the subject that verify returns must be a string, got nothing"],
    [{ sub: "ada" }, "the subject that verify returns must be a string, got nothing"],
    [{ subject: "" }, "the subject that verify returns must be a string, got an empty one"],
    [{ subject: 7 }, "the subject that verify returns must be a string, got a number"],
    [{ subject: "ada", scopes: "notes" }, "the scopes that verify returns must be an array of strings, got a string"],
    [{ subject: "ada", scopes: [7] }, "the scopes that verify returns must be an array of strings, got other elements"],
    [{ subject: "ada", scopes: ["notes"], expiresAt: "2000-01-01" }, "expiresAt must be a number, got a string"],
    [{ subject: "ada", scopes: ["notes"], expiresAt: Number.NaN }, "expiresAt must be a number, got a number"],
  ])("that returns %j identifies no caller", async (given, message) => {
    await using door = await node(own(() => given as never));
    expect((await door.ask(whoami("Bearer ada"))).status).toBe(401);
    expect(reported("fault")[0]).toContain(message);
  });
});

test("a function that identifies callers returns scopes as an array", async () => {
  // As a text, "no-notes:write-and-no-notes:erase" would include both scopes of the tool.
  const auth = (): never => ({ principal: "ada", scopes: "no-notes:write-and-no-notes:erase" }) as never;
  await using door = await node(auth);
  expect((await door.ask(statelessCall("erase"))).status).toBe(401);
  expect(reported("fault")[0]).toContain("the scopes that auth returns must be an array of strings, got a string");
});

test("over a WebSocket, the upgrade needs the token, and handlers see whose it is", async () => {
  await using listener = await serveWebSocket(notes(), { auth: jwt(), report });
  const refused = connect(() => nodeWebSocketChannel(listener.url));
  await expect(refused).rejects.toThrow("401");
  const headers = { authorization: await bearer() };
  await using client = await connect(() => nodeWebSocketChannel(listener.url, { headers }));
  const { content } = await client.tools.call("whoami");
  expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject({ subject: "ada", scopes: ["notes"] });
  await expect(client.tools.call("erase")).rejects.toMatchObject({
    code: 40_300,
    data: { scopes: ["notes:write", "notes:erase"] },
  });
});

test("in memory, where the caller is this program, no scope is checked and there is no principal", async () => {
  await using client = await connect(notes());
  const results = [await client.tools.call("erase"), await client.tools.call("whoami")];
  expect(results.map(({ content }) => content[0])).toEqual([
    { type: "text", text: "erased" },
    { type: "text", text: "null" },
  ]);
});

describe("scopes without authentication", () => {
  test("over HTTP the operation is refused, and the operator learns why", async () => {
    await using door = await node(undefined);
    expect((await door.ask(statelessCall("erase"))).status).toBe(403);
    expect(reported("fault")[0]).toContain("the tool erase has scopes, but its callers are anonymous");
    expect((await door.ask(whoami())).status).toBe(200);
  });
});

describe("options that could not protect anything are refused when they are given", () => {
  const rows: readonly (readonly [what: string, make: () => unknown, message: string])[] = [
    ["no audience", () => jwtAuth({ issuer: "https://a.example", audience: "" }), "jwtAuth: audience is missing"],
    [
      "an issuer without HTTPS",
      () => jwtAuth({ issuer: "http://a.example", audience }),
      "the issuer must begin with https:",
    ],
    [
      "an audience that is no URL, without a resource",
      () => jwtAuth({ issuer: "https://a.example", audience: "api://notes" }),
      "jwtAuth: the resource must",
    ],
    [
      "a symmetric algorithm",
      () => jwtAuth({ issuer: "https://a.example", audience, algorithms: ["HS256"] }),
      "jwtAuth: HS256 is not allowed",
    ],
    [
      "a name from elsewhere",
      () => jwtAuth({ issuer: "https://a.example", audience, jwks: "x" } as never),
      "did you mean jwksUri?",
    ],
    [
      "neither a function nor a resource server",
      () => serveHttp(notes(), { auth: {} as never }),
      "auth needs a resource server",
    ],
    [
      "scopes in one string",
      () => createServer({ name: "n", version: "1" }).tool("a", { scopes: ["b c"] }, () => ""),
      'The tool a: "b c" is not a scope',
    ],
  ];

  test.each(rows)("%s", async (_what, make, message) => {
    await expect((async () => make())()).rejects.toThrow(message);
  });
});
