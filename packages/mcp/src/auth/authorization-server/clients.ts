import { isObject } from "../../base/json.js";
import { causeText } from "../../jsonrpc/errors.js";
import { boundedFetch, type OwnFetch } from "../bounded-fetch.js";
import { RequestPlaces } from "../request-places.js";
import type { AuthRequest } from "../resource-server.js";
import { isThisMachine } from "../server/protected.js";
import { digest, type Secrets } from "./keys.js";
import { OAuthError } from "./oauth-error.js";
import { memoryAuthorizationStore } from "./state-store.js";

/** A client of the authorization server. */
export interface RegisteredClient {
  readonly id: string;
  /** The name that users see. The client chose it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Undefined for a public client. */
  readonly secret?: string;
  /** The scopes that it gets without a user, by client credentials; undefined if it may not. */
  readonly ownScopes?: readonly string[];
}

/** The most redirect URIs of a client, and the most characters of each of its texts. */
const maxRedirectUris = 20;
const maxText = 2_000;

/** Seconds that a client ID metadata document is used. */
const documentTtl = 300;

/** How clients authenticate at the token endpoint. */
export const authenticationMethods: readonly string[] = ["none", "client_secret_basic", "client_secret_post"];

/** Where the clients of an authorization server come from. */
export class Clients {
  readonly #secrets: Secrets;
  readonly #known: ReadonlyMap<string, RegisteredClient>;
  readonly #isDevelopment: boolean;
  readonly #send: OwnFetch | undefined;
  readonly #documents = memoryAuthorizationStore(100);
  readonly #places = new RequestPlaces();
  /** The documents that are being fetched. */
  readonly #fetching = new Map<string, Promise<unknown>>();

  /**
   * @param known pre-registered clients
   * @param isDevelopment whether client ID metadata documents may be on this machine
   * @param send fetches these documents
   */
  constructor(
    secrets: Secrets,
    known: readonly RegisteredClient[],
    isDevelopment: boolean,
    send: OwnFetch | undefined,
  ) {
    this.#secrets = secrets;
    this.#known = new Map(known.map((client) => [client.id, client]));
    this.#isDevelopment = isDevelopment;
    this.#send = send;
  }

  /** Whether some client gets tokens without a user. */
  get haveOwnTokens(): boolean {
    return [...this.#known.values()].some(({ ownScopes }) => ownScopes !== undefined);
  }

  /**
   * Registers a client (RFC 7591). Its id contains its sealed metadata: nothing is stored, so anonymous requests fill no memory.
   * @throws OAuthError for metadata that it cannot have
   */
  async register(metadata: unknown): Promise<Readonly<Record<string, unknown>>> {
    if (!isObject(metadata)) throw new OAuthError("invalid_client_metadata", "the body must be a JSON object");
    const { token_endpoint_auth_method: method = "client_secret_basic", client_name: name } = metadata;
    if (typeof method !== "string" || !authenticationMethods.includes(method)) {
      const supported = authenticationMethods.join(", ");
      throw new OAuthError("invalid_client_metadata", `token_endpoint_auth_method must be one of ${supported}`);
    }
    const redirectUris = readRedirectUris(metadata.redirect_uris);
    const registered = { redirectUris, name: readName(name), method };
    const id = await this.#secrets.seal("client", registered);
    const secret =
      method === "none" ? {} : { client_secret: await this.#secrets.clientSecret(id), client_secret_expires_at: 0 };
    return {
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      ...secret,
      client_name: registered.name,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: method,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    };
  }

  /**
   * @param address the network address of the caller
   * @throws OAuthError `invalid_client` for one that is not known
   */
  async get(id: string, address: string | undefined): Promise<RegisteredClient> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (/^https?:/.test(id)) return this.#documented(id, address);
    const opened = await this.#secrets.open("client", id);
    if (opened === undefined)
      throw new OAuthError("invalid_client", "the client is not registered here: register again");
    const { redirectUris, name, method } = opened;
    return {
      id,
      name: readName(name),
      redirectUris: readRedirectUris(redirectUris),
      ...(method === "none" ? {} : { secret: await this.#secrets.clientSecret(id) }),
    };
  }

  /**
   * The client of a token request.
   * https://datatracker.ietf.org/doc/html/rfc6749#section-2.3
   * @throws OAuthError `invalid_client`
   */
  async authenticate(
    form: URLSearchParams,
    { header, address }: Pick<AuthRequest, "header" | "address">,
  ): Promise<RegisteredClient> {
    const authorization = header("authorization");
    const basic = authorization === undefined ? undefined : readBasic(authorization);
    const id = basic?.id ?? form.get("client_id");
    if (id === null) throw new OAuthError("invalid_client", "client_id is missing");
    const client = await this.get(id, address);
    if (client.secret === undefined) return client;
    const given = basic?.secret ?? form.get("client_secret") ?? "";
    // Digests have one length, and the time to compare them says nothing about the secret.
    if ((await digest(given)) !== (await digest(client.secret)))
      throw new OAuthError("invalid_client", "the client secret is wrong");
    return client;
  }

  /**
   * The client of a client ID metadata document.
   * https://modelcontextprotocol.io/specification/latest/basic/authorization#client-id-metadata-documents
   */
  async #documented(id: string, address: string | undefined): Promise<RegisteredClient> {
    const url = URL.canParse(id) ? new URL(id) : undefined;
    if (url === undefined || !this.#mayFetch(url))
      throw new OAuthError("invalid_client", "a client_id that is a URL must be an https: URL with a path");
    const document = await this.#document(url.href, address);
    if (typeof document === "string")
      throw new OAuthError("invalid_client", "the client ID metadata document could not be read", { cause: document });
    if (!isObject(document) || document.client_id !== id)
      throw new OAuthError("invalid_client", "the client_id in the client ID metadata document is another one");
    const { token_endpoint_auth_method: method = "none" } = document;
    if (method !== "none")
      throw new OAuthError("invalid_client", "clients with a metadata document must be public: use the method none");
    return { id, name: readName(document.client_name), redirectUris: readRedirectUris(document.redirect_uris) };
  }

  /**
   * The document, or why it could not be read. Kept for a while: the token endpoint needs it again, and anyone can cause a request for it.
   * @throws OAuthError while too many are being fetched
   */
  async #document(url: string, address: string | undefined): Promise<unknown> {
    const kept = await this.#documents.get(`document:${url}`);
    if (kept !== undefined) return JSON.parse(kept);
    const fetching =
      this.#fetching.get(url) ??
      this.#places.use(address, () =>
        this.#fetch(url)
          .catch((error: unknown) => causeText(error))
          .finally(() => this.#fetching.delete(url)),
      );
    if (fetching === undefined)
      throw new OAuthError("temporarily_unavailable", "too many clients are being looked up: try again in a moment");
    this.#fetching.set(url, fetching);
    return fetching;
  }

  async #fetch(url: string): Promise<unknown> {
    const response = await boundedFetch(url, { headers: { accept: "application/json" } }, this.#send);
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    const document: unknown = await response.json();
    if (!isObject(document)) throw new Error("not a JSON object");
    await this.#documents.set(`document:${url}`, JSON.stringify(document), documentTtl);
    return document;
  }

  /**
   * Whether a URL may be requested. Anonymous clients choose it, so it must not be an address of this network; `fetch` must
   * refuse names that resolve to one.
   */
  #mayFetch(url: URL): boolean {
    if (url.username !== "" || url.password !== "" || url.hash !== "" || url.pathname === "/") return false;
    if (isThisMachine(url)) return this.#isDevelopment;
    if (url.protocol !== "https:" || url.port !== "") return false;
    return /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(url.hostname) && !/\.(local|internal|localhost)$/.test(url.hostname);
  }
}

/**
 * Whether a redirect URI of an authorization request is one of the client's. They are compared as texts; only the port of a loopback
 * URL may differ, because native clients listen on any free one.
 * https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 */
export function hasRedirectUri({ redirectUris }: RegisteredClient, asked: string): boolean {
  if (redirectUris.includes(asked)) return true;
  const portless = withoutLoopbackPort(asked);
  return portless !== undefined && redirectUris.some((each) => withoutLoopbackPort(each) === portless);
}

/** The text of a loopback URL without its port. It is not normalized: `/a/../b` stays as it is. */
function withoutLoopbackPort(uri: string): string | undefined {
  return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?(?=\/|$)/.test(uri)
    ? uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}/, "$1")
    : undefined;
}

/** Schemes that a browser runs or reads itself, or that no client can receive a code with. */
const refusedSchemes: ReadonlySet<string> = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "filesystem:",
  "ftp:",
  "javascript:",
  "mailto:",
  "vbscript:",
  "view-source:",
  "ws:",
  "wss:",
]);

function readRedirectUris(uris: unknown): readonly string[] {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > maxRedirectUris)
    throw new OAuthError("invalid_redirect_uri", `redirect_uris must be an array of 1 to ${maxRedirectUris} URIs`);
  return uris.map((uri: unknown) => {
    const url = typeof uri === "string" && uri.length <= maxText && URL.canParse(uri) ? new URL(uri) : undefined;
    const isSafe =
      url !== undefined &&
      url.hash === "" &&
      url.username === "" &&
      !refusedSchemes.has(url.protocol) &&
      // Hosts of URLs may have a comma or a semicolon, which end a source of a Content Security Policy.
      (!/^https?:$/.test(url.protocol) || /^[\w.:[\]-]+$/.test(url.host));
    if (!isSafe || typeof uri !== "string" || /[\s#]/.test(uri) || (url.protocol === "http:" && !isThisMachine(url))) {
      const allowed = "https:, http: on this machine, or a scheme of the client, without a fragment";
      throw new OAuthError("invalid_redirect_uri", `every redirect URI must be a URI with ${allowed}`);
    }
    return uri;
  });
}

function readName(name: unknown): string {
  return typeof name === "string" && name !== "" ? name.slice(0, 100) : "A client without a name";
}

/** Id and secret of HTTP Basic, which are form-encoded. */
function readBasic(header: string): { readonly id: string; readonly secret: string } | undefined {
  const encoded = /^basic +([a-z0-9+/]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  try {
    const [id = "", ...secret] = atob(encoded).split(":");
    const decode = (text: string): string =>
      new URLSearchParams(`value=${text.replaceAll("&", "%26")}`).get("value") ?? "";
    return { id: decode(id), secret: decode(secret.join(":")) };
  } catch {
    return undefined; // Not base64: the client is then missing.
  }
}
