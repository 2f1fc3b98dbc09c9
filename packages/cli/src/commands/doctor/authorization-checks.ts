import {
  badTokens,
  challengeParameter,
  covers,
  isOauthChallenge,
  metadataPlaces,
} from "../../shared/client/protected-resource.js";
import { type ExaminedSignIn, examineSignIn, signInAt, signInErrorOf, stepPages } from "../../shared/client/sign-in.js";
import { keyRemedy, toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { parsedObject } from "../../shared/parsed-json.js";
import type { Check, CheckResult } from "./check.js";
import { type Endpoint, excerptOf, type HttpReply, initialize, send } from "./exchange.js";

const page = "https://modelcontextprotocol.io/specification/latest/basic/authorization";

/**
 * Checks of the authorization of a server that responds with 401: everything a client needs before a user signs in. The checks
 * register no client and sign no user in.
 * @param isRefused whether the response to the headers of the endpoint is 401, so that a token among them is compared with the metadata
 */
export function authorizationChecks(endpoint: Endpoint, answer: HttpReply, isRefused: boolean): readonly Check[] {
  let signIn: Promise<ExaminedSignIn> | undefined;
  const examined = (): Promise<ExaminedSignIn> => {
    signIn ??= examineSignIn(endpoint.url);
    return signIn;
  };
  let named: NamedInMetadata = {};
  const token = isRefused ? tokenOf(endpoint) : undefined;
  const challenge = answer.headers.get("www-authenticate");
  // Another scheme than that of OAuth says that there is no authorization server to examine.
  if (challenge !== null && !isOauthChallenge(answer))
    return [
      {
        name: "challenge",
        run: async () => ({ state: "ok", says: `${challenge}: keys of its own`, notes: [keyRemedy] }),
      },
      badTokenCheck(endpoint),
    ];
  return [
    { name: "challenge", run: async () => challengeResult(answer) },
    {
      name: "metadata",
      run: () => metadataResult(endpoint, answer, (metadata) => (named = metadata)),
    },
    ...(token === undefined ? [] : [{ name: "token", run: async () => tokenResult(token, endpoint.url, named) }]),
    { name: "sign-in", run: async () => signInResult(await examined()) },
    { name: "client id", run: async () => clientIdResult(await examined()) },
    { name: "token request", run: async () => tokenEndpointResult(await examined(), endpoint.timeout) },
    badTokenCheck(endpoint),
  ];
}

/** Whether a server refuses tokens that are none. */
export function badTokenCheck(endpoint: Pick<Endpoint, "url" | "timeout">): Check {
  return { name: "bad tokens", run: () => badTokenResult(endpoint) };
}

/** A sign-in of the user, as `parlance login` does it: some faults show only then. */
export async function loginResult(url: URL): Promise<CheckResult> {
  try {
    await signInAt(url);
    return { state: "ok", says: "a user can sign in" };
  } catch (error) {
    const refused = signInErrorOf(error);
    if (refused !== undefined) return failedStep(refused.failure);
    const { message, remedy, seen, exitCode } = toFailureAtUrl(error, "opening");
    return { state: "failed", says: message, seen, exitCode, remedy };
  }
}

function failedStep({ received, expected, remedy, step }: NonNullable<ExaminedSignIn["failure"]>): CheckResult {
  return failed(received, remedy, stepPages[step], [`${step}: expected ${expected}`]);
}

function failed(says: string, remedy: string, rule: string, seen: readonly string[] = []): CheckResult {
  return { state: "failed", says, remedy, rule, seen, exitCode: exitCodes.unreachable };
}

const nothing: CheckResult = { state: "absent", says: "cannot be checked, because the previous check failed" };

function challengeResult(answer: HttpReply): CheckResult {
  const rule = `${page}#protected-resource-metadata-discovery-requirements`;
  const challenge = answer.headers.get("www-authenticate");
  if (challenge === null)
    return failed(
      "the 401 has no WWW-Authenticate",
      'send `WWW-Authenticate: Bearer resource_metadata="…"` with it',
      rule,
    );
  const notes = [
    ...(challengeParameter(answer, "resource_metadata") !== undefined
      ? []
      : ["it does not say where the metadata is: clients look at the well-known places"]),
    ...(challengeParameter(answer, "scope") !== undefined
      ? []
      : ["it names no scope: clients request all scopes of the metadata"]),
  ];
  return { state: "ok", says: challenge, notes };
}

/** The members of the Protected Resource Metadata that concern tokens; empty without metadata. */
interface NamedInMetadata {
  readonly resource?: unknown;
  readonly authorization_servers?: unknown;
}

async function metadataResult(
  { url, timeout }: Endpoint,
  answer: HttpReply,
  onMetadata: (metadata: NamedInMetadata) => void,
): Promise<CheckResult> {
  const rule = "https://www.rfc-editor.org/rfc/rfc9728#section-3.3";
  const headers = { accept: "application/json", origin: "http://localhost:6274" };
  const replies = await Promise.all(
    metadataPlaces(url, answer).map(async (at) => ({ at, ...(await send(at, timeout, { method: "GET", headers })) })),
  );
  const seen = replies.map(({ at, http, why }) => `${at.href}: ${http?.status ?? why}`);
  const found = replies.find(({ http }) => http?.status === 200)?.http;
  if (found === undefined)
    return failed(
      "no Protected Resource Metadata",
      "serve it at one of these places; a server with keys of its own has none, and takes them by --bearer-env TOKEN or --header-env x-api-key=KEY",
      rule,
      seen,
    );
  const { resource, authorization_servers: servers } = parsedObject(found.text) ?? {};
  onMetadata({ resource, authorization_servers: servers });
  if (typeof resource !== "string" || !covers(resource, url))
    return failed(
      `\`resource\` is ${JSON.stringify(resource)}`,
      `it has to be ${url.origin}${url.pathname}, or a prefix of it that ends before a slash: clients refuse any other`,
      rule,
      seen,
    );
  if (!Array.isArray(servers) || servers.length === 0)
    return failed("no `authorization_servers`", "name the issuer of at least one", rule, seen);
  const isOpen = found.headers.get("access-control-allow-origin") !== null;
  const notes = [
    ...(replies.every(({ http }) => http?.status === 200)
      ? []
      : [`only at one place, and some clients look at the other one alone: ${seen.join("; ")}`]),
    ...(isOpen ? [] : ["clients in a browser cannot read it: it has no Access-Control-Allow-Origin"]),
  ];
  return { state: "ok", says: `of ${resource}; tokens come from ${servers.join(", ")}`, notes };
}

/** The token that the user gives. */
function tokenOf({ headers }: Endpoint): string | undefined {
  const [, value = ""] = headers.findLast(([name]) => name.toLowerCase() === "authorization") ?? [];
  return /^(?:bearer|dpop) +(\S+)$/i.exec(value)?.[1];
}

/**
 * Compares a token that the server has refused with what the metadata demands of tokens. The claims are read without a check of
 * the signature, which only shows the user their own token.
 */
function tokenResult(
  token: string,
  url: URL,
  { resource, authorization_servers: servers }: NamedInMetadata,
): CheckResult {
  const rule = `${page}#token-handling`;
  const login = `parlance login ${shellWord(url.href)}`;
  const claims = claimsOf(token);
  if (claims === undefined)
    return failed(
      "refused; it is opaque",
      servers === undefined
        ? "only the server knows its keys: is it the right one, and still valid?"
        : `only its authorization server knows whether it is valid, and for which server: get another one, for example by ${login}`,
      rule,
    );
  const { aud, iss, exp } = claims;
  if (typeof exp === "number" && exp * 1_000 < Date.now())
    return failed(
      `it expired at ${new Date(exp * 1_000).toISOString()}`,
      `get another one, for example by ${login}`,
      rule,
    );
  const expected = typeof resource === "string" ? resource : url.href;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(expected))
    return failed(
      `its audience is ${JSON.stringify(aud) ?? "missing"}, and the server is ${expected}`,
      `get one for this server, for example by ${login}; if its audience is right, correct \`audience\` or \`resource\` of the server`,
      rule,
    );
  if (Array.isArray(servers) && !servers.includes(iss))
    return failed(
      `its issuer is ${JSON.stringify(iss) ?? "missing"}, and the server accepts tokens of ${servers.join(", ")}`,
      `get one there, for example by ${login}`,
      rule,
    );
  return failed(
    "refused, although its audience, issuer and expiry are those of the metadata",
    "the log of the server says why: the signature, a scope, or an audience that differs from its metadata",
    rule,
  );
}

/** The claims of a JSON Web Token; undefined for any other token. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  return parsedObject(Buffer.from(payload, "base64url").toString());
}

/** Without metadata of any kind, the server may have keys of its own and no authorization server. */
function signInResult({ authorization, metadata, failure }: ExaminedSignIn): CheckResult {
  if (failure !== undefined) return failedStep(failure);
  if (metadata === undefined) return nothing;
  const { authorization_response_iss_parameter_supported: hasIss, issuer } = metadata;
  const scopes = authorization?.searchParams.get("scope");
  const notes = hasIss === true ? [] : [`${issuer} does not announce \`iss\` in its responses (RFC 9207)`];
  const asked = scopes === null || scopes === undefined ? "without scopes" : `for ${scopes}`;
  return {
    state: "ok",
    says: `users sign in at ${authorization?.origin}${authorization?.pathname}, ${asked}, with PKCE`,
    notes,
  };
}

function clientIdResult({ metadata }: ExaminedSignIn): CheckResult {
  if (metadata === undefined) return nothing;
  const ways = [
    ...(metadata.client_id_metadata_document_supported === true ? ["client ID metadata documents"] : []),
    ...(typeof metadata.registration_endpoint === "string" ? ["dynamic registration"] : []),
  ];
  if (ways.length > 0) return { state: "ok", says: ways.join(", ") };
  return failed(
    "neither client ID metadata documents nor dynamic registration",
    "register a client there, and give its id to every client: parlance login --client-id",
    `${page}#client-registration-approaches`,
  );
}

/** Whether the token endpoint refuses an invalid code, in JSON. */
async function tokenEndpointResult({ metadata }: ExaminedSignIn, timeout: number): Promise<CheckResult> {
  const url = metadata?.token_endpoint;
  if (typeof url !== "string" || !URL.canParse(url)) return nothing;
  const fields = {
    grant_type: "authorization_code",
    code: "none",
    client_id: "parlance-doctor",
    code_verifier: "none",
  };
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  const { http, why } = await send(new URL(url), timeout, {
    method: "POST",
    headers,
    body: new URLSearchParams(fields).toString(),
  });
  const rule = "https://www.rfc-editor.org/rfc/rfc6749#section-5.2";
  const remedy = "an invalid code has to be refused with 400 and an `error` in JSON";
  if (http === undefined) return failed(`${url}: ${why}`, "it has to be reachable from where clients run", rule);
  const error = parsedObject(http.text)?.error;
  if (http.status >= 400 && http.status < 500 && typeof error === "string")
    return { state: "ok", says: `refuses an invalid code with ${error}` };
  const type = http.headers.get("content-type") ?? "no Content-Type";
  return failed(`${url} answers an invalid code with ${http.status} and ${type}`, remedy, rule, excerptOf(http.text));
}

async function badTokenResult({ url, timeout }: Pick<Endpoint, "url" | "timeout">): Promise<CheckResult> {
  const rule = `${page}#token-handling`;
  for (const [what, token] of Object.entries(badTokens)) {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const { http, why } = await send(url, timeout, { method: "POST", headers, body: initialize() });
    if (http === undefined) return failed(`no answer to a token ${what}: ${why}`, "answer 401", rule);
    if (http.status === 401) continue;
    const remedy =
      http.status < 400
        ? "verify the signature, the issuer and the audience of every token before a request is served"
        : 'a token that cannot be verified is 401 with `error="invalid_token"`, whatever is wrong with it';
    return failed(`a token ${what} gets ${http.status}`, remedy, rule, excerptOf(http.text));
  }
  return { state: "ok", says: "refused with 401" };
}
