import { emptyAnswer } from "./answers.js";
import type { HttpAnswer, HttpHeaders, HttpRequest } from "./request.js";

/** What a page may send besides what every page may. Headers of single arguments are told by their prefix. */
const requestHeaders: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
]);
const parameterPrefix = "mcp-param-";

/** Seconds for which a browser need not ask again. */
const maxAge = "7200";

/** What lets a page of an allowed origin read the answer. */
export function corsHeaders(origin: string): HttpHeaders {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "mcp-session-id, www-authenticate, retry-after",
    vary: "origin",
  };
}

/** Whether a browser asks what a page of an allowed origin may send. */
export function isPreflight(request: HttpRequest): boolean {
  return request.method === "OPTIONS" && request.header("access-control-request-method") !== undefined;
}

/** https://fetch.spec.whatwg.org/#cors-preflight-fetch */
export function preflightAnswer(request: HttpRequest, methods: string): HttpAnswer {
  const asked = (request.header("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const allowed = asked.filter((name) => requestHeaders.has(name) || isParameter(name));
  return emptyAnswer(204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": allowed.join(", "),
    "access-control-max-age": maxAge,
  });
}

function isParameter(name: string): boolean {
  return name.startsWith(parameterPrefix) && /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}
