import { deferred } from "../../base/deferred.js";
import type { ClientConnectionOptions } from "../../client/session/client-connection.js";
import type { ServerRemote } from "../../client/session/client-session.js";
import { Caller, defaultTimeouts, type OutgoingCall } from "../../jsonrpc/calls/caller.js";
import { InFlight, type InFlightCounts, type Phase } from "../../jsonrpc/calls/in-flight.js";
import { encodeRequest } from "../../jsonrpc/codec/encode.js";
import type { Closed, ConnectionState } from "../../jsonrpc/connection.js";
import { LocalError, notJson } from "../../jsonrpc/errors.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { peerSettings } from "../../jsonrpc/peer-settings.js";
import { mcpRequestingProfile } from "../../jsonrpc/profile.js";
import { encodeHeaderValue } from "../../protocol/header-values.js";
import { mcpHeaders, namedBy } from "../../protocol/http-headers.js";
import type { JsonObject } from "../../protocol/json.js";
import { readProtocolVersion } from "../../protocol/meta.js";
import type { HttpTarget } from "./http-target.js";
import { type CallWithHeaders, withParameterHeaders } from "./parameter-headers.js";
import { PostedCall, type PostHost } from "./posted-request.js";
import { readRefusal } from "./read-response.js";

/**
 * A stateless server over HTTP: each call is one request, and no connection is kept.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class HttpRemote implements ServerRemote, ConnectionState {
  /** Aborts when this side has closed. */
  readonly ended: AbortSignal;
  readonly closed: Promise<Closed>;
  /** @throws as `Connection.call`; LocalError `protocol` for an invalid HTTP response, see `HttpError` */
  readonly call: ServerRemote["call"];
  readonly #host: PostHost;
  readonly #inFlight = new InFlight<OutgoingCall>();
  readonly #ended = new AbortController();
  readonly #closed = deferred<Closed>();
  /** Running requests, with the controller that aborts each. */
  readonly #requests = new Map<AbortController, Promise<void>>();
  /** The revision of the latest request. Notifications do not declare one, so they use it for their header. */
  #version: string | undefined;

  constructor(target: HttpTarget, { lenient = false, onNotification = ignore, ...options }: ClientConnectionOptions) {
    const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = options;
    const terms = peerSettings({
      ...options,
      limits: { ...clientLimits, ...options.limits },
      profile: mcpRequestingProfile,
      tolerance: lenient ? "accept" : "explain",
    });
    // Aborting the HTTP request cancels the call at the server, so there is no notification for it.
    const caller = new Caller(terms, this.#inFlight, { idle: timeout, total: totalTimeout });
    this.ended = this.#ended.signal;
    this.closed = this.#closed.promise;
    this.#host = { target, caller, terms, lenient, onNotification };
    this.call = withParameterHeaders(this.#call, terms.report);
  }

  get phase(): Phase {
    return this.#inFlight.phase;
  }

  get inFlight(): InFlightCounts {
    return this.#inFlight.counts;
  }

  /** Nothing is kept between calls. */
  get heldBytes(): number {
    return 0;
  }

  notify(method: string, params: JsonObject = {}): void {
    if (this.phase !== "open") return;
    let body: string;
    try {
      body = encodeRequest(undefined, method, params);
    } catch (error) {
      throw notJson(method, error);
    }
    const stop = new AbortController();
    this.#keep(stop, this.#tell(method, { body, headers: this.#headersOf(method, params) }, stop.signal));
  }

  /** Aborts running requests; resolves when they are over. */
  async close(): Promise<void> {
    if (this.phase === "open") {
      this.#inFlight.change({ kind: "phase", phase: "closed" });
      this.#host.caller.failAll("the connection was closed");
      this.#ended.abort();
    }
    for (const stop of this.#requests.keys()) stop.abort();
    await Promise.all(this.#requests.values());
    this.#closed.resolve({ reason: "closed" });
  }

  readonly #call: CallWithHeaders = async (method, params, options, headers) => {
    const stop = new AbortController();
    this.#version = readProtocolVersion(params) ?? this.#version;
    try {
      return await this.#host.caller.call(method, params, options, (body, call) => {
        const request = { body, headers: { ...headers, ...this.#headersOf(method, params) }, stop };
        this.#keep(stop, new PostedCall(this.#host, call, request).over);
      });
    } catch (error) {
      if (error instanceof LocalError) stop.abort(error);
      throw error;
    }
  };

  #keep(stop: AbortController, over: Promise<void>): void {
    this.#requests.set(
      stop,
      over.finally(() => this.#requests.delete(stop)),
    );
  }

  /** Never rejects. */
  async #tell(
    method: string,
    request: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<void> {
    const { target, terms } = this.#host;
    try {
      const response = await target.send(method, { ...request, method: "POST", signal });
      if (response.ok) await response.body?.cancel();
      else
        throw (
          await readRefusal(response, { what: method, maxBytes: terms.limits.frameBytes, signal, clock: terms.clock })
        ).error;
    } catch (error) {
      if (!signal.aborted) terms.report({ kind: "fault", method, error });
    }
  }

  #headersOf(method: string, params: JsonObject): Readonly<Record<string, string>> {
    const member = namedBy.get(method);
    const name = member === undefined ? undefined : params[member];
    return {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      [mcpHeaders.method]: method,
      ...(this.#version === undefined ? {} : { [mcpHeaders.protocolVersion]: this.#version }),
      ...(typeof name === "string" ? { [mcpHeaders.name]: encodeHeaderValue(name) } : {}),
    };
  }
}

const ignore = (): void => undefined;
