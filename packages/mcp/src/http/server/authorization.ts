import {
  type AuthEndpoints,
  isResourceServer,
  metadataPaths,
  type ResourceServer,
  type TokenRequest,
  type Verification,
} from "../../auth/resource-server.js";
import { foreignMembers } from "../../base/foreign-members.js";
import { isObject, kindOf } from "../../base/json.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { type Identity, requireIdentity } from "../../jsonrpc/call.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { faultOf, type Reporter } from "../../jsonrpc/report.js";
import type { HttpCaller } from "./peers.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "./request.js";
import { emptyResponse, jsonResponse } from "./responses.js";

/**
 * Identifies a caller. Undefined rejects the request with 401 and `WWW-Authenticate: Bearer`; an object with a `challenge` does so
 * with that challenge, for schemes of your own. Called before the body is read. What it throws is reported: 401.
 */
export type Authenticate = (
  request: Pick<HttpRequest, "method" | "url" | "header" | "raw">,
) => MaybePromise<Identity | { readonly challenge: string } | undefined>;

/** How a server over HTTP authenticates its callers: with access tokens, or by a function of its own. */
export type Auth = ResourceServer | Authenticate;

/** Why a request is not served, as its client learns it. */
export interface Denial {
  readonly status: 400 | 401 | 403 | 503;
  readonly reason: string;
  readonly headers: HttpHeaders;
}

/** A scheme and a token (RFC 6750 §2.1). */
const credentials = /^(?<scheme>\S+) +(?<token>[a-z0-9._~+/-]+=*)$/i;

const required = "authentication is required";
const unaccepted = "the Authorization that was sent is not accepted here";

/** Longer tokens are rejected before they are parsed. */
const maxTokenLength = 16 * 1024;

/** The most bytes of a form or of the metadata of a client. */
const maxFormBytes = 64 * 1024;

/** Open to every origin: a client reads the metadata before it has a token. */
const openHeaders: HttpHeaders = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "mcp-protocol-version",
  "access-control-max-age": "7200",
};

/**
 * Identifies callers, and tells clients how they get authorized.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization
 */
export class Authorization {
  readonly #auth: Auth;
  readonly #report: Reporter;
  #metadataAt: { readonly paths: readonly string[]; readonly url: string } | undefined;

  /** @throws TypeError for what is neither a resource server nor a function */
  constructor(auth: Auth, report: Reporter) {
    if (!isResourceServer(auth) && typeof auth !== "function") {
      const remedy =
        "give it jwtAuth({ issuer, audience }) or bearerAuth({ verify, … }) of @parlance/mcp/auth, or a function that returns { principal }";
      throw new TypeError(`auth needs a resource server or a function, got ${kindOf(auth)}: ${remedy}`);
    }
    this.#auth = auth;
    this.#report = report;
  }

  /**
   * The caller of a request, or why it is not served. Never rejects.
   * @param address the network of the caller, by which limits are counted
   * @param remedy what the operator can do about a limit that was reached; default: unknown
   */
  async identify(
    request: Pick<HttpRequest, "method" | "url" | "header" | "raw">,
    address: string | undefined,
    remedy: () => string | undefined = () => undefined,
  ): Promise<Identity | Denial> {
    const auth = this.#auth;
    try {
      if (isResourceServer(auth)) return await this.#verify(auth, request, address, remedy);
      const { method, url, raw } = request;
      const asked = { method, url, raw, header: (name: string) => request.header(name) };
      Object.setPrototypeOf(asked, foreignRequestMembers);
      const caller = await inHook("auth", () => auth(asked));
      if (caller === undefined)
        return this.#denial(401, (request.header("authorization") ?? "") === "" ? required : unaccepted);
      if (!isObject(caller))
        throw new TypeError(`auth must return { principal }, { challenge } or undefined, got ${kindOf(caller)}`);
      if ("challenge" in caller) return challenged(caller.challenge);
      return requireIdentity(caller, "return { principal }, or undefined for 401");
    } catch (error) {
      this.#report(faultOf("auth", error));
      return this.#denial(401, "the caller could not be authenticated");
    }
  }

  /** The denial of an operation that needs further scopes. It names every scope of the operation, also those that the caller has. */
  forbid(scopes: readonly string[]): Denial {
    return this.#denial(403, "the token lacks a scope that this operation requires", "insufficient_scope", scopes);
  }

  /**
   * The response to a request for the metadata of the resource, or for an endpoint of the authorization server at this origin, which checks
   * the request itself. Undefined for any other request.
   * @param definitions the scopes that definitions name
   * @param callerOf the anonymous caller, by whose network limits are counted
   * @param remedy what the operator can do about a limit that was reached
   */
  respond(
    request: HttpRequest,
    definitions: readonly string[],
    callerOf: () => HttpCaller,
    remedy: () => string | undefined,
  ): MaybePromise<HttpResponse> | undefined {
    const auth = this.#auth;
    if (!isResourceServer(auth)) return undefined;
    const path = pathOf(request.url);
    const { endpoints } = auth;
    if (this.#metadata(auth).paths.includes(path)) return metadataResponse(request, auth, definitions);
    return endpoints?.paths.includes(path) === true
      ? this.#endpoint(endpoints, request, callerOf(), remedy)
      : undefined;
  }

  async #endpoint(
    endpoints: AuthEndpoints,
    request: HttpRequest,
    { peer, budget }: HttpCaller,
    remedy: () => string | undefined,
  ): Promise<HttpResponse> {
    const { method, url } = request;
    const header = (name: string): string | undefined => request.header(name);
    const text = (): Promise<string> =>
      new Promise((resolve, reject) =>
        request.readBody(maxFormBytes, budget, (read) => (typeof read === "string" ? resolve(read) : reject(read))),
      );
    const asked = { method, url, header, text, ...(peer === undefined ? {} : { address: peer }) };
    const { reason, fault, status, headers, body } = await endpoints.handle(asked);
    if (fault !== undefined) this.#report(faultOf("auth", fault));
    if (reason !== undefined) this.#refused(status === 503 ? withRemedy(reason, remedy) : reason);
    return { status, headers, body };
  }

  /** Where the metadata is. Not before the first request: a server that listens on any free port has no URL until then. */
  #metadata(auth: ResourceServer): { readonly paths: readonly string[]; readonly url: string } {
    if (this.#metadataAt === undefined) {
      const paths = metadataPaths(auth);
      this.#metadataAt = { paths, url: new URL(paths[0], auth.resource).href };
    }
    return this.#metadataAt;
  }

  async #verify(
    auth: ResourceServer,
    request: TokenRequest,
    address: string | undefined,
    remedy: () => string | undefined,
  ): Promise<Identity | Denial> {
    const header = request.header("authorization");
    if (header === undefined) return this.#denial(401, required);
    const { scheme = "", token = "" } = credentials.exec(header)?.groups ?? {};
    const isProved = /^dpop\b/i.test(header) && auth.dpop !== undefined && request.header("dpop") !== undefined;
    // Another scheme is no attempt to use a token, nor is DPoP without a proof. The token of a query is not looked at: addresses end up
    // in logs.
    if (!isProved && !/^bearer\b/i.test(header)) return this.#denial(401, "an access token is required");
    if (token === "" || token.length > maxTokenLength) {
      this.#refused(
        `the Authorization header is not ${scheme === "" ? "a scheme and a token" : "a token that can be read"}`,
      );
      return this.#denial(400, "the Authorization header is malformed", "invalid_request");
    }
    const asked: TokenRequest = {
      method: request.method,
      scheme: isProved ? "DPoP" : "Bearer",
      ...(address === undefined ? {} : { address }),
      header: (name) => request.header(name),
    };
    const verified: Verification = await inHook("auth", () => auth.verify(token, asked));
    if (verified.kind === "unavailable") {
      const { reason, isLimit } = verified;
      this.#report(faultOf("auth", new Error(isLimit === true ? withRemedy(reason, remedy) : reason)));
      return { status: 503, reason: "tokens cannot be verified now: retry later", headers: { "retry-after": "30" } };
    }
    if (verified.kind === "invalid") {
      this.#refused(verified.reason);
      const { error, nonce } = verified;
      if (error === undefined) return this.#denial(401, "the token is not valid for this server", "invalid_token");
      const reason = error === "use_dpop_nonce" ? "the proof needs the nonce of this server" : "the proof is not valid";
      const denial = this.#denial(401, reason, error);
      return nonce === undefined ? denial : { ...denial, headers: { ...denial.headers, "dpop-nonce": nonce } };
    }
    const { identity } = verified;
    if (auth.scopes.every((scope) => identity.scopes?.includes(scope))) return identity;
    this.#refused(`the token of ${identity.principal} lacks a scope of ${auth.scopes.join(" ")}`);
    return this.forbid(auth.scopes);
  }

  /** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
  #denial(status: Denial["status"], reason: string, error?: string, needed: readonly string[] = []): Denial {
    const auth = this.#auth;
    const ofServer = isResourceServer(auth) ? auth.scopes : [];
    const scope = [...new Set([...ofServer, ...needed])].join(" ");
    const params = [
      ...(error === undefined ? [] : [`error="${error}"`, `error_description="${reason}"`]),
      ...(isResourceServer(auth) ? [`resource_metadata="${this.#metadata(auth).url}"`] : []),
      ...(scope === "" ? [] : [`scope="${scope}"`]),
    ];
    const challenges = this.#schemes(error).map(({ scheme, own }) =>
      [scheme, [...params, ...own].join(", ")].join(" ").trim(),
    );
    return { status, reason, headers: { "www-authenticate": challenges.join(", ") } };
  }

  /** The schemes of a challenge (RFC 9449 §7.1). Errors of a proof concern DPoP alone. */
  #schemes(error: string | undefined): readonly { readonly scheme: string; readonly own: readonly string[] }[] {
    const dpop = isResourceServer(this.#auth) ? this.#auth.dpop : undefined;
    const isProof = error === "invalid_dpop_proof" || error === "use_dpop_nonce";
    const bearer = isProof || dpop?.isRequired === true ? [] : [{ scheme: "Bearer", own: [] }];
    if (dpop === undefined || !(dpop.isAnnounced || isProof)) return bearer;
    return [...bearer, { scheme: "DPoP", own: [`algs="${dpop.algorithms.join(" ")}"`] }];
  }

  #refused(reason: string): void {
    this.#report({ kind: "unauthorized", reason });
  }
}

/** Anybody may read the metadata. */
function metadataResponse({ method }: HttpRequest, auth: ResourceServer, definitions: readonly string[]): HttpResponse {
  if (method === "OPTIONS") return emptyResponse(204, openHeaders);
  if (method !== "GET" && method !== "HEAD") return emptyResponse(405, { ...openHeaders, allow: "GET, HEAD" });
  const scopes = [...new Set([...auth.scopes, ...definitions])];
  const metadata = {
    resource: auth.resource,
    authorization_servers: auth.authorizationServers,
    bearer_methods_supported: ["header"],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    ...(auth.dpop?.isAnnounced === true
      ? {
          dpop_signing_alg_values_supported: auth.dpop.algorithms,
          dpop_bound_access_tokens_required: auth.dpop.isRequired,
        }
      : {}),
    ...auth.metadata,
  };
  const headers = { ...openHeaders, "content-type": "application/json", "cache-control": "public, max-age=300" };
  return jsonResponse(200, method === "HEAD" ? undefined : JSON.stringify(metadata), headers);
}

function withRemedy(reason: string, remedy: () => string | undefined): string {
  const known = remedy();
  return known === undefined ? reason : `${reason}; ${known}`;
}

/** Whether an outcome is a denial. An identity has no status. */
export function isDenial(outcome: Identity | Denial): outcome is Denial {
  return isObject(outcome) && "status" in outcome;
}

/** The path of a request, which may be given as a whole URL. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/[?#].*$/, "");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

const readsHeader = "request.header(name) is the value of a header, or undefined";
const inRaw = "request.raw is the request that the handler was given; in Express, with what middleware has added";
const foreignRequestMembers = foreignMembers(
  "request",
  { get: readsHeader },
  { headers: readsHeader, user: inRaw, session: inRaw, cookies: inRaw, auth: inRaw },
);

/** @throws TypeError for a challenge that no header can hold */
function challenged(challenge: string): Denial {
  if (!/^[\x21-\x7e][\x20-\x7e]*$/.test(challenge)) {
    throw new TypeError(
      `auth: a challenge is a scheme and its parameters, e.g. 'Basic realm="notes"', got ${JSON.stringify(challenge)}`,
    );
  }
  const reason = /\berror="?invalid_token\b/.test(challenge) ? unaccepted : required;
  return { status: 401, reason, headers: { "www-authenticate": challenge } };
}
