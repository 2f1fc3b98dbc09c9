import type { MembersOf } from "../base/members.js";
import { emptyAnswer } from "./answers.js";
import type { HttpAnswer, HttpHeaders, HttpRequest } from "./request.js";

/** Headers of pages. */
export interface PageHeaders {
  /**
   * Headers that pages of allowed origins may send besides those of the protocol, e.g. `x-request-id`: the answer to a
   * preflight names them. Default: none.
   */
  readonly allowedHeaders?: readonly string[];
}

/** The members of `PageHeaders`, for the check of options. */
export const pageHeaderMembers: MembersOf<PageHeaders> = { allowedHeaders: ["allowHeaders", "corsHeaders"] };

/** What a page may send besides what every page may. Headers of single arguments are told by their prefix. */
const requestHeaders: readonly string[] = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
];
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

/** All headers that a page may send. @throws TypeError for a name that no header can have */
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
export function preflightAnswer(request: HttpRequest, methods: string, headers: ReadonlySet<string>): HttpAnswer {
  const asked = (request.header("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const allowed = asked.filter((name) => headers.has(name) || isParameter(name));
  return emptyAnswer(204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": allowed.join(", "),
    "access-control-max-age": maxAge,
  });
}

/** A name of a header (RFC 9110 §5.6.2), in lower case. */
const token = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

function isParameter(name: string): boolean {
  return name.startsWith(parameterPrefix) && token.test(name);
}
