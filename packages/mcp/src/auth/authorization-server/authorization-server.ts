import { escapeControls } from "../../base/escape-controls.js";
import { type JsonObject, parseJson } from "../../base/json.js";
import { HookError } from "../../jsonrpc/errors.js";
import type { AuthEndpoints, AuthRequest, AuthResponse } from "../resource-server.js";
import { scopesOf } from "../server/jwt-auth.js";
import { isThisMachine } from "../server/protected.js";
import { authenticationMethods, type Clients, hasRedirectUri, type RegisteredClient } from "./clients.js";
import type { Grants, TokenResponse } from "./grants.js";
import { digest, randomSecret, type Secrets, type SigningKey } from "./keys.js";
import { OAuthError } from "./oauth-error.js";
import { escapeHtml, page, sourceOf } from "./page.js";

/** An authorization request that was checked: its client and its redirect URI are known. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | null;
  /** The PKCE code challenge, S256. */
  readonly challenge: string;
  /** The digest of the cookie of the user agent that sent it. */
  readonly agent: string;
}

/** The user who has signed in, and what the client gets. */
export interface SignedIn {
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The id of the grant. Default: a new one. */
  readonly grantId?: string;
}

/** How users sign in at an authorization server. */
export interface SignIn {
  /** The content of the page on which the user decides: HTML within the form. */
  form(request: AuthorizationRequest): string;
  /** The decision of the user: signed in, denied (undefined), or a further response such as a redirect to another server. */
  decide(request: AuthorizationRequest, form: URLSearchParams): Promise<SignedIn | AuthResponse | undefined>;
  /** Where an external sign-in comes back to: its path, and the outcome of the request that it responds to. */
  readonly callback?: {
    readonly path: string;
    finish(
      query: URLSearchParams,
      agent: string | undefined,
    ): Promise<{ readonly request: AuthorizationRequest; readonly outcome: SignedIn | OAuthError }>;
  };
  /** Called when a client has ended a grant. Why what belongs to it elsewhere did not end, for the operator. */
  revoked?(grantId: string): Promise<string | undefined>;
}

/** The parts of an authorization server. */
export interface AuthorizationServerParts {
  readonly clients: Clients;
  readonly grants: Grants;
  readonly secrets: Secrets;
  readonly key: Promise<SigningKey>;
  readonly signIn: SignIn;
  /** The scopes of a request that names none. */
  readonly defaultScopes: readonly string[];
  /** Whether it serves this machine only. */
  readonly isDevelopment: boolean;
}

/** Seconds until a user has to have decided. */
export const decisionTtl = 600;

const open = { "access-control-allow-origin": "*" };
const preflight = {
  ...open,
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
  "access-control-max-age": "7200",
};

interface Endpoint {
  readonly method: "GET" | "POST";
  respond(request: AuthRequest): Promise<AuthResponse>;
}

/**
 * An authorization server for one resource at the same origin: OAuth 2.1 with authorization codes, PKCE, rotating refresh tokens and
 * client credentials, revocation (RFC 7009), dynamic client registration (RFC 7591) and client ID metadata documents. `SignIn` signs the users in.
 */
export class AuthorizationServer implements AuthEndpoints {
  readonly #parts: AuthorizationServerParts;
  /** The endpoints for programs by their paths. Pages of any origin may call them: no cookie has a meaning there. */
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly paths: readonly string[];

  constructor(parts: AuthorizationServerParts) {
    this.#parts = parts;
    this.#endpoints = new Map<string, Endpoint>([
      ["/.well-known/oauth-authorization-server", { method: "GET", respond: () => this.#metadata() }],
      ["/jwks", { method: "GET", respond: () => this.#keys() }],
      ["/register", { method: "POST", respond: (request) => this.#register(request) }],
      ["/token", { method: "POST", respond: (request) => this.#token(request) }],
      ["/revoke", { method: "POST", respond: (request) => this.#revoke(request) }],
    ]);
    const { callback } = parts.signIn;
    this.paths = [...this.#endpoints.keys(), "/authorize", ...(callback === undefined ? [] : [callback.path])];
  }

  async handle(request: AuthRequest): Promise<AuthResponse> {
    // Otherwise a page whose host name leads to this machine could sign in here as any user.
    const host = request.header("host") ?? "";
    if (this.#parts.isDevelopment && !(URL.canParse(`http://${host}`) && isThisMachine(new URL(`http://${host}`))))
      return json(403, { error: "invalid_request", error_description: "this server is for its own machine only" });
    const { pathname: written, searchParams } = new URL(request.url, "http://localhost");
    // `Authorization` takes both for the same path.
    const pathname = written.length > 1 && written.endsWith("/") ? written.slice(0, -1) : written;
    const endpoint = this.#endpoints.get(pathname);
    if (endpoint === undefined) return this.#page(request, pathname, searchParams);
    if (request.method === "OPTIONS") return { status: 204, headers: preflight };
    if (request.method !== endpoint.method)
      return { status: 405, headers: { ...open, allow: endpoint.method }, body: "" };
    try {
      return await endpoint.respond(request);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const { code, message } = error;
      const isBasic = code === "invalid_client" && request.header("authorization") !== undefined;
      const response = json(isBasic ? 401 : statusOf(error), { error: code, error_description: message });
      const challenge = isBasic ? { "www-authenticate": "Basic" } : retryOf(error);
      return { ...response, headers: { ...response.headers, ...challenge }, reason: reasonOf(pathname, error) };
    }
  }

  /**
   * The redirect that ends an authorization request: with a code for a user who signed in, with an error otherwise.
   * https://www.rfc-editor.org/rfc/rfc9207
   */
  async complete(request: AuthorizationRequest, outcome: SignedIn | OAuthError): Promise<URL> {
    const url = new URL(request.redirectUri);
    if (outcome instanceof OAuthError) {
      url.searchParams.set("error", outcome.code);
      url.searchParams.set("error_description", outcome.message);
    } else {
      const { subject, scopes, grantId: id = crypto.randomUUID() } = outcome;
      const { clientId, challenge, redirectUri } = request;
      const code = await this.#parts.grants.code({ id, clientId, subject, scopes }, { challenge, redirectUri });
      url.searchParams.set("code", code);
    }
    if (request.state !== null) url.searchParams.set("state", request.state);
    url.searchParams.set("iss", this.#parts.grants.issuer);
    return url;
  }

  /**
   * Checks an authorization request.
   * @throws OAuthError for one without a known client and redirect URI: it must not be redirected anywhere
   * @returns the request, or the redirect with the error
   */
  async check(query: URLSearchParams, agent: string, address?: string): Promise<AuthorizationRequest | URL> {
    const [clientId = "", redirectUri = ""] = [query.get("client_id") ?? "", query.get("redirect_uri") ?? ""];
    const client = await this.#parts.clients.get(clientId, address);
    if (!hasRedirectUri(client, redirectUri))
      throw new OAuthError("invalid_request", "the redirect_uri is not one that the client has registered");
    const request: AuthorizationRequest = {
      clientId,
      clientName: client.name,
      redirectUri,
      scopes: this.#scopes(query) ?? this.#parts.defaultScopes,
      state: query.get("state"),
      challenge: query.get("code_challenge") ?? "",
      agent,
    };
    const fault = this.#faultOf(query, request);
    return fault === undefined ? request : this.complete(request, fault);
  }

  #faultOf(query: URLSearchParams, { challenge }: AuthorizationRequest): OAuthError | undefined {
    if (query.get("response_type") !== "code")
      return new OAuthError("unsupported_response_type", "response_type must be code");
    if (query.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge))
      return new OAuthError("invalid_request", "PKCE is required: give a code_challenge with the method S256");
    return this.#faultOfResource(query);
  }

  #faultOfResource(parameters: URLSearchParams): OAuthError | undefined {
    const resource = this.#parts.grants.resource();
    if (parameters.getAll("resource").every((each) => each === resource)) return undefined;
    return new OAuthError("invalid_target", `the only resource here is ${resource}`);
  }

  async #page(request: AuthRequest, path: string, query: URLSearchParams): Promise<AuthResponse> {
    const { method } = request;
    try {
      if (path !== "/authorize") return await this.#callback(request, query);
      if (method === "GET") return await this.#ask(request, query);
      if (method === "POST") return await this.#decide(request, new URLSearchParams(await request.text()));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const response = page(statusOf(error), "The sign-in cannot go on", `<p>${escapeHtml(error.message)}.</p>`);
      return { ...response, headers: { ...response.headers, ...retryOf(error) }, reason: reasonOf(path, error) };
    }
    return { status: 405, headers: { allow: "GET, POST" }, body: "" };
  }

  async #ask(request: AuthRequest, query: URLSearchParams): Promise<AuthResponse> {
    const cookie = this.#cookieOf(request) ?? randomSecret();
    const checked = await this.check(query, await digest(cookie), request.address);
    if (checked instanceof URL) return redirect(checked);
    const { clientName, redirectUri, scopes } = checked;
    const transaction = await this.#parts.secrets.seal(
      "authorization",
      { request: checked, agent: checked.agent },
      decisionTtl,
    );
    const hidden = `<input type="hidden" name="transaction" value="${escapeHtml(transaction)}">`;
    const asked = scopes.length === 0 ? "" : `<p>Scopes: <code>${shown(scopes.join(" "))}</code></p>`;
    const resource = this.#parts.grants.resource();
    const content =
      `<p><strong>${shown(clientName)}</strong> asks for access to <code>${escapeHtml(resource)}</code>.</p>${asked}` +
      // As a URL is written: another script's letters, which look like those of a known host, are shown as the host that they name.
      `<p>Afterwards you return to <code>${shown(new URL(redirectUri).href)}</code>. Go on only if you started this sign-in there.</p>` +
      `<form method="post" action="/authorize">${hidden}${this.#parts.signIn.form(checked)}` +
      '<button name="decision" value="deny">Deny</button></form>';
    // Browsers apply form-action to the redirects that follow, which may lead through another server.
    const targets =
      this.#parts.signIn.callback === undefined ? [] : ["https:", "http://127.0.0.1:*", "http://localhost:*"];
    const response = page(200, `Sign in to ${escapeControls(clientName)}`, content, [
      ...targets,
      sourceOf(redirectUri),
    ]);
    const { name, attributes } = this.#cookie();
    return { ...response, headers: { ...response.headers, "set-cookie": `${name}=${cookie}; ${attributes}` } };
  }

  async #decide(request: AuthRequest, form: URLSearchParams): Promise<AuthResponse> {
    const sealed = await this.#parts.secrets.open("authorization", form.get("transaction") ?? "");
    const cookie = this.#cookieOf(request);
    // The browser that decides must be the one that asked: another one may have been sent the page of somebody else's sign-in.
    if (sealed === undefined || cookie === undefined || sealed.agent !== (await digest(cookie)))
      throw new OAuthError(
        "invalid_request",
        "this page has expired or belongs to another browser: start again in the client",
      );
    const checked = sealed.request as AuthorizationRequest; // Only `#ask` seals this kind.
    if (form.get("decision") === "deny") return redirect(await this.complete(checked, denied));
    const outcome = await this.#parts.signIn.decide(checked, form);
    if (outcome !== undefined && "status" in outcome) return outcome;
    return redirect(await this.complete(checked, outcome ?? denied));
  }

  async #callback(request: AuthRequest, query: URLSearchParams): Promise<AuthResponse> {
    const { callback } = this.#parts.signIn;
    if (callback === undefined || request.method !== "GET") return { status: 405, headers: { allow: "GET" }, body: "" };
    const cookie = this.#cookieOf(request);
    const agent = cookie === undefined ? undefined : await digest(cookie);
    const { request: asked, outcome } = await callback.finish(query, agent);
    const response = redirect(await this.complete(asked, outcome));
    if (!(outcome instanceof OAuthError)) return response;
    const { cause } = outcome;
    if (cause instanceof HookError) return { ...response, fault: cause };
    return typeof cause === "string" ? { ...response, reason: `${callback.path}: ${cause}` } : response;
  }

  async #metadata(): Promise<AuthResponse> {
    const { issuer } = this.#parts.grants;
    const { jwk } = await this.#parts.key;
    return json(200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      ...(jwk === undefined ? {} : { jwks_uri: `${issuer}/jwks` }),
      response_types_supported: ["code"],
      grant_types_supported: [
        "authorization_code",
        "refresh_token",
        ...(this.#parts.clients.haveOwnTokens ? ["client_credentials"] : []),
      ],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: authenticationMethods,
      revocation_endpoint: `${issuer}/revoke`,
      revocation_endpoint_auth_methods_supported: authenticationMethods,
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  }

  async #keys(): Promise<AuthResponse> {
    const { jwk } = await this.#parts.key;
    return json(200, { keys: jwk === undefined ? [] : [jwk] });
  }

  async #register(request: AuthRequest): Promise<AuthResponse> {
    // For what is not JSON, it says that it needs an object.
    return json(201, await this.#parts.clients.register(parseJson(await request.text())));
  }

  async #token(request: AuthRequest): Promise<AuthResponse> {
    const form = new URLSearchParams(await request.text());
    const client = await this.#parts.clients.authenticate(form, request);
    const fault = this.#faultOfResource(form);
    if (fault !== undefined) throw fault;
    return json(200, await this.#tokens(client, form));
  }

  async #revoke(request: AuthRequest): Promise<AuthResponse> {
    const form = new URLSearchParams(await request.text());
    const { id: clientId } = await this.#parts.clients.authenticate(form, request);
    const token = form.get("token");
    if (token === null) throw new OAuthError("invalid_request", "token is missing");
    const grantId = await this.#parts.grants.revoke(clientId, token);
    const failure = grantId === undefined ? undefined : await this.#parts.signIn.revoked?.(grantId);
    // The grant has ended: for the client that is a success.
    return { ...json(200, {}), ...(failure === undefined ? {} : { reason: `/revoke: ${failure}` }) };
  }

  #tokens(client: RegisteredClient, form: URLSearchParams): Promise<TokenResponse> {
    const { grants } = this.#parts;
    const { id: clientId, ownScopes, secret } = client;
    const grantType = form.get("grant_type");
    if (grantType === "authorization_code") {
      const [code, verifier] = [form.get("code") ?? "", form.get("code_verifier") ?? ""];
      return grants.redeemCode(clientId, code, form.get("redirect_uri"), verifier);
    }
    if (grantType === "refresh_token")
      return grants.refresh(clientId, form.get("refresh_token") ?? "", this.#scopes(form));
    if (grantType !== "client_credentials")
      throw new OAuthError(
        "unsupported_grant_type",
        "grant_type must be authorization_code, refresh_token or client_credentials",
      );
    if (ownScopes === undefined || secret === undefined)
      throw new OAuthError("unauthorized_client", "this client gets tokens only for users");
    const scopes = this.#scopes(form) ?? ownScopes;
    if (scopes.some((scope) => !ownScopes.includes(scope)))
      throw new OAuthError("invalid_scope", `the scopes of this client are ${ownScopes.join(" ")}`);
    return grants.clientCredentials(clientId, scopes);
  }

  #scopes(parameters: URLSearchParams): readonly string[] | undefined {
    const scopes = new Set(scopesOf({ scope: parameters.get("scope") }));
    return scopes.size === 0 ? undefined : [...scopes];
  }

  /** The cookie that identifies a user agent. Browsers accept the prefix `__Host-` over HTTPS only. */
  #cookie(): { readonly name: string; readonly attributes: string } {
    const isSecure = this.#parts.grants.issuer.startsWith("https:");
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${decisionTtl}`;
    return isSecure
      ? { name: "__Host-parlance-sign-in", attributes: `${attributes}; Secure` }
      : { name: "parlance-sign-in", attributes };
  }

  #cookieOf(request: AuthRequest): string | undefined {
    const { name } = this.#cookie();
    const all = (request.header("cookie") ?? "").split(";").map((each) => each.trim());
    const values = all.filter((each) => each.startsWith(`${name}=`)).map((each) => each.slice(name.length + 1));
    return values.length === 1 && /^[A-Za-z0-9_-]{43}$/.test(values[0] ?? "") ? values[0] : undefined;
  }
}

/** A text of a client in HTML. What could hide or turn round a part of it, and mislead the user who decides, is written as an escape. */
function shown(text: string): string {
  return `<bdi>${escapeHtml(escapeControls(text))}</bdi>`;
}

const denied = new OAuthError("access_denied", "the user has denied the request");

/** For the operator: with what only the operator learns. */
function reasonOf(path: string, { code, message, cause }: OAuthError): string {
  return `${path}: ${code}: ${message}${typeof cause === "string" ? ` (${cause})` : ""}`;
}

function statusOf({ code }: OAuthError): number {
  return code === "temporarily_unavailable" ? 503 : 400;
}

function retryOf(error: OAuthError): Readonly<Record<string, string>> {
  return statusOf(error) === 503 ? { "retry-after": "5" } : {};
}

/** 303: a browser that has sent a form follows with GET. */
export function redirect(url: URL): AuthResponse {
  return {
    status: 303,
    headers: { location: url.href, "cache-control": "no-store", "referrer-policy": "no-referrer" },
  };
}

function json(status: number, content: JsonObject): AuthResponse {
  const body = JSON.stringify(content);
  return { status, headers: { ...open, "content-type": "application/json", "cache-control": "no-store" }, body };
}
