import type { Entry } from "@parlance/wire";
import { header, type Said } from "../../recording/recorded.js";
import { exchanged, type HttpExchange, listExchange, openingExchanges } from "../http-talk.js";
import type { RuleCase } from "../rule-case.js";
import type { Talk } from "../talk.js";

const withAuthorization = ({ version }: Talk): boolean => version >= "2025-03-26";
const ofResourceServers = ({ version }: Talk): boolean => version >= "2025-06-18";
const withChallengedScopes = ({ version }: Talk): boolean => version >= "2025-11-25";
const withBoundIssuer = ({ version }: Talk): boolean => version >= "2026-07-28";

const server = "https://mcp.example/mcp";
const issuer = "https://login.example";
const redirectUri = "http://127.0.0.1:33418/callback";

const resourceMetadata = { resource: server, authorization_servers: [issuer] };
const serverMetadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
};
const registration = { redirect_uris: [redirectUri], application_type: "native" };
const authorization = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: redirectUri,
  state: "████",
  code_challenge: "██████",
  code_challenge_method: "S256",
  resource: server,
};
const redirect = { code: "███", state: "████", iss: issuer };
const tokenRequest = { grant_type: "authorization_code", code: "███", code_verifier: "██████", resource: server };
const refreshRequest = { grant_type: "refresh_token", refresh_token: "█████", client_id: "c1", resource: server };
const tokens = { access_token: "█████", token_type: "Bearer", expires_in: 3600, refresh_token: "█████" };

type Members = Readonly<Record<string, unknown>>;

const reply = (value: Members): Pick<HttpExchange, "replies"> => ({ replies: [`← ${JSON.stringify(value)}`] });
const query = (parameters: Members): string =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${String(value)}`]))
    .join("&");

const getting = (url: string, value: Members): HttpExchange => ({ method: "GET", url, ...reply(value) });
const registering = (value: Members): HttpExchange => ({
  url: `${issuer}/register`,
  sent: `→ ${JSON.stringify(value)}`,
  status: 201,
  ...reply({ ...value, client_id: "c1" }),
});
const authorizing = (parameters: Members): HttpExchange => ({
  method: "GET",
  url: `${issuer}/authorize?${query(parameters)}`,
  status: 302,
});
const redirected = (parameters: Members): HttpExchange => ({
  method: "GET",
  url: `${redirectUri}?${query(parameters)}`,
});
const requesting = (form: Members, value: Members, cacheControl: string | undefined = "no-store"): HttpExchange => {
  const sent: Said = `→ ${query(form)}`;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return { url: `${issuer}/token`, headers, sent, replyHeaders: { "cache-control": cacheControl }, ...reply(value) };
};

/** The steps of a sign-in, in their order. */
const steps = {
  resource: getting("https://mcp.example/.well-known/oauth-protected-resource/mcp", resourceMetadata),
  server: getting(`${issuer}/.well-known/oauth-authorization-server`, serverMetadata),
  registration: registering(registration),
  authorization: authorizing(authorization),
  redirect: redirected(redirect),
  token: requesting(tokenRequest, tokens),
  refresh: requesting(refreshRequest, tokens),
};

type Step = keyof typeof steps;

/** A sign-in up to a step, with some of the steps in another form. */
function upTo(talk: Talk, last: Step, changes: Partial<Record<Step, HttpExchange>>): readonly Entry[] {
  const names = Object.keys(steps) as Step[];
  const made = names.slice(0, names.indexOf(last) + 1).map((name) => changes[name] ?? steps[name]);
  return [{ ...header, server: { url: server } }, ...exchanged(...openingExchanges(talk), ...made)];
}

const legal = (talk: Talk): readonly Entry[] => upTo(talk, "refresh", {});

/** A sign-in of which the last step breaks a rule; one without the fault is legal. */
function signIn(
  rule: string,
  where: NonNullable<RuleCase["where"]>,
  last: Step,
  changes: Partial<Record<Step, HttpExchange>>,
  found: RuleCase["found"],
  why?: string,
): RuleCase {
  return { rule, where, breaks: (talk) => upTo(talk, last, changes), found, legal, ...(why !== undefined && { why }) };
}

/** A list that the server refuses. */
function refusedList(talk: Talk, status: number, challenge: string | undefined): readonly Entry[] {
  const replyHeaders = { "www-authenticate": challenge };
  return exchanged(...openingExchanges(talk), listExchange(talk, 1, { status, replies: [], replyHeaders }));
}

const insufficient = 'Bearer error="insufficient_scope"';

/** Transcripts for the rules of this family. */
export const authorizationCases: readonly RuleCase[] = [
  {
    rule: "AU-1",
    breaks: (talk) => refusedList(talk, 401, undefined),
    found: { back: 1, party: "server", header: "www-authenticate", says: "the 401 has no WWW-Authenticate" },
    legal: (talk) => refusedList(talk, 401, "Bearer"),
  },
  {
    rule: "AU-2",
    breaks: (talk) => exchanged(...openingExchanges(talk), listExchange(talk, 1, { url: "/mcp?access_token=██" })),
    found: { back: 4, party: "client", says: "the URL has the parameter access_token" },
    legal: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { authorization: "Bearer ██" } })),
  },
  {
    rule: "AU-3",
    where: withChallengedScopes,
    breaks: (talk) => refusedList(talk, 403, `${insufficient}, resource_metadata="https://mcp.example/scope=x"`),
    found: { back: 1, party: "server", header: "www-authenticate", says: "the challenge names no scope" },
    legal: (talk) => refusedList(talk, 403, `${insufficient}, scope="write"`),
  },
  {
    rule: "AU-3",
    why: "for an empty list",
    where: withChallengedScopes,
    breaks: (talk) => refusedList(talk, 403, `${insufficient}, scope=""`),
    found: { back: 1, party: "server" },
    legal: (talk) => refusedList(talk, 403, undefined),
  },
  signIn(
    "AU-4",
    ofResourceServers,
    "resource",
    { resource: { ...steps.resource, ...reply({ ...resourceMetadata, resource: "https://mcp.example/other" }) } },
    { back: 1, party: "server", pointer: "/resource", text: '"https://mcp.example/other"' },
  ),
  {
    ...signIn(
      "AU-4",
      ofResourceServers,
      "resource",
      { resource: { ...steps.resource, ...reply({ ...resourceMetadata, resource: "https://mcp.example" }) } },
      { back: 1, party: "server", pointer: "/resource" },
      "for a resource that covers the server",
    ),
    // A challenge may lead to the root, where the resource is that of the server or of the origin.
    legal: (talk) =>
      upTo(talk, "refresh", {
        resource: getting("https://mcp.example/.well-known/oauth-protected-resource", resourceMetadata),
      }),
  },
  signIn(
    "AU-5",
    ofResourceServers,
    "resource",
    { resource: { ...steps.resource, ...reply({ ...resourceMetadata, authorization_servers: [] }) } },
    { back: 1, party: "server", pointer: "/authorization_servers", text: "[]" },
  ),
  {
    ...signIn(
      "AU-6",
      withAuthorization,
      "server",
      { server: { ...steps.server, ...reply({ ...serverMetadata, issuer: "https://honest.example" }) } },
      { back: 1, party: "server", pointer: "/issuer", text: '"https://honest.example"' },
    ),
    legal: (talk) => {
      const metadata = { ...serverMetadata, issuer: `${issuer}/tenant` };
      return upTo(talk, "server", { server: getting(`${issuer}/tenant/.well-known/openid-configuration`, metadata) });
    },
  },
  signIn(
    "AU-7",
    withChallengedScopes,
    "server",
    {
      server: getting(`${issuer}/.well-known/openid-configuration`, {
        ...serverMetadata,
        code_challenge_methods_supported: undefined,
      }),
    },
    { back: 1, party: "server", says: "`code_challenge_methods_supported` is missing" },
  ),
  signIn(
    "AU-8",
    withAuthorization,
    "registration",
    { registration: registering({ ...registration, redirect_uris: [redirectUri, "http://notes.example/callback"] }) },
    { back: 3, party: "client", pointer: "/redirect_uris/1", says: /http:\/\/notes\.example\/callback/ },
  ),
  signIn(
    "AU-9",
    withBoundIssuer,
    "registration",
    { registration: registering({ ...registration, application_type: undefined }) },
    { back: 3, party: "client", says: "`application_type` is missing" },
  ),
  signIn(
    "AU-10",
    withChallengedScopes,
    "authorization",
    { server: { ...steps.server, ...reply({ ...serverMetadata, code_challenge_methods_supported: undefined }) } },
    { back: 2, party: "client", says: "its metadata has no `code_challenge_methods_supported`" },
  ),
  signIn(
    "AU-11",
    withAuthorization,
    "authorization",
    { authorization: authorizing({ ...authorization, code_challenge: undefined }) },
    { back: 2, party: "client", says: "`code_challenge` is missing" },
  ),
  signIn(
    "AU-11",
    withChallengedScopes,
    "authorization",
    { authorization: authorizing({ ...authorization, code_challenge_method: "plain" }) },
    { back: 2, party: "client", says: 'the method is "plain", expected S256' },
    "for another method",
  ),
  {
    ...signIn(
      "AU-12",
      ofResourceServers,
      "authorization",
      { authorization: authorizing({ ...authorization, resource: undefined }) },
      { back: 2, party: "client", says: "`resource` is missing" },
    ),
    // The parameters were pushed to the server before.
    legal: (talk) =>
      upTo(talk, "authorization", { authorization: authorizing({ client_id: "c1", request_uri: "████" }) }),
  },
  signIn(
    "AU-13",
    ofResourceServers,
    "authorization",
    { authorization: authorizing({ ...authorization, state: undefined }) },
    { back: 2, party: "client", says: "`state` is missing" },
  ),
  signIn(
    "AU-14",
    withAuthorization,
    "redirect",
    { redirect: redirected({ ...redirect, state: undefined }) },
    { back: 1, party: "server", says: "`state` is missing" },
  ),
  {
    ...signIn(
      "AU-14",
      withAuthorization,
      "redirect",
      { redirect: redirected({ ...redirect, state: "███" }) },
      { back: 1, party: "server", says: "`state` is another one" },
      "for another one",
    ),
    // Another program of this machine receives it.
    legal: (talk) =>
      upTo(talk, "redirect", {
        redirect: { method: "GET", url: `http://127.0.0.1:9/callback?${query({ ...redirect, state: "███" })}` },
      }),
  },
  signIn(
    "AU-15",
    withAuthorization,
    "redirect",
    { redirect: redirected({ ...redirect, iss: undefined }) },
    { back: 1, party: "server", says: "`iss` is missing" },
  ),
  signIn(
    "AU-15",
    withAuthorization,
    "redirect",
    { redirect: redirected({ ...redirect, iss: `${issuer}/` }) },
    { back: 1, party: "server", says: '`iss` is "https://login.example/", expected "https://login.example"' },
    "for another issuer",
  ),
  signIn(
    "AU-16",
    withBoundIssuer,
    "redirect",
    {
      server: {
        ...steps.server,
        ...reply({ ...serverMetadata, authorization_response_iss_parameter_supported: undefined }),
      },
    },
    { back: 1, party: "server", says: "`authorization_response_iss_parameter_supported` is not true" },
  ),
  signIn(
    "AU-17",
    withBoundIssuer,
    "redirect",
    {
      server: {
        ...steps.server,
        ...reply({ ...serverMetadata, authorization_response_iss_parameter_supported: false }),
      },
      redirect: redirected({ ...redirect, iss: undefined }),
    },
    { back: 1, party: "server", says: "`iss` is missing" },
  ),
  {
    ...signIn(
      "AU-18",
      ofResourceServers,
      "token",
      { token: requesting({ ...tokenRequest, resource: undefined }, tokens) },
      { back: 3, party: "client", says: "`resource` is missing" },
    ),
    // An assertion names the resource itself.
    legal: (talk) =>
      upTo(talk, "token", {
        token: requesting({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "███" }, tokens),
      }),
  },
  signIn(
    "AU-19",
    withAuthorization,
    "token",
    { token: requesting(tokenRequest, tokens, "private") },
    { back: 2, party: "server", header: "cache-control", says: "Cache-Control has no no-store" },
  ),
  {
    ...signIn(
      "AU-20",
      withAuthorization,
      "token",
      { token: requesting(tokenRequest, { ...tokens, token_type: undefined }) },
      { back: 1, party: "server", says: "`token_type` is nothing" },
    ),
    legal: (talk) =>
      upTo(talk, "token", {
        token: { ...requesting(tokenRequest, { error: "invalid_grant" }, "private"), status: 400 },
      }),
  },
  {
    ...signIn(
      "AU-21",
      ofResourceServers,
      "refresh",
      { refresh: requesting({ ...refreshRequest, refresh_token: "r-1" }, { ...tokens, refresh_token: "r-1" }) },
      { back: 1, party: "server", pointer: "/refresh_token", says: "the refresh token is the same as before" },
    ),
    // The client has authenticated.
    legal: (talk) =>
      upTo(talk, "refresh", {
        refresh: requesting(
          { ...refreshRequest, refresh_token: "r-1", client_secret: "███" },
          { ...tokens, refresh_token: "r-1" },
        ),
      }),
  },
  signIn(
    "AU-21",
    ofResourceServers,
    "refresh",
    { refresh: requesting(refreshRequest, { ...tokens, refresh_token: undefined }) },
    { back: 1, party: "server", says: "there is no new refresh token" },
    "for no new one",
  ),
];
