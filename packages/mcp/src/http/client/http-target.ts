import type { MembersOf } from "../../base/check-members.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { causeText, LocalError, thrownText } from "../../jsonrpc/errors.js";
import { atOnce } from "../../jsonrpc/hooks.js";
import { excerpt } from "../../jsonrpc/report.js";

/** A function with the signature of `fetch`. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/**
 * Adds authorization to the requests to a server: returns what sends them. Applied once for each connection to a URL.
 * `waits` keeps calls from timing out until a promise is settled, e.g. while a user signs in.
 */
export type HttpAuthorization = (fetch: Fetch, url: URL, waits?: (until: Promise<unknown>) => void) => Fetch;

/** Headers in any form that `new Headers` accepts. */
export type HeaderEntries = Headers | Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** HTTP options of a client. */
export interface HttpClientOptions {
  /** Obtains and sends access tokens, e.g. `oauth({ … })` of `@parlance/mcp/auth`. Default: none. */
  readonly auth?: HttpAuthorization;
  /** Sends the requests, for proxies or certificates. Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
  /**
   * Headers for every request, or a function that returns them, called before each request. `Host` needs a `fetch` that sends it: that
   * of Node, Deno and browsers does not. Default: none.
   */
  readonly headers?: HeaderEntries | (() => MaybePromise<HeaderEntries>);
}

/** The members of `HttpClientOptions`, to detect unknown options. */
export const httpClientMembers: MembersOf<HttpClientOptions> = {
  auth: ["function", "authProvider", "authorization"],
  fetch: ["function"],
  headers: ["any", "header", "requestInit"],
};

/** One HTTP request. */
export interface TargetRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The maximum number of redirects per request. */
const maxRedirects = 5;

/** The endpoint of a client's requests. */
export class HttpTarget {
  readonly url: URL;
  readonly #fetch: Fetch;
  readonly #headers: HttpClientOptions["headers"];
  /** The `fetch` of Node, Deno and browsers puts the host of the URL in the place of any other, and says nothing. That of Bun sends it. */
  readonly #replacesHost: boolean;
  #waiting: Promise<unknown> | undefined;

  /** @throws TypeError for an invalid URL */
  constructor(url: URL, { auth, fetch = globalThis.fetch, headers }: HttpClientOptions) {
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError(`${url.protocol} is not HTTP`);
    if (url.username !== "" || url.password !== "")
      throw new TypeError("A URL with a password ends up in logs: give an Authorization header instead");
    this.url = url;
    this.#fetch = auth === undefined ? fetch : atOnce("auth", () => auth(fetch, url, (until) => this.#wait(until)));
    this.#headers = headers;
    this.#replacesHost = fetch === globalThis.fetch && !("Bun" in globalThis);
  }

  /** Pending while requests wait for authorization, which may need a user. Never rejects. */
  get waiting(): Promise<unknown> | undefined {
    return this.#waiting;
  }

  /**
   * Sends a request, and follows redirects within the same origin. Other origins get nothing, because a request may
   * contain secrets.
   *
   * @param what a description of the request, for error messages
   * @throws LocalError `refused` for invalid headers, `closed` if the server cannot be reached, HttpError for a
   * redirect to another origin, `cancelled` if the signal aborts
   */
  async send(what: string, request: TargetRequest, url: URL = this.url): Promise<Response> {
    const init = { ...request, headers: await this.#headersOf(what, request), redirect: "manual" } as const;
    let at = url;
    for (let left = maxRedirects; ; left -= 1) {
      const response = await this.#request(what, at, init);
      if (!isRedirect(response)) return response;
      void response.body?.cancel().catch(() => undefined); // The body is not needed.
      at = redirected(what, response, at, left);
    }
  }

  #wait(until: Promise<unknown>): void {
    const waiting = Promise.allSettled([this.#waiting, until]).then(() => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    this.#waiting = waiting;
  }

  async #headersOf(what: string, request: TargetRequest): Promise<Headers> {
    try {
      const given = typeof this.#headers === "function" ? await this.#headers() : this.#headers;
      const headers = new Headers(given as HeadersInit | undefined); // Its types do not accept `readonly`.
      if (this.#replacesHost && headers.has("host"))
        throw new TypeError(
          "fetch sends the host of the URL as Host: put it in the URL, or give a fetch of your own that sends it",
        );
      for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
      return headers;
    } catch (error) {
      throw noHeaders(what, error);
    }
  }

  async #request(what: string, url: URL, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const fetch = this.#fetch; // The `fetch` of browsers and workers throws if called as a method.
    try {
      return await fetch(url, init);
    } catch (error) {
      if (error instanceof LocalError) throw error; // Of the authorization.
      throw init.signal.aborted ? givenUp(what, error) : unreachable(what, url, error);
    }
  }
}

/** Only 307 and 308 repeat a request unchanged; the other statuses would turn it into a GET. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

function redirected(what: string, { status, type, headers }: Response, from: URL, left: number): URL {
  const location = headers.get("location");
  const to = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to !== undefined && to.origin === from.origin && (status === 307 || status === 308) && left > 0) return to;
  // The query may have a code or a token.
  const where = to === undefined ? "elsewhere" : `to ${excerpt(to.origin + to.pathname)}`;
  const how = type === "opaqueredirect" ? "redirects" : `redirects with ${status}`;
  const remedy = "connect to where it really is";
  throw new HttpError(status, `${what}: the server ${how} ${where}, which is not followed: ${remedy}`);
}

function noHeaders(what: string, cause: unknown): LocalError {
  return new LocalError("refused", `${what}: its headers cannot be made: ${thrownText(cause)}`, { cause });
}

function givenUp(what: string, cause: unknown): LocalError {
  return new LocalError("cancelled", `${what}: given up`, { cause });
}

function unreachable(what: string, { origin }: URL, cause: unknown): LocalError {
  return new LocalError("closed", `${what}: ${origin} cannot be reached: ${causeText(cause)}`, { cause });
}

/** The server rejected a request with an HTTP status, without a JSON-RPC error. */
export class HttpError extends LocalError {
  override readonly name = "HttpError";
  /** The HTTP status of the response. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super("protocol", message, options);
    this.status = status;
  }
}

/** The HTTP status of an error or of its cause; undefined if there is none. */
export function statusOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof HttpError) return each.status;
  }
  return undefined;
}
