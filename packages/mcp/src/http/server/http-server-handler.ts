import { addressKind } from "../../auth/addresses.js";
import { andThen, isPromise, type MaybePromise } from "../../base/maybe-promise.js";
import { encodeFailure } from "../../jsonrpc/codec/encode.js";
import { internalError } from "../../jsonrpc/errors.js";
import { atOnce } from "../../jsonrpc/hooks.js";
import type { PeerSettings } from "../../jsonrpc/peer-settings.js";
import { faultOf } from "../../jsonrpc/report.js";
import { contentTypeFault, json } from "../media-types.js";
import { Authorization, isDenial } from "./authorization.js";
import { corsHeaders, pageHeaders, preflightResponse } from "./cors.js";
import type { HttpOptions } from "./options.js";
import { type OriginCheck, type OriginCheckOptions, originCheck } from "./origin-check.js";
import { type HttpCaller, networkOf, Peers } from "./peers.js";
import { BodyFault, type HttpExchange, type HttpHeaders, type HttpRequest, type HttpResponse } from "./request.js";
import { jsonResponse } from "./responses.js";

/** The options of the checks that precede a message. */
export type CheckOptions = Pick<HttpOptions, "auth" | "addressOf" | "allowedHeaders"> & OriginCheckOptions;

/**
 * Handles the requests of one URL: platform-neutral requests and responses. Adapters convert from and to the platform.
 *
 * The checks before the body are the same for MCP and for plain JSON-RPC, in this order: `Host` and `Origin`, CORS
 * preflight, HTTP method, the other headers, authentication.
 */
export abstract class HttpServerHandler {
  /** How to read messages and respond outside of sessions. */
  readonly settings: PeerSettings;
  readonly #originCheck: OriginCheck;
  /** Undefined: callers are anonymous. */
  protected readonly authorization: Authorization | undefined;
  readonly #addressOf: CheckOptions["addressOf"];
  /** Request headers that pages may send. */
  readonly #pageHeaders: ReadonlySet<string>;
  readonly #peers: Peers;
  readonly #closing = new AbortController();
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal = this.#closing.signal;

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(options: CheckOptions, settings: PeerSettings) {
    this.settings = settings;
    this.#peers = new Peers(settings.limits);
    this.#originCheck = originCheck({ ...options, anyHost: options.auth !== undefined });
    this.authorization = options.auth === undefined ? undefined : new Authorization(options.auth, settings.report);
    this.#addressOf = options.addressOf;
    this.#pageHeaders = pageHeaders(options.allowedHeaders);
  }

  /** The supported HTTP methods. */
  protected abstract readonly methods: readonly string[];
  /** Responds to a request that has passed the checks. `body` is that of a POST, otherwise empty. */
  protected abstract respond(request: HttpRequest, body: string, caller: HttpCaller): MaybePromise<HttpResponse>;
  /** The error response to a request that was rejected before its message was read. */
  protected abstract refuse(status: number, reason: string, headers?: HttpHeaders): HttpResponse;
  /** The error response to a body that could not be read. */
  protected abstract refuseBody(fault: BodyFault): HttpResponse;

  /** Checks the `Accept` of a request. Returns an error response, or undefined. */
  protected checkAccept(_request: HttpRequest): HttpResponse | undefined {
    return undefined; // Plain JSON-RPC has one media type.
  }

  /** The scopes that definitions name, for the metadata of the resource. */
  protected get definitionScopes(): readonly string[] {
    return [];
  }

  /** Checks a request and responds to it. */
  handle(request: HttpExchange): void {
    const { authorization } = this;
    const answered = authorization && this.#authorizationResponse(request, authorization);
    if (answered !== undefined) {
      void andThen(answered, (response) => request.respond(response));
      return;
    }
    const origin = request.header("origin");
    const foreign = this.#originCheck(request.header("host"), origin, request.ends);
    if (foreign !== undefined) {
      request.respond(this.refuse(foreign.status, foreign.reason));
      return;
    }
    const cors = origin === undefined ? undefined : corsHeaders(origin);
    try {
      const refused = this.#checkHeaders(request);
      if (refused !== undefined) request.respond(refused, cors);
      else if (authorization !== undefined) void this.#authenticate(request, authorization, cors);
      else this.#receive(request, this.#peers.caller(undefined, this.#address(request)), cors);
    } catch (error) {
      request.respond(this.#failed(request, error), cors);
    }
  }

  async #authenticate(request: HttpExchange, authorization: Authorization, cors?: HttpHeaders): Promise<void> {
    try {
      const shared = (): string | undefined => this.#sharedLimit(request);
      const identity = await authorization.identify(request, networkOf(this.#address(request)), shared);
      if (isDenial(identity)) request.respond(this.refuse(identity.status, identity.reason, identity.headers), cors);
      else this.#receive(request, this.#peers.caller(identity, undefined), cors);
    } catch (error) {
      request.respond(this.#failed(request, error), cors);
    }
  }

  /** Reads the body of a request that has passed the checks, and responds. @throws as `readBody` */
  #receive(request: HttpExchange, caller: HttpCaller, cors?: HttpHeaders): void {
    const answer = (body: string | Error): void => {
      let response: MaybePromise<HttpResponse>;
      try {
        response = typeof body === "string" ? this.respond(request, body, caller) : this.#failed(request, body);
      } catch (error) {
        response = this.#failed(request, error);
      }
      if (isPromise(response))
        void response.then(
          (known) => request.respond(known, cors),
          (error: unknown) => request.respond(this.#failed(request, error), cors),
        );
      else request.respond(response, cors);
    };
    if (request.method === "POST") request.readBody(this.settings.limits.frameBytes, caller.budget, answer);
    else answer("");
  }

  /** Stops accepting requests, waits up to `grace` milliseconds for running ones, then closes. */
  abstract drain(grace: number): Promise<void>;

  /** Closes everything at once. */
  abstract close(): void;

  /** Stops accepting requests. */
  protected stop(): void {
    this.#closing.abort();
  }

  /** The response to a request of the authorization, which everybody may send. Its endpoints check `Host` themselves. */
  #authorizationResponse(request: HttpRequest, authorization: Authorization): MaybePromise<HttpResponse> | undefined {
    try {
      const callerOf = (): HttpCaller => this.#peers.caller(undefined, this.#address(request));
      const shared = (): string | undefined => this.#sharedLimit(request);
      const response = authorization.respond(request, this.definitionScopes, callerOf, shared);
      return isPromise(response)
        ? response.then(undefined, (error: unknown) => this.#failed(request, error))
        : response;
    } catch (error) {
      return this.#failed(request, error);
    }
  }

  /** Checks the HTTP method and the headers. Returns an error response, that to a preflight, or undefined. */
  #checkHeaders(request: HttpRequest): HttpResponse | undefined {
    const { method } = request;
    if (method === "OPTIONS" && request.header("access-control-request-method") !== undefined)
      return preflightResponse(request, this.methods.join(", "), this.#pageHeaders);
    if (!this.methods.includes(method)) {
      const allow = this.methods.join(", ");
      return this.refuse(405, `supported methods: ${allow}`, { allow });
    }
    const unacceptable = this.checkAccept(request);
    if (unacceptable !== undefined || method !== "POST") return unacceptable;
    const contentType = request.header("content-type");
    const fault = contentType === json ? undefined : contentTypeFault(contentType);
    if (fault !== undefined) return this.refuse(415, fault);
    const encoding = request.header("content-encoding");
    if (encoding === undefined || encoding.toLowerCase() === "identity") return undefined;
    return this.refuse(415, "the body has a Content-Encoding: send it as it is", { "accept-encoding": "identity" });
  }

  #address(request: HttpRequest): string | undefined {
    const addressOf = this.#addressOf;
    return addressOf === undefined ? request.address : atOnce("addressOf", () => addressOf(request));
  }

  /** Why a limit by addresses was reached, if it is that of all callers of a reverse proxy; undefined for another caller. */
  #sharedLimit(request: HttpRequest): string | undefined {
    const { address } = request;
    if (this.#addressOf !== undefined || address === undefined) return undefined;
    if (["x-forwarded-for", "forwarded"].every((name) => request.header(name) === undefined)) return undefined;
    // The headers can be written by anybody; a proxy is on this machine or in its network.
    if (!["loopback", "private"].includes(addressKind(address))) return undefined;
    return `all callers of the proxy at ${address} share one limit: set addressOf`;
  }

  #failed(request: HttpRequest, error: unknown): HttpResponse {
    if (error instanceof BodyFault) return this.refuseBody(error);
    this.settings.report(faultOf(`HTTP ${request.method}`, error));
    return jsonResponse(500, encodeFailure(undefined, internalError, this.settings.profile));
  }
}
