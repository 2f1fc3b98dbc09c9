import { weightOfValue } from "../../base/byte-budget.js";
import type { MembersOf } from "../../base/check-members.js";
import { settlesWithin } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { isPromise } from "../../base/maybe-promise.js";
import { answerDecoded } from "../../jsonrpc/answerer.js";
import type { Call } from "../../jsonrpc/call.js";
import { type Endable, unfinished } from "../../jsonrpc/calls/responder.js";
import { type Decoded, Problem } from "../../jsonrpc/codec/decode.js";
import { encodeFailure } from "../../jsonrpc/codec/encode.js";
import { codes, LocalError } from "../../jsonrpc/errors.js";
import type { Id, Message } from "../../jsonrpc/message.js";
import { decodeBody, type PeerOptions, peerMembers, peerSettings } from "../../jsonrpc/peer-settings.js";
import type { Auth } from "./authorization.js";
import type { PageHeaders } from "./cors.js";
import { HttpServerHandler } from "./http-server-handler.js";
import { type AddressOf, checkedMembers } from "./options.js";
import type { OriginCheckOptions } from "./origin-check.js";
import { ConcurrencyLimit, type HttpCaller, requestLimits } from "./peers.js";
import type { BodyFault, HttpHeaders, HttpRequest, HttpResponse } from "./request.js";
import { emptyResponse, jsonResponse, retryLater, withHeaders } from "./responses.js";
import { bodyOf, type StreamLimits, streamLimits } from "./streams/event-stream.js";

/** Options of plain JSON-RPC over HTTP. */
export interface RpcOptions
  extends PeerOptions,
    PageHeaders,
    Pick<OriginCheckOptions, "allowedHosts" | "allowedOrigins"> {
  /** Authenticates callers, as in `HttpOptions`. Default: every caller with an allowed host is accepted. */
  readonly auth?: Auth;
  /**
   * The network address of anonymous callers, as in `HttpOptions`. Default: the peer of the connection on Node; unknown on other platforms.
   */
  readonly addressOf?: AddressOf;
}

/** The members of `RpcOptions`, to detect unknown options. */
export const rpcMembers: MembersOf<RpcOptions> = {
  ...peerMembers,
  ...checkedMembers,
};

/**
 * Serves plain JSON-RPC at one URL. A POST contains a message or a batch; its response is the JSON-RPC response, or 204
 * if there is none.
 */
export class RpcHandler extends HttpServerHandler {
  protected readonly methods: readonly string[] = ["POST"];
  readonly #call: Call;
  readonly #running = new ConcurrencyLimit(requestLimits);
  readonly #streams: StreamLimits;
  /** Resolves when running requests are no longer awaited. */
  readonly #over = deferred<undefined>();
  /** One per running request. */
  readonly #cancels = new Set<AbortController>();

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(call: Call, options: RpcOptions & Pick<OriginCheckOptions, "exposed"> = {}) {
    super(options, peerSettings(options));
    this.#call = call;
    this.#streams = streamLimits(this.settings);
  }

  async drain(grace: number): Promise<void> {
    this.stop();
    await settlesWithin(this.#running.idle(), grace, this.settings.clock);
    this.close();
  }

  close(): void {
    this.stop();
    this.#over.resolve(undefined);
    for (const each of this.#cancels) each.abort(new LocalError("closed", "this side is shutting down"));
  }

  protected async respond(request: HttpRequest, frame: string, caller: HttpCaller): Promise<HttpResponse> {
    if (this.closing.aborted) return this.refuse(503, "the server is shutting down", retryLater);
    const decoded = decodeBody(this.settings, frame);
    const bytes = weightOfValue(decoded);
    const full = this.#running.enter(caller, bytes);
    if (full === "place") return this.refuse(429, "too many requests are running", retryLater);
    if (full !== undefined) {
      const status = full === "peer bytes" ? 429 : 503;
      return this.refuse(status, "there is no room for the request", retryLater);
    }
    const cancel = new AbortController();
    this.#cancels.add(cancel);
    try {
      return await this.#run(request, { frame, decoded }, caller, cancel);
    } finally {
      this.#cancels.delete(cancel);
      this.#running.leave(caller, bytes);
    }
  }

  protected refuse(status: number, reason: string, headers: HttpHeaders = {}): HttpResponse {
    const error = { code: codes.invalidRequest, message: "Invalid Request", data: { reason } };
    return withHeaders(jsonResponse(status, encodeFailure(undefined, error, this.settings.profile)), headers);
  }

  protected refuseBody({ status, message }: BodyFault): HttpResponse {
    return this.refuse(status, message);
  }

  async #run(
    request: HttpRequest,
    { frame, decoded }: { readonly frame: string; readonly decoded: Decoded },
    { auth, principal, budget }: HttpCaller,
    cancel: AbortController,
  ): Promise<HttpResponse> {
    const exchange: Endable = {
      signal: cancel.signal,
      get over() {
        return cancel.signal.aborted;
      },
      auth,
      principal,
      closing: this.closing,
      report: this.settings.report,
      notify: () => undefined, // The response is a single message, with nothing before it.
      drained: () => Promise.resolve(),
    };
    const answer = answerDecoded(this.#call, decoded, frame, exchange, this.settings);
    if (isPromise(answer)) {
      request.onGone(() => cancel.abort(new LocalError("cancelled", "the client has closed the connection")));
    }
    const text = await Promise.race([answer, this.#over.promise.then(() => late)]);
    if (typeof text === "symbol") {
      const id = decoded instanceof Problem || Array.isArray(decoded) ? undefined : idOf(decoded as Message);
      return jsonResponse(503, encodeFailure(id, unfinished, this.settings.profile));
    }
    if (text === undefined) return emptyResponse(204);
    return jsonResponse(decoded instanceof Problem ? 400 : 200, bodyOf(text, this.#streams, budget));
  }
}

/** Marks a call without a result yet. */
const late = Symbol("late");

function idOf(message: Message): Id | undefined {
  return "id" in message ? message.id : undefined;
}
