import { jwtAuth } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import type { HttpOptions } from "@parlance/mcp/http";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { generateKeyPair, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
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
afterEach(() => {
  vi.useRealTimers();
});

type Auth = NonNullable<HttpOptions["auth"]>;

const jwt = (options: Partial<Parameters<typeof jwtAuth>[0]> = {}): Auth =>
  jwtAuth({ issuer: issuer.url, audience, ...options });
const bearer = async (claims?: Claims, header?: Claims): Promise<string> =>
  `Bearer ${await issuer.token(claims, header)}`;
const call = (authorization: string): Asked => statelessCall("whoami", {}, { authorization });
const errorOf = ({ body }: Answer): object => JSON.parse(body).error;
const resultOf = ({ body }: Answer) => JSON.parse(body).result;

/** Callers with valid tokens, each of which differs from Ada in one part of what keys her state. */
const strangers: readonly (readonly [what: string, claims: Claims])[] = [
  ["another subject", { sub: "mallory" }],
  ["another client of the same user", { client_id: "another" }],
];

const forms = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
const yes = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] } as const;

function notes(charges: string[] = []): Server {
  const requestState = { secrets: ["a secret that is long enough"] };
  const server = createServer({ name: "notes", version: "1.0.0", requestState });
  server.tool("whoami", {}, (_, { auth }) => JSON.stringify(auth ?? null));
  server.tool("later", { execution: { taskSupport: "optional" } }, () => "done");
  server.tool("buy", {}, async (_, ctx) => {
    await ctx.elicit("Buy?", yes);
    charges.push(ctx.auth?.subject ?? "");
    return "bought";
  });
  return server;
}

describe.each(doors)("on $on", ({ open }) => {
  test.each(strangers)("S16: %s sees, reads and cancels no task of Ada", async (_what, claims) => {
    await using door = await open(notes(), { auth: jwt(), report: () => undefined });
    const sessionOf = async (authorization: string) => {
      const session = await openSession(door, "2025-11-25", { authorization });
      let id = 10;
      return (method: string, params: object = {}): Promise<Answer> => {
        id += 1;
        return door.ask(sessionPost(session, request(id, method, params), { authorization }));
      };
    };
    const ada = await sessionOf(await bearer());
    const mallory = await sessionOf(await bearer(claims));
    const started = resultOf(await ada("tools/call", { name: "later", arguments: {}, task: { ttl: 60_000 } }));
    const { taskId } = started.task;
    const unknown = errorOf(await mallory("tasks/get", { taskId: "unknown" }));
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect(errorOf(await mallory(method, { taskId })), method).toMatchObject({ code: -32_602 });
    }
    expect(errorOf(await mallory("tasks/get", { taskId }))).toEqual(unknown);
    expect(resultOf(await mallory("tasks/list"))).toMatchObject({ tasks: [] });
    expect(resultOf(await ada("tasks/list")).tasks).toEqual([expect.objectContaining({ taskId })]);
    expect(resultOf(await ada("tasks/result", { taskId }))).toMatchObject({ content: [{ text: "done" }] });
  });

  test.each(strangers)("S30: a state of a call of Ada is none of %s", async (_what, claims) => {
    const charges: string[] = [];
    await using door = await open(notes(charges), { auth: jwt(), report: () => undefined });
    const buy = (authorization: string, round: object = {}): Promise<Answer> =>
      door.ask(
        statelessPost("tools/call", { name: "buy", arguments: {}, ...round }, { authorization }, { meta: forms }),
      );
    const ada = await bearer();
    const { requestState } = resultOf(await buy(ada));
    const round = { requestState, inputResponses: { "question-1": { action: "accept", content: { yes: true } } } };
    expect(errorOf(await buy(await bearer(claims), round))).toMatchObject({ code: -32_602 });
    expect(charges).toEqual([]);
    // The attempt has not used it up. A fresh token of the same caller goes on.
    const fresh = await bearer({ exp: Math.floor(Date.now() / 1000) + 999 });
    expect(resultOf(await buy(fresh, round))).toMatchObject({ content: [{ text: "bought" }] });
    expect(charges).toEqual(["ada"]);
  });
});

const [onNode] = doors;
const node = (auth: Auth): Promise<Door> => {
  if (onNode === undefined) throw new Error("there is a door on Node");
  return onNode.open(notes(), { auth, report: () => undefined });
};

describe("S27: JWT confusion", () => {
  test.each(["jku", "x5u"])("a header %s is not followed", async (member) => {
    await using evil = await startIssuer();
    await using door = await node(jwt());
    const claims = { iss: issuer.url, aud: audience, sub: "ada", exp: Math.floor(Date.now() / 1000) + 60 };
    const [key] = evil.keys;
    if (key === undefined) throw new Error("an issuer has a key");
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: key.jwk.kid ?? "", [member]: `${evil.url}/jwks` })
      .sign(key.privateKey);
    expect((await door.ask(call(`Bearer ${token}`))).status).toBe(401);
    expect(evil.requests).toEqual([]);
  });

  test("a signature on another curve, with the id of a key of the issuer, is refused", async () => {
    await using door = await node(jwt());
    const { privateKey } = await generateKeyPair("ES384");
    const claims = { iss: issuer.url, aud: audience, sub: "ada", exp: Math.floor(Date.now() / 1000) + 60 };
    const kid = issuer.keys.at(-1)?.jwk.kid ?? "";
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "ES384", kid }).sign(privateKey);
    expect((await door.ask(call(`Bearer ${token}`))).status).toBe(401);
  });

  test("a token of 64 KB is refused before it is read", async () => {
    await using own = await startIssuer();
    await using door = await node(jwt({ issuer: own.url }));
    const { status } = await door.ask(call(await bearer({ padding: "x".repeat(48_000) })));
    expect([400, 401, 431]).toContain(status);
    expect(own.requests).toEqual([]);
  });
});

describe("R30: the authorization server is away", () => {
  test("its keys are used for ten minutes; then 503, until it is back", async () => {
    const own = await startIssuer();
    await using door = await node(jwt({ issuer: own.url, jwksUri: `${own.url}/jwks` }));
    // The clock of tokens and keys alone: sockets and timers go on.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const begun = Date.now();
    const token = await own.token({ exp: Math.floor(begun / 1000) + 7_200 });
    const statusAfter = async (minutes: number): Promise<readonly [number, string | undefined]> => {
      vi.setSystemTime(begun + minutes * 60_000);
      const { status, headers } = await door.ask(call(`Bearer ${token}`));
      return [status, headers.get("retry-after")];
    };
    expect(await statusAfter(0)).toEqual([200, undefined]);
    own.misbehaviour.keys = 500;
    expect(await statusAfter(9)).toEqual([200, undefined]);
    expect(await statusAfter(11)).toEqual([503, "30"]);
    expect(own.requests.filter((path) => path === "/jwks")).toHaveLength(2);
    expect(await statusAfter(11.4)).toEqual([503, "30"]);
    expect(
      own.requests.filter((path) => path === "/jwks"),
      "within 30 s there is one request",
    ).toHaveLength(2);
    delete own.misbehaviour.keys;
    expect(await statusAfter(12)).toEqual([200, undefined]);
    await own[Symbol.asyncDispose]();
  });
});

test("S25: the token of a caller is in no request that the server makes, and in no output of a handler", async () => {
  const seen: string[] = [];
  const echo = createServer({ name: "upstream", version: "1" });
  echo.tool("echo", {}, () => "up");
  await using upstream = await serveHttp(echo, {
    auth: ({ header }) => {
      seen.push(...["authorization", "cookie", "x-forwarded-authorization"].map((name) => header(name) ?? ""));
      return { principal: "server" };
    },
  });
  const server = createServer({ name: "gateway", version: "1" });
  server.tool("ask", {}, async (_, ctx) => {
    await using client = await connect(upstream.url, { signal: ctx.signal });
    const { content } = await client.tools.call("echo");
    return `${JSON.stringify(content)} ${JSON.stringify(ctx.auth)}`;
  });
  if (onNode === undefined) throw new Error("there is a door on Node");
  await using door = await onNode.open(server, { auth: jwt(), report: () => undefined });
  const token = await issuer.token();
  const { status, body } = await door.ask(statelessCall("ask", {}, { authorization: `Bearer ${token}` }));
  expect([status, body.includes("up")]).toEqual([200, true]);
  expect(seen.length).toBeGreaterThan(0);
  expect([...seen, body].join()).not.toContain(token);
});
