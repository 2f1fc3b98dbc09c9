import type { MaybePromise } from "../base/maybe-promise.js";
import type { Identity } from "../jsonrpc/call.js";

/** A request whose token is verified. */
export interface TokenRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The scheme of the `Authorization` header. `DPoP` only with a proof, in the header `dpop`. Default: `Bearer`. */
  readonly scheme?: "Bearer" | "DPoP";
  /** The network address of the caller, by which limits are counted (IPv6: the /64). Default: it is not known. */
  readonly address?: string;
  /** The value of a header by its lower-case name. */
  header(name: string): string | undefined;
}

/**
 * The result of verifying a token. The client learns only the kind; the reason is for the operator and is reported.
 *
 * - `identity`: the token is valid for this server.
 * - `invalid`: it is not, whatever the reason. The client gets 401 with `invalid_token`.
 * - `unavailable`: it cannot be verified now, because the authorization server does not respond, or too many are being verified. The client gets 503 and keeps its token.
 */
export type Verification =
  | {
      readonly kind: "identity";
      /** The caller. */
      readonly identity: Identity;
    }
  | {
      readonly kind: "invalid";
      /** For the operator. It contains no token. */
      readonly reason: string;
      /** The error of the challenge. Default: `invalid_token`. */
      readonly error?: "invalid_dpop_proof" | "use_dpop_nonce";
      /** The nonce that the next proof has to have. */
      readonly nonce?: string;
    }
  | {
      readonly kind: "unavailable";
      /** For the operator. It contains no token. */
      readonly reason: string;
      /** Whether a limit of this server is the reason, such as that of one network address. Default: false. */
      readonly isLimit?: boolean;
    };

/** Which DPoP proofs a server verifies (RFC 9449). */
export interface DpopSupport {
  /** The algorithms that proofs may have. */
  readonly algorithms: readonly string[];
  /** Whether challenges and metadata name DPoP. Without, a token that is bound to a key still needs its proof. */
  readonly isAnnounced: boolean;
  /** Whether tokens that are not bound to a key are refused. */
  readonly isRequired: boolean;
  /** Whether proofs need a nonce of this server. */
  readonly requiresNonce: boolean;
}

/**
 * Protects a server over HTTP with access tokens. Made by `jwtAuth`, `introspectionAuth` and `bearerAuth`; give it to `serveHttp`,
 * `httpHandler` or `nodeHandler` as `auth`.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization
 */
export interface ResourceServer {
  /** The URL of this server as clients write it: the resource identifier, and the audience of its tokens. */
  readonly resource: string;
  /** The issuers of the tokens that it accepts. */
  readonly authorizationServers: readonly string[];
  /** The scopes that every request needs. */
  readonly scopes: readonly string[];
  /** The Protected Resource Metadata (RFC 9728), without the scopes of definitions. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The DPoP proofs that it verifies. Default: none; a request with the scheme `DPoP` gets the challenge for one without a token. */
  readonly dpop?: DpopSupport;
  /** Verifies a token. What it throws is reported, and the client gets 401. */
  verify(token: string, request: TokenRequest): MaybePromise<Verification>;
  /** The authorization server at the origin of this server. Default: it is elsewhere. */
  readonly endpoints?: AuthEndpoints;
  /**
   * Called by `serveHttp` with the URL of the server, before the first request. What it throws keeps the server from starting.
   * @param isProduction whether `NODE_ENV` is `production`
   */
  servedAt?(url: string, isProduction: boolean): void;
}

/** A request to an endpoint of an authorization server. */
export interface AuthRequest extends TokenRequest {
  /** Path and query, or a full URL. */
  readonly url: string;
  /** Reads the whole body. It is bounded. */
  text(): MaybePromise<string>;
}

/** The response of an endpoint. */
export interface AuthResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Header names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for no body. */
  readonly body?: string;
  /** Why the request was refused, for the operator. It contains no secret. */
  readonly reason?: string;
  /** The error of a function of the application, which is reported as a fault. */
  readonly fault?: Error;
}

/** Endpoints at the origin of a server, besides its metadata. */
export interface AuthEndpoints {
  /** Their paths. A framework has to route them to the handler too. */
  readonly paths: readonly string[];
  /** Responds to a request for one of the paths. `Host` and `Origin` were not checked. What it throws is reported: 500. */
  handle(request: AuthRequest): MaybePromise<AuthResponse>;
}

/** Whether it is a resource server, and not a function that identifies callers. */
export function isResourceServer(auth: unknown): auth is ResourceServer {
  return typeof auth === "object" && auth !== null && "verify" in auth && "authorizationServers" in auth;
}

/** The path at which the metadata of a resource is, and below which the path of the resource is appended. */
const metadataRoot = "/.well-known/oauth-protected-resource";

/**
 * Where clients find the metadata of a resource: at its own path below the root, which the challenge names, and at the root.
 * https://www.rfc-editor.org/rfc/rfc9728#section-3.1
 */
export function metadataPaths({ resource }: Pick<ResourceServer, "resource">): readonly [own: string, root: string] {
  const { pathname } = new URL(resource);
  return [pathname === "/" ? metadataRoot : `${metadataRoot}${pathname}`, metadataRoot];
}

/**
 * The paths that a protected server has besides its own: those of its metadata, and of the endpoints of `devAuth` and `oauthProxy`.
 * `serveHttp` serves them. A framework has to route them to the same handler, at the root of the origin, not below a prefix.
 *
 * @example
 * const auth = jwtAuth({ issuer: "https://login.example.com", audience: "https://mcp.example.com/mcp" });
 * const mcp = nodeHandler(server, { auth });
 * for (const path of ["/mcp", ...pathsOfAuth(auth)]) app.all(path, mcp); // Express
 *
 * @throws Error for `devAuth` without a `resource` before `serveHttp` has served it
 */
export function pathsOfAuth(auth: ResourceServer): readonly string[] {
  return [...metadataPaths(auth), ...(auth.endpoints?.paths ?? [])];
}
