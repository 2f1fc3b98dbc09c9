import { isObject, type JsonObject, type Revision } from "@parlance/mcp/protocol";
import { headerOf } from "../../conversation/exchange.js";
import { authorization, byEra } from "../citations.js";
import { isMcp } from "../http.js";
import type { FrameReading, Rule } from "../rule.js";

/** A parameter that carries an access token (RFC 6750 §2.3). */
const tokenParameter = /[?&]access_token=/;

/** Whether a revision has authorization. */
export function hasAuthorization({ facts }: Revision): boolean {
  return facts.authorization !== "none";
}

/** Whether an MCP server is a resource server of OAuth. */
export function isResourceServer(revision: Revision): boolean {
  return hasAuthorization(revision) && revision.facts.authorization !== "own server";
}

/** Whether challenges name scopes, and metadata declares PKCE. */
export function hasChallengedScopes(revision: Revision): boolean {
  return isResourceServer(revision) && revision.facts.authorization !== "resource server";
}

/** Whether credentials of a client are bound to the issuer of the authorization server. */
export function hasBoundIssuer({ facts }: Revision): boolean {
  return facts.authorization === "bound issuer";
}

/** The JSON object of a successful response; undefined for any other body. */
export function documentIn({
  frame: { from, entry },
  json: { value },
  exchange,
}: FrameReading): JsonObject | undefined {
  if (from !== "server" || entry.cut !== undefined || exchange?.response?.status !== 200) return undefined;
  return isObject(value) ? value : undefined;
}

/** The rules on access to a protected server: its refusals, and the tokens of its clients. */
export const accessRules: readonly Rule[] = [
  {
    id: "AU-1",
    level: "must",
    party: "server",
    demands: "A 401 names in WWW-Authenticate how a client authenticates",
    sentence:
      "The server generating a 401 response MUST send a WWW-Authenticate header field (Section 11.6.1) containing at least one challenge applicable to the target resource.",
    page: "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2",
    on: "exchange",
    *check(exchange) {
      const { response } = exchange;
      if (response?.status !== 401 || !isMcp(exchange)) return;
      if (headerOf(response, "www-authenticate") === undefined)
        yield { says: "the 401 has no WWW-Authenticate", header: "www-authenticate" };
    },
  },
  {
    id: "AU-2",
    level: (revision) => (hasAuthorization(revision) ? "must" : "should"),
    party: "client",
    demands: "An access token is in the Authorization header, not in the URL",
    sentence: (revision) =>
      hasAuthorization(revision)
        ? "Access tokens MUST NOT be included in the URI query string"
        : "Bearer tokens SHOULD NOT be passed in page URLs (for example, as query string parameters).",
    page: (revision) =>
      hasAuthorization(revision)
        ? `${authorization}#token-requirements`
        : "https://www.rfc-editor.org/rfc/rfc6750#section-5.3",
    on: "exchange",
    *check(exchange) {
      if (isMcp(exchange) && tokenParameter.test(exchange.request.url ?? ""))
        yield { says: "the URL has the parameter access_token" };
    },
  },
  {
    id: "AU-3",
    level: "should",
    party: "server",
    demands: "A 403 for missing scopes names them",
    applies: hasChallengedScopes,
    sentence: byEra(
      "When responding with insufficient scope errors, servers SHOULD include the scopes needed to satisfy the current request in the `scope` parameter.",
      "When responding with insufficient scope errors, servers SHOULD include the scopes needed to satisfy the current operation in the `scope` parameter",
    ),
    page: `${authorization}#runtime-insufficient-scope-errors`,
    on: "exchange",
    *check({ response }) {
      if (response?.status !== 403) return;
      const challenge = headerOf(response, "www-authenticate") ?? "";
      if (!/\berror\s*=\s*"?insufficient_scope\b/i.test(challenge)) return;
      if (!/[\s,]scope\s*=\s*(?:"\s*[^"\s]|[^\s",])/i.test(challenge))
        yield { says: "the challenge names no scope", header: "www-authenticate" };
    },
  },
];
