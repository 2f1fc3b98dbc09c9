import { type JsonObject, mcpHeaders, methods } from "@parlance/mcp/protocol";
import { byEra, type RawReply, type RawRequest } from "@parlance/wire";
import {
  badTokens,
  challengeParameter,
  covers,
  isOauthChallenge,
  metadataPlaces,
} from "../../../../shared/client/protected-resource.js";
import { parsedObject } from "../../../../shared/parsed-json.js";
import { asNote, failed, type Probe, type ProbeOutcome, passed, quoted, type Subject, skipped } from "../probe.js";
import { isReadOnly, refusesEmptyCall } from "./features.js";

/** The revisions in which an MCP server is a resource server of OAuth. */
const asResourceServer: NonNullable<Probe["applies"]> = ({ facts }, transport) =>
  transport === "http" && facts.authorization !== "none" && facts.authorization !== "own server";
/** The revisions with metadata at well-known URLs, and scopes in challenges. */
const withScopes: NonNullable<Probe["applies"]> = (revision, transport) =>
  asResourceServer(revision, transport) && revision.facts.authorization !== "resource server";

const authorization = "basic/authorization";
const discovery = `${authorization}/authorization-server-discovery`;
const onTokens = `${authorization}#token-handling`;
const onAccess = byEra(
  `${authorization}#access-token-privilege-restriction`,
  `${authorization}/security-considerations#access-token-privilege-restriction`,
);

/** The probes of a server that requires tokens. */
export const authorizationProbes: readonly Probe[] = [
  {
    id: "XA-1",
    level: "must",
    demands: "A request without a token is refused with 401",
    sentence: "Servers MUST return appropriate HTTP status codes for authorization errors:",
    page: `${authorization}#error-handling`,
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) =>
      ofProtected(subject, ({ status }) => (status === 401 ? passed : failed(`the status is ${status}, expected 401`))),
  },
  {
    id: "XA-2",
    level: "must",
    demands: "A client finds the Protected Resource Metadata",
    sentence: (revision) =>
      withScopes(revision, "http")
        ? "MCP servers MUST implement one of the following discovery mechanisms to provide authorization server location information to MCP clients:"
        : "MCP servers MUST use the HTTP header `WWW-Authenticate` when returning a 401 Unauthorized to indicate the location of the resource server metadata URL",
    page: (revision) => {
      if (!withScopes(revision, "http")) return `${authorization}#authorization-server-location`;
      const section = "protected-resource-metadata-discovery-requirements";
      return byEra(`${authorization}#${section}`, `${discovery}#${section}`)(revision);
    },
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) => ofProtected(subject, (refusal) => isDiscoverable(subject, refusal)),
  },
  {
    id: "XA-3",
    level: "must",
    demands: "The Protected Resource Metadata is that of the server",
    sentence:
      "The resource value returned MUST be identical to the protected resource's resource identifier value into which the well-known URI path suffix was inserted to create the URL used to retrieve the metadata.",
    page: "https://www.rfc-editor.org/rfc/rfc9728#section-3.3",
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) => ofMetadata(subject, namesServer),
  },
  {
    id: "XA-4",
    level: "must",
    demands: "The Protected Resource Metadata names an authorization server",
    sentence:
      "The Protected Resource Metadata document returned by the MCP server MUST include the `authorization_servers` field containing at least one authorization server.",
    page: byEra(`${authorization}#authorization-server-location`, `${discovery}#authorization-server-location`),
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) =>
      ofMetadata(subject, ({ value: { authorization_servers: servers } }) =>
        Array.isArray(servers) && servers.some((each) => typeof each === "string" && URL.canParse(each))
          ? passed
          : failed(`\`authorization_servers\` is ${quoted(servers)}`),
      ),
  },
  {
    id: "XA-5",
    level: "must",
    demands: "An invalid token is refused with 401",
    sentence: "Invalid or expired tokens MUST receive a HTTP 401 response.",
    page: onTokens,
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) =>
      ofBadTokens(subject, ({ status }) =>
        status === 401 ? passed : failed(`gets the status ${status}, expected 401`),
      ),
  },
  {
    id: "XA-6",
    level: "should",
    demands: 'The refusal of an invalid token has error="invalid_token"',
    sentence:
      'If the protected resource request included an access token and failed authentication, the resource server SHOULD include the "error" attribute to provide the client with the reason why the access request was declined.',
    page: "https://www.rfc-editor.org/rfc/rfc6750#section-3",
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) =>
      ofBadTokens(subject, (refusal) => {
        if (refusal.status !== 401) return skipped(`the status is ${refusal.status}`);
        const error = challengeParameter(refusal, "error");
        if (error === "invalid_token") return passed;
        return failed(error === undefined ? "gets a challenge without an error" : `gets the error ${quoted(error)}`);
      }),
  },
  {
    id: "XA-7",
    level: "must",
    demands: "A token of another server is refused",
    sentence:
      "MCP servers MUST validate that access tokens were issued specifically for them as the intended audience, according to RFC 8707 Section 2.",
    page: onTokens,
    applies: asResourceServer,
    needsNoToken: true,
    ask: (subject) =>
      ofProtected(subject, () => refuses(subject, subject.access?.foreign, "--foreign-token-env gives none")),
  },
  {
    id: "XA-8",
    level: "must",
    demands: "A token in the query is ignored",
    sentence: "resource servers MUST ignore access tokens in a URI query parameter.",
    page: "https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13#section-5.1",
    applies: asResourceServer,
    ask: (subject) => ofProtected(subject, () => ignoresQuery(subject)),
  },
  {
    id: "XA-9",
    level: "should",
    demands: "A refusal for missing scopes names them",
    sentence: byEra(
      "servers SHOULD include the scopes needed to satisfy the current request in the `scope` parameter.",
      "servers SHOULD include the scopes needed to satisfy the current operation in the `scope` parameter",
    ),
    page: `${authorization}#runtime-insufficient-scope-errors`,
    applies: withScopes,
    ask: (subject) => ofProtected(subject, () => namesScopes(subject)),
  },
  {
    id: "XA-10",
    level: "must",
    demands: "A session cannot be used by another user",
    sentence:
      "MCP servers MUST validate access tokens before processing the request, … and take all necessary steps to ensure no data is returned to unauthorized parties.",
    page: onAccess,
    applies: (revision, transport) => asResourceServer(revision, transport) && revision.facts.httpBinding === "session",
    ask: (subject) => {
      if (subject.client.sessionId === undefined) return Promise.resolve(skipped("the server keeps no sessions"));
      return ofProtected(subject, () => refuses(subject, subject.access?.otherUser, "--other-token-env gives none"));
    },
  },
  {
    id: "XA-11",
    level: "should",
    demands: "Neither the challenge nor the metadata lists offline_access",
    sentence:
      "MCP Servers (Protected Resources) SHOULD NOT include `offline_access` in `WWW-Authenticate` scope or Protected Resource Metadata `scopes_supported`, as refresh tokens are not a resource requirement.",
    page: `${authorization}#refresh-tokens`,
    applies: (revision, transport) => transport === "http" && revision.facts.authorization === "bound issuer",
    needsNoToken: true,
    ask: (subject) =>
      ofProtected(subject, async (refusal) => {
        const isListed = (list: unknown): boolean => Array.isArray(list) && list.includes("offline_access");
        if (isListed(challengeParameter(refusal, "scope")?.split(" "))) return failed("the challenge does");
        const found = await metadataOf(subject, refusal);
        return found.some(({ value }) => isListed(value.scopes_supported)) ? failed("the metadata does") : passed;
      }),
  },
];

type Refusal = NonNullable<RawReply["http"]>;

/** Runs a probe with the refusal of a request without a token; skipped if the server requires no token. */
async function ofProtected(
  subject: Subject,
  judge: (refusal: Refusal) => ProbeOutcome | Promise<ProbeOutcome>,
): Promise<ProbeOutcome> {
  const { http } = await withToken(subject, "");
  if (http === undefined) return skipped("a request without a token is not answered");
  if (http.status < 400) return skipped("the server requires no token in Authorization");
  const challenge = http.headers.get("www-authenticate");
  if (challenge === null && http.status !== 401 && http.status !== 403)
    return skipped(`without a token the status is ${http.status}`);
  if (challenge !== null && !isOauthChallenge(http)) return skipped("the server has another authentication than OAuth");
  return judge(http);
}

/** Sends a valid request with this value of `Authorization`. */
function withToken(subject: Subject, value: string, request: RawRequest = {}): Promise<RawReply> {
  return subject.askAnything({ ...request, headers: { ...request.headers, authorization: value } });
}

/** Judges the refusal of each invalid token, and fails if a request with such a token is served. */
function ofBadTokens(subject: Subject, judge: (refusal: Refusal) => ProbeOutcome): Promise<ProbeOutcome> {
  return ofProtected(subject, async () => {
    for (const [which, token] of Object.entries(badTokens)) {
      const { http } = await withToken(subject, `Bearer ${token}`);
      const found = http === undefined ? failed("is not answered") : judge(http);
      if (found.is === "failed") return failed(`a token ${which} ${found.says}`);
      if (found.is === "skipped") return found;
    }
    return passed;
  });
}

async function refuses(subject: Subject, value: string | undefined, without: string): Promise<ProbeOutcome> {
  if (value === undefined) return skipped(without);
  const { http: { status = 0 } = {} } = await withToken(subject, value);
  return status >= 400 ? passed : failed(`the status is ${status}, expected a refusal`);
}

async function ignoresQuery(subject: Subject): Promise<ProbeOutcome> {
  const { url, authorization: value = "" } = subject.access ?? {};
  const [, token] = /^Bearer (.+)$/i.exec(value) ?? [];
  if (url === undefined || token === undefined) return skipped("there is no bearer token to put there");
  const asked = new URL(url);
  asked.searchParams.set("access_token", token);
  const { http: { status = 0 } = {} } = await withToken(subject, "", { url: asked.href });
  return status >= 400 ? passed : failed(`the status is ${status}, expected 401`);
}

/** Whether a 403 for missing scopes names them: tries the lists, and tools that are safe to call. */
async function namesScopes(subject: Subject): Promise<ProbeOutcome> {
  if (subject.access?.authorization === undefined) return skipped("there is no token");
  const lists = [methods.listTools, methods.listResources, methods.listPrompts];
  const tools = await subject.list(methods.listTools, "tools");
  const calls = tools.filter((tool) => isReadOnly(tool) || refusesEmptyCall(tool)).slice(0, mostCalls);
  const requests: readonly (readonly [string, JsonObject])[] = [
    ...lists.map((method) => [method, {}] as const),
    ...calls.map(({ name }) => [methods.callTool, { name, arguments: {} }] as const),
  ];
  let refused = 0;
  for (const [method, params] of requests) {
    const { http } = await subject.ask(method, params);
    if (http?.status !== 403) continue;
    refused += 1;
    const error = challengeParameter(http, "error");
    const scope = challengeParameter(http, "scope");
    const name = quoted(params.name ?? method);
    if (error !== "insufficient_scope") return failed(`the 403 for ${name} has no error="insufficient_scope"`);
    if (scope === undefined || scope.trim() === "") return failed(`the 403 for ${name} names no scope`);
  }
  return refused === 0 ? skipped("the token has the scopes of all requests that were tried") : passed;
}

/** The maximum number of tools that are called: a server may list any number. */
const mostCalls = 10;

/** The metadata at one place. */
interface Metadata {
  readonly place: URL;
  readonly value: JsonObject;
}

/**
 * The metadata of the server, from each possible URL. URLs of other origins are not requested: a hostile server would choose
 * them.
 */
async function metadataOf(subject: Subject, refusal: Refusal): Promise<readonly Metadata[]> {
  const url = subject.access?.url;
  if (url === undefined) return [];
  const found: Metadata[] = [];
  for (const place of metadataPlaces(url, refusal).filter(({ origin }) => origin === url.origin)) {
    const headers = { accept: "application/json", authorization: "", ...withoutMcp };
    const { http } = await subject.client.send("", undefined, { method: "GET", url: place.href, headers });
    const value = http?.status === 200 ? parsedObject(http.text) : undefined;
    if (value !== undefined) found.push({ place, value });
  }
  return found;
}

/** Removes the MCP headers: requests for metadata have none. */
const withoutMcp = { [mcpHeaders.session]: "", [mcpHeaders.protocolVersion]: "", [mcpHeaders.method]: "" };

async function isDiscoverable(subject: Subject, refusal: Refusal): Promise<ProbeOutcome> {
  const url = subject.access?.url;
  const named = challengeParameter(refusal, "resource_metadata");
  if (named === undefined && !withScopes(subject.revision, "http"))
    return failed(`the challenge has no resource_metadata${forKeys}`);
  if (url !== undefined && named !== undefined && URL.canParse(named, url) && new URL(named, url).origin !== url.origin)
    return passed; // The metadata of another origin is not checked.
  const found = await metadataOf(subject, refusal);
  const isNamed = named !== undefined && found.some(({ place }) => place.href === new URL(named, url).href);
  if (named !== undefined && !isNamed)
    return failed(`there is no metadata at ${quoted(named)}, which the challenge names`);
  if (found.length > 0) return passed;
  return failed(`the challenge has no resource_metadata, and there is none at the well-known places${forKeys}`);
}

const forKeys = "; a server with keys of its own has no authorization server to name: --except XA-2 leaves this out";

function ofMetadata(subject: Subject, judge: (metadata: Metadata, url: URL) => ProbeOutcome): Promise<ProbeOutcome> {
  return ofProtected(subject, async (refusal) => {
    const url = subject.access?.url;
    const all = await metadataOf(subject, refusal);
    if (url === undefined || all.length === 0) return skipped("there is no metadata");
    const findings = all.map((each) => atPlace(each.place, judge(each, url)));
    // Report a broken sentence rather than a note.
    return (
      findings.find((each) => each.is === "failed" && each.doubt === undefined) ??
      findings.find(({ is }) => is === "failed") ??
      passed
    );
  });
}

function atPlace({ pathname }: URL, finding: ProbeOutcome): ProbeOutcome {
  return finding.is === "failed" ? { ...finding, says: `${finding.says} at ${pathname}` } : finding;
}

function namesServer({ place, value: { resource } }: Metadata, url: URL): ProbeOutcome {
  const path = url.pathname === "/" ? "" : url.pathname;
  const identifiers = [
    url.origin + path,
    `${url.origin}${path}/`,
    ...(isRoot(place) ? [url.origin, `${url.origin}/`] : []),
  ];
  if (typeof resource === "string" && identifiers.includes(resource)) return passed;
  const found = failed(`\`resource\` is ${quoted(resource)}, expected ${url.origin}${path}`);
  return typeof resource === "string" && covers(resource, url)
    ? asNote(found, "it covers the server, and clients of MCP accept that")
    : found;
}

function isRoot({ pathname }: URL): boolean {
  return pathname === "/.well-known/oauth-protected-resource";
}
