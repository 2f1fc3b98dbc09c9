import { isObject } from "../../base/json.js";
import { causeText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import type { BoundedFetch } from "../bounded-fetch.js";
import { metadataPaths } from "../resource-server.js";
import { issuerAsItsOwn } from "./quirks.js";
import { SignInError } from "./sign-in-error.js";

/** The metadata of a server about its authorization. */
export interface ProtectedResource {
  /** The resource identifier, which tokens are requested for. */
  readonly resource: string;
  readonly issuer: string;
  /** All scopes of the server, if it lists them. */
  readonly scopes?: readonly string[];
  /**
   * Whether the server has no such metadata. One of 2025-03-26 is its own authorization server, which may have no metadata
   * either.
   */
  readonly isWithoutMetadata: boolean;
}

/**
 * Reads the Protected Resource Metadata of a server: where the challenge says, then below its path, then at its root.
 * https://www.rfc-editor.org/rfc/rfc9728#section-3
 *
 * @param named the URL in the challenge
 * @param preferred the issuer to choose if the metadata names several
 * @throws SignInError if the metadata belongs to another resource, which would get its tokens: nothing else may be requested then
 */
export async function readResourceMetadata(
  server: URL,
  named: string | undefined,
  preferred: string | undefined,
  request: BoundedFetch,
): Promise<ProtectedResource> {
  const resource = canonical(server);
  const { origin } = server;
  const wellKnown = metadataPaths({ resource: server.href }).map((path) => `${origin}${path}`);
  const problems: string[] = [];
  for (const url of new Set(named === undefined ? wellKnown : [named, ...wellKnown])) {
    const found = await readDocument(url, request).catch((error: unknown) => causeText(error));
    if (typeof found === "string") problems.push(`${url}: ${found}`);
    else return check(server, url, found, preferred);
  }
  // The challenge of a newer server names its metadata, so this one is not of 2025-03-26.
  if (named !== undefined) {
    throw new SignInError({
      kind: "resource-metadata",
      step: "resource-metadata",
      received: problems.join("; "),
      expected: "Protected Resource Metadata where the challenge says, or at a well-known place",
      remedy: "the server has to serve the document that its challenge names",
    });
  }
  return { resource, issuer: origin, isWithoutMetadata: true };
}

async function readDocument(url: string, request: BoundedFetch): Promise<Readonly<Record<string, unknown>> | string> {
  const response = await request(url, { headers: { accept: "application/json" } });
  if (response.status !== 200) return `status ${response.status}`;
  const document: unknown = await response.json();
  return isObject(document) ? document : "not a JSON object";
}

function check(
  server: URL,
  url: string,
  document: Readonly<Record<string, unknown>>,
  preferred: string | undefined,
): ProtectedResource {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  if (typeof resource !== "string" || !covers(resource, server)) {
    throw new SignInError({
      kind: "resource-mismatch",
      step: "resource-metadata",
      received: `metadata of the resource ${excerpt(String(resource))} at ${url}`,
      expected: canonical(server),
      remedy: "connect to the URL that the metadata names, or correct `resource` in the metadata of the server",
    });
  }
  const issuers = (Array.isArray(servers) ? servers : []).map(issuerAsItsOwn);
  const issuer = issuers.includes(preferred) ? preferred : issuers[0];
  if (typeof issuer !== "string" || !URL.canParse(issuer)) {
    throw new SignInError({
      kind: "resource-metadata",
      step: "resource-metadata",
      received: `no authorization server in ${url}`,
      expected: "the URL of at least one in `authorization_servers`",
      remedy: "the server has to name its authorization server",
    });
  }
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string");
  return { resource, issuer, isWithoutMetadata: false, ...(isList ? { scopes } : {}) };
}

/** Whether a resource identifier covers a server: it is its URL, or one above it. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search, hash } = new URL(resource);
  if (origin !== server.origin || hash !== "") return false;
  if (search !== "" && search !== server.search) return false;
  const path = pathname.replace(/\/$/, "");
  return server.pathname === path || server.pathname.startsWith(`${path}/`);
}

/**
 * A URL as a resource identifier: without a fragment, and without the slash of an empty path.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#canonical-server-uri
 */
function canonical({ origin, pathname, search }: URL): string {
  return `${origin}${pathname === "/" ? "" : pathname}${search}`;
}
