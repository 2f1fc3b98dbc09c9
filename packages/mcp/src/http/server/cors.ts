import type { MembersOf } from "../../base/check-members.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "./request.js";
import { emptyResponse } from "./responses.js";

/** CORS options. */
export interface PageHeaders {
  /**
   * Request headers that pages of allowed origins may send, in addition to those of MCP, e.g. `x-request-id`. Listed in
   * preflight responses. Default: none.
   */
  readonly allowedHeaders?: readonly string[];
}

/** The members of `PageHeaders`, to detect unknown options. */
export const pageHeaderMembers: MembersOf<PageHeaders> = { allowedHeaders: ["strings", "allowHeaders", "corsHeaders"] };

/** Request headers that need permission. Headers of mirrored arguments are matched by prefix. */
const requestHeaders: readonly string[] = [
  "accept",
  "authorization",
  "content-type",
  "dpop",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
];
const parameterPrefix = "mcp-param-";

/** Seconds for which browsers may cache a preflight response. */
const maxAge = "7200";

/** The response headers that let a page of an allowed origin read the response. */
export function corsHeaders(origin: string): HttpHeaders {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "mcp-session-id, www-authenticate, dpop-nonce, retry-after",
    vary: "origin",
  };
}

/**
 * The request headers that pages may send.
 * @throws TypeError for an invalid header name
 */
export function pageHeaders(allowed: readonly string[] = []): ReadonlySet<string> {
  const names = allowed.map((name) => name.toLowerCase());
  const wrong = names.find((name) => !token.test(name));
  if (wrong !== undefined) {
    throw new TypeError(
      `allowedHeaders: ${JSON.stringify(wrong)} is not the name of a header: write one like "x-request-id"`,
    );
  }
  return new Set([...requestHeaders, ...names]);
}

/** https://fetch.spec.whatwg.org/#cors-preflight-fetch */
export function preflightResponse(request: HttpRequest, methods: string, headers: ReadonlySet<string>): HttpResponse {
  const asked = (request.header("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const allowed = asked.filter((name) => headers.has(name) || (name.startsWith(parameterPrefix) && token.test(name)));
  return emptyResponse(204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": allowed.join(", "),
    "access-control-max-age": maxAge,
  });
}

/** A header name (RFC 9110 §5.6.2) in lower case. */
const token = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
