import { describeValue, isObject } from "@parlance/mcp/protocol";
import { headerOf } from "../../conversation/exchange.js";
import type { HttpExchange } from "../../conversation/message.js";
import { formOf, parametersOf } from "../../conversation/sign-in.js";
import { authorization, onSecurity } from "../citations.js";
import type { Clause, Rule } from "../rule.js";
import { documentIn, hasAuthorization, hasBoundIssuer, hasChallengedScopes, isResourceServer } from "./access.js";

const onCodes = onSecurity("authorization-code-protection");
const inBoth = "MUST be included in both authorization requests and token requests.";

/** The sentence on refresh tokens of public clients. */
const onRotation = {
  sentence:
    'For public clients, authorization servers MUST rotate refresh tokens as described in OAuth 2.1 Section 4.3.1 "Token Endpoint Extension".',
  page: onSecurity("token-theft"),
} as const;

/** Grants whose tokens are for the `resource` of the request. In other grants, an assertion names it. */
const resourceGrants: ReadonlySet<string | null> = new Set([
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:device_code",
]);

/** The rules on the registration of a client, its authorization request with the response, and its token requests. */
export const grantRules: readonly Rule[] = [
  {
    id: "AU-8",
    level: "must",
    party: "client",
    steps: ["registration"],
    demands: "A client registers redirect URIs that are of localhost or use HTTPS",
    applies: hasAuthorization,
    sentence: (revision) =>
      isResourceServer(revision)
        ? "All redirect URIs MUST be either `localhost` or use HTTPS."
        : "Redirect URIs MUST be either localhost URLs or HTTPS URLs",
    page: (revision) =>
      isResourceServer(revision)
        ? onSecurity("communication-security")(revision)
        : `${authorization}#security-considerations`,
    on: "body",
    *check({ frame: { from }, json: { value } }) {
      if (from !== "client" || !isObject(value) || !Array.isArray(value.redirect_uris)) return;
      for (const [index, uri] of value.redirect_uris.entries())
        if (typeof uri !== "string" || !isSafeRedirect(uri))
          yield { says: `the redirect URI is ${describeValue(uri)}`, pointer: `/redirect_uris/${index}` };
    },
  },
  {
    id: "AU-9",
    level: "must",
    party: "client",
    steps: ["registration"],
    demands: "A client names its application_type when it registers",
    applies: hasBoundIssuer,
    sentence: "MCP clients MUST specify an appropriate `application_type` during Dynamic Client Registration.",
    page: `${authorization}/client-registration#application-type-and-redirect-uri-constraints`,
    on: "body",
    *check({ frame: { from }, json: { value } }) {
      if (from === "client" && isObject(value) && typeof value.application_type !== "string")
        yield { says: "`application_type` is missing" };
    },
  },
  {
    id: "AU-10",
    level: "must",
    party: "client",
    steps: ["authorization"],
    demands: "A client sends no user to an authorization server that does not announce PKCE",
    applies: hasChallengedScopes,
    sentence:
      "If `code_challenge_methods_supported` is absent, the authorization server does not support PKCE and MCP clients MUST refuse to proceed.",
    page: onCodes,
    on: "exchange",
    *check({ request: { url = "" } }, { signIns: { metadata } }) {
      if (metadata === undefined || !isEndpoint(metadata.authorization_endpoint, url)) return;
      if (metadata.code_challenge_methods_supported === undefined)
        yield { says: "its metadata has no `code_challenge_methods_supported`" };
    },
  },
  {
    id: "AU-11",
    level: "must",
    party: "client",
    steps: ["authorization"],
    demands: "An authorization request has a code challenge of PKCE, by the method S256",
    applies: hasAuthorization,
    sentence: (revision) =>
      isResourceServer(revision)
        ? "To mitigate this, MCP clients MUST implement PKCE according to OAuth 2.1 Section 7.5.2"
        : "PKCE is REQUIRED for all clients",
    page: (revision) =>
      isResourceServer(revision) ? onCodes(revision) : `${authorization}#implementation-requirements`,
    on: "exchange",
    *check(exchange, _, revision) {
      const parameters = requestParameters(exchange);
      if (parameters === undefined) return;
      const method = parameters.get("code_challenge_method") ?? "plain";
      if (!parameters.has("code_challenge")) yield { says: "`code_challenge` is missing" };
      else if (method !== "S256" && hasChallengedScopes(revision))
        yield { says: `the method is ${describeValue(method)}, expected S256`, by: strongMethod };
    },
  },
  {
    id: "AU-12",
    level: "must",
    party: "client",
    steps: ["authorization"],
    demands: "An authorization request names the server as its resource",
    applies: isResourceServer,
    sentence: inBoth,
    page: `${authorization}#resource-parameter-implementation`,
    on: "exchange",
    *check(exchange) {
      if (requestParameters(exchange)?.has("resource") === false) yield { says: "`resource` is missing" };
    },
  },
  {
    id: "AU-13",
    level: "should",
    party: "client",
    steps: ["authorization"],
    demands: "An authorization request has a state",
    applies: isResourceServer,
    sentence: "MCP clients SHOULD use and verify state parameters in the authorization code flow",
    page: onSecurity("open-redirection"),
    on: "exchange",
    *check(exchange) {
      if (requestParameters(exchange)?.has("state") === false) yield { says: "`state` is missing" };
    },
  },
  {
    id: "AU-14",
    level: "must",
    party: "server",
    steps: ["redirect"],
    demands: "The redirect to a client has the state of the authorization request",
    applies: hasAuthorization,
    sentence:
      'REQUIRED if the "state" parameter was present in the client authorization request. The exact value received from the client.',
    page: "https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2",
    on: "exchange",
    *check({ request: { url = "" } }, { signIns }) {
      const sent = signIns.authorization?.get("state") ?? undefined;
      if (sent === undefined || !isEndpoint(signIns.authorization?.get("redirect_uri"), url)) return;
      const got = parametersOf(url).get("state");
      if (got === sent) return;
      yield { says: got === null ? "`state` is missing" : "`state` is another one" };
    },
  },
  {
    id: "AU-15",
    level: "must",
    party: "server",
    steps: ["redirect"],
    demands: "The redirect of an authorization server that announces iss has its issuer there",
    applies: hasAuthorization,
    sentence:
      "In authorization responses to the client, including error responses, an authorization server supporting this specification MUST indicate its identity by including the iss parameter in the response.",
    page: "https://www.rfc-editor.org/rfc/rfc9207#section-2",
    on: "exchange",
    *check({ request: { url = "" } }, { signIns: { metadata } }) {
      if (metadata?.authorization_response_iss_parameter_supported !== true) return;
      const issuer = parametersOf(url).get("iss");
      if (issuer === metadata.issuer) return;
      if (issuer === null) yield { says: "`iss` is missing" };
      else
        yield {
          says: `\`iss\` is ${describeValue(issuer)}, expected ${describeValue(metadata.issuer)}`,
          by: sameIssuer,
        };
    },
  },
  {
    id: "AU-16",
    level: "must",
    party: "server",
    steps: ["redirect"],
    demands: "An authorization server that sends iss announces it in its metadata",
    applies: hasBoundIssuer,
    sentence:
      "Authorization servers that include the `iss` parameter MUST advertise this by setting `authorization_response_iss_parameter_supported` to `true` in their metadata",
    page: `${authorization}#authorization-response-validation`,
    on: "exchange",
    *check({ request: { url = "" } }, { signIns: { metadata } }) {
      if (metadata === undefined || !parametersOf(url).has("iss")) return;
      if (metadata.authorization_response_iss_parameter_supported !== true)
        yield { says: "`authorization_response_iss_parameter_supported` is not true" };
    },
  },
  {
    id: "AU-17",
    level: "should",
    party: "server",
    steps: ["redirect"],
    demands: "The redirect to a client names the issuer",
    applies: hasBoundIssuer,
    sentence:
      "MCP authorization servers SHOULD include the `iss` parameter in authorization responses, including error responses, as defined in RFC9207 Section 2.",
    page: `${authorization}#authorization-response-validation`,
    on: "exchange",
    *check({ request: { url = "" } }, { signIns: { metadata } }) {
      // If the metadata announces it, AU-15 applies.
      const isAnnounced = metadata?.authorization_response_iss_parameter_supported === true;
      if (!isAnnounced && !parametersOf(url).has("iss")) yield { says: "`iss` is missing" };
    },
  },
  {
    id: "AU-18",
    level: "must",
    party: "client",
    steps: ["token"],
    demands: "A token request names the server as its resource",
    applies: isResourceServer,
    sentence: inBoth,
    page: `${authorization}#resource-parameter-implementation`,
    on: "body",
    *check({ frame }) {
      if (frame.from !== "client") return;
      const parameters = formOf(frame);
      if (resourceGrants.has(parameters.get("grant_type")) && !parameters.has("resource"))
        yield { says: "`resource` is missing" };
    },
  },
  {
    id: "AU-19",
    level: "must",
    party: "server",
    steps: ["token"],
    demands: "A token response must not be stored",
    applies: hasAuthorization,
    sentence:
      'The authorization server MUST include the HTTP "Cache-Control" response header field [RFC2616] with a value of "no-store" in any response containing tokens, credentials, or other sensitive information',
    page: "https://www.rfc-editor.org/rfc/rfc6749#section-5.1",
    on: "exchange",
    *check({ response }) {
      if (response?.status !== 200) return;
      if (!/\bno-store\b/i.test(headerOf(response, "cache-control") ?? ""))
        yield { says: "Cache-Control has no no-store", header: "cache-control" };
    },
  },
  {
    id: "AU-20",
    level: "must",
    party: "server",
    steps: ["token"],
    demands: "A token response names the type of the token",
    applies: hasAuthorization,
    sentence: "REQUIRED. The type of the token issued as described in Section 7.1.",
    page: "https://www.rfc-editor.org/rfc/rfc6749#section-5.1",
    on: "body",
    *check(reading) {
      const issued = documentIn(reading);
      if (issued !== undefined && typeof issued.token_type !== "string")
        yield { says: `\`token_type\` is ${describeValue(issued.token_type)}` };
    },
  },
  {
    id: "AU-21",
    level: "must",
    party: "server",
    steps: ["token"],
    demands: "A refresh token of a public client is used once",
    applies: isResourceServer,
    ...onRotation,
    on: "body",
    *check(reading) {
      const { exchange } = reading;
      const issued = documentIn(reading);
      const [sent] = exchange?.frames ?? [];
      if (issued === undefined || exchange === undefined || sent?.from !== "client") return;
      const parameters = formOf(sent);
      if (parameters.get("grant_type") !== "refresh_token" || !isPublic(exchange, parameters)) return;
      const [before, after] = [parameters.get("refresh_token"), issued.refresh_token];
      if (after === undefined) yield { says: "there is no new refresh token", by: notRotated };
      // Covered values cannot be compared.
      else if (typeof after === "string" && after === before && !/^[█*]+$/.test(after))
        yield { says: "the refresh token is the same as before", pointer: "/refresh_token" };
    },
  },
];

const strongMethod: Clause = {
  level: "must",
  sentence:
    "MCP clients MUST use the `S256` code challenge method when technically capable, as required by OAuth 2.1 Section 4.1.1.",
  page: onCodes,
  doubt: "a client that is not capable of S256 may use another method",
};

const sameIssuer: Clause = {
  level: "must",
  sentence:
    "The issuer identifier included in the server's metadata value issuer MUST be identical to the iss parameter's value.",
  page: "https://www.rfc-editor.org/rfc/rfc9207#section-2.3",
};

/** The clause of AU-21 for a response without a refresh token. */
const notRotated: Clause = {
  level: "must",
  ...onRotation,
  doubt: "the authorization server may have ended the refresh token, or bound it to the client",
};

/** The parameters of an authorization request; undefined if they were pushed to the server before (RFC 9126). */
function requestParameters({ request: { url = "" } }: HttpExchange): URLSearchParams | undefined {
  const parameters = parametersOf(url);
  return parameters.has("request_uri") ? undefined : parameters;
}

/** Whether a URL, without its query, is an endpoint that metadata or a request names. */
function isEndpoint(endpoint: unknown, url: string): boolean {
  const withoutQuery = (each: string): string => each.replace(/[?#].*$/s, "");
  return typeof endpoint === "string" && withoutQuery(endpoint) === withoutQuery(url);
}

/** Whether a redirect URI is safe. The addresses of this machine count as localhost: RFC 8252 §7.3 prefers them. */
function isSafeRedirect(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  const isLocal = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLocal);
}

/** Whether a client does not authenticate, and its tokens are bound to no key. */
function isPublic({ request }: HttpExchange, parameters: URLSearchParams): boolean {
  const authenticates = ["client_secret", "client_assertion"].some((name) => parameters.has(name));
  return !authenticates && ["authorization", "dpop"].every((name) => headerOf(request, name) === undefined);
}
