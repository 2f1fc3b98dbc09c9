import { setBackgroundTimer, type Timer } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import type { JsonObject } from "../../base/json.js";
import type { ClientConnectionOptions } from "../../client/session/client-connection.js";
import type { ServerRemote } from "../../client/session/client-session.js";
import { Caller } from "../../jsonrpc/calls/caller.js";
import { InFlight, type InFlightCounts, type Phase } from "../../jsonrpc/calls/in-flight.js";
import { defaultTimeouts, type OutgoingCall } from "../../jsonrpc/calls/outgoing-call.js";
import { decode, Problem } from "../../jsonrpc/codec/decode.js";
import { encodeNotification } from "../../jsonrpc/codec/encode.js";
import type { Closed, ConnectionState } from "../../jsonrpc/connection.js";
import { LocalError, RpcError, thrownText } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import type { Message, RpcNotification, RpcResponse } from "../../jsonrpc/message.js";
import { type PeerSettings, peerSettings } from "../../jsonrpc/peer-settings.js";
import { mcpRequestingProfile } from "../../jsonrpc/profile.js";
import { type NotificationListener, realNames } from "../../jsonrpc/routing.js";
import { encodeHeaderValue, mcpHeaders, namedBy } from "../../protocol/http-headers.js";
import { readProtocolVersion } from "../../protocol/meta.js";
import { methodAliases } from "../../protocol/revisions/aliases.js";
import { revisionOf } from "../../protocol/revisions/all.js";
import { progressTag } from "../../session/mcp-connection.js";
import type { HttpTarget } from "./http-target.js";
import { type CallWithHeaders, withParameterHeaders } from "./parameter-headers.js";
import { type ResponseReading, readRefusal, readResponse } from "./read-response.js";

/** Body and headers of a POST. */
interface PostedRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A stateless server over HTTP: each call is one request, and no connection is kept.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class HttpRemote implements ServerRemote, ConnectionState {
  /** @throws as `Connection.call`; LocalError `protocol` for an invalid HTTP response, see `HttpError` */
  readonly call: ServerRemote["call"];
  readonly target: HttpTarget;
  readonly caller: Caller;
  readonly settings: PeerSettings;
  /** Whether to accept responses that break a rule. */
  readonly lenient: boolean;
  readonly onNotification: NotificationListener;
  readonly #inFlight = new InFlight<OutgoingCall>();
  readonly #ended = new AbortController();
  readonly #closed = deferred<Closed>();
  /** Aborts when this side has closed. */
  readonly ended: AbortSignal = this.#ended.signal;
  readonly closed: Promise<Closed> = this.#closed.promise;
  /** Running requests, with the controller that aborts each. */
  readonly #requests = new Map<AbortController, Promise<void>>();
  /** The revision of the latest request. Notifications do not declare one, so they use it for their header. */
  #version: string | undefined;

  constructor(target: HttpTarget, { lenient = false, onNotification = ignore, ...options }: ClientConnectionOptions) {
    const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = options;
    this.target = target;
    this.lenient = lenient;
    this.onNotification = (method, params) => {
      const revision = this.#version === undefined ? undefined : revisionOf(this.#version);
      return onNotification(method, revision === undefined ? params : revision.up("notification", method, params));
    };
    this.settings = peerSettings({
      ...options,
      limits: { ...clientLimits, ...options.limits },
      profile: mcpRequestingProfile,
      tolerance: lenient ? "accept" : "explain",
    });
    // Aborting the HTTP request cancels the call at the server, so there is no notification for it.
    this.caller = new Caller(this.settings, this.#inFlight, { idle: timeout, total: totalTimeout }, target);
    this.call = withParameterHeaders(this.#call, this.settings.report);
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
    const body = encodeNotification(method, params);
    const stop = new AbortController();
    this.#keep(stop, this.#post(method, { body, headers: this.#headersOf(method, params) }, stop.signal));
  }

  /** Aborts running requests; resolves when they are over. */
  async close(): Promise<void> {
    if (this.phase === "open") {
      this.#inFlight.enter("closed");
      this.caller.failAll("the connection was closed");
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
      return await this.caller.call(method, params, options, (body, call) => {
        const request = { body, headers: { ...headers, ...this.#headersOf(method, params) }, stop };
        this.#keep(stop, new PostedCall(this, call, request).over);
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
  async #post(method: string, request: PostedRequest, signal: AbortSignal): Promise<void> {
    const { target, settings } = this;
    try {
      const response = await target.send(method, { ...request, method: "POST", signal });
      if (response.ok) await response.body?.cancel();
      else throw (await readRefusal(response, { what: method, signal })).error;
    } catch (error) {
      if (!signal.aborted) settings.report({ kind: "fault", method, error });
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

/** Milliseconds after the response until this side closes a stream that stays open. */
const linger = 1_000;

/**
 * A call that is one HTTP request. All messages in its response belong to the call, and aborting the request cancels
 * it.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
class PostedCall {
  /** Resolves when the request is over. Never rejects. */
  readonly over: Promise<void>;
  readonly #remote: HttpRemote;
  readonly #call: OutgoingCall;
  readonly #stop: AbortController;
  #lingering: Timer | undefined;

  constructor(remote: HttpRemote, call: OutgoingCall, request: PostedRequest & { readonly stop: AbortController }) {
    this.#remote = remote;
    this.#call = call;
    this.#stop = request.stop;
    this.over = this.#exchange(request).catch((error: unknown) => this.#fail(error));
  }

  async #exchange({ body, headers }: PostedRequest): Promise<void> {
    const { target, settings, lenient } = this.#remote;
    const { signal } = this.#stop;
    const what = `${this.#call.method} (id ${this.#call.id})`;
    const reading: ResponseReading = {
      what,
      maxBytes: settings.limits.frameBytes,
      signal,
      lenient,
      clock: settings.clock,
    };
    try {
      const response = await target.send(what, { method: "POST", headers, body, signal });
      if (response.ok) await this.#read(response, reading);
      else await this.#refused(response, reading);
    } finally {
      if (this.#lingering !== undefined) settings.clock.clearTimer(this.#lingering);
    }
  }

  async #read(response: Response, reading: ResponseReading): Promise<void> {
    await readResponse(response, reading, (text) => this.#take(text));
    const { caller } = this.#remote;
    // The response is lost: stateless servers do not keep it for a retry.
    if (caller.isPending(this.#call))
      caller.fail(this.#call, "closed", "the HTTP response ended without a JSON-RPC response");
  }

  async #refused(response: Response, reading: ResponseReading): Promise<void> {
    const { caller } = this.#remote;
    const { error, said = error } = await readRefusal(response, reading, [String(this.#call.id)]);
    if (caller.isPending(this.#call)) caller.settle(this.#call, { ok: false, error: said });
  }

  #fail(error: unknown): void {
    const { caller } = this.#remote;
    if (!caller.isPending(this.#call)) return; // The call has already ended.
    if (error instanceof LocalError) caller.settle(this.#call, { ok: false, error });
    else caller.fail(this.#call, "closed", `the HTTP response broke off: ${thrownText(error)}`, error);
  }

  #take(text: string): void {
    const { settings, caller, lenient } = this.#remote;
    const { profile, limits, exactNumbers } = settings;
    const message = decode(text, profile, limits, exactNumbers) as Message | Problem; // The profile allows no batches.
    if (message instanceof Problem) {
      const isAnswer = (lenient && caller.receiveMeant(text)) || this.#fails(message) || caller.receiveMeant(text);
      if (!isAnswer) caller.complain({ kind: "invalid", problem: message, frame: text });
    } else if (!("method" in message)) {
      if (this.#isMine(message)) this.#receive(message);
      else if (typeof message.id === "string") caller.receive(message);
      else caller.complain({ kind: "unmatched", response: message });
    } else if ("id" in message) {
      settings.report({ kind: "unanswerable", method: message.method, id: message.id });
    } else {
      this.#hear(lenient ? realNames(message, methodAliases) : message);
    }
  }

  /** Fails the call with a malformed response, if it is one to this call. Returns whether it is. */
  #fails(problem: Problem): boolean {
    return problem.id === this.#call.id && this.#remote.caller.receiveProblem(problem);
  }

  /** An error without an id reports an unreadable request, so it belongs to this call. */
  #isMine(response: RpcResponse): boolean {
    const { id } = response;
    const isUnread = "error" in response && (id === undefined || id === null);
    return this.#remote.caller.isPending(this.#call) && (isUnread || id === this.#call.id);
  }

  #receive(response: RpcResponse): void {
    const { caller, settings } = this.#remote;
    if ("error" in response) {
      const { code, message, data } = response.error;
      caller.settle(this.#call, { ok: false, error: new RpcError(code, message, data) });
    } else {
      caller.settle(this.#call, { ok: true, result: response.result });
    }
    this.#lingering = setBackgroundTimer(settings.clock, () => this.#stop.abort(), linger);
  }

  #hear({ method, params }: RpcNotification): void {
    const { caller, settings, onNotification } = this.#remote;
    if (!caller.isPending(this.#call)) return; // Notifications after the response are ignored.
    const tag = progressTag(method, params);
    if (tag !== undefined && caller.receiveRelated(tag, method, params, this.#call)) return;
    caller.touch(this.#call);
    guarded("onNotification", () => onNotification(method, params), settings.report);
  }
}
