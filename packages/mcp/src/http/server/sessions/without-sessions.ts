import { isObject } from "../../../base/json.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";
import { repeatedId } from "../../../jsonrpc/batch.js";
import type { Call } from "../../../jsonrpc/call.js";
import { Problem } from "../../../jsonrpc/codec/decode.js";
import { RpcError } from "../../../jsonrpc/errors.js";
import { isRequest, type Message, type RpcRequest } from "../../../jsonrpc/message.js";
import { responseToProblem } from "../../../jsonrpc/peer-settings.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import { specCodes } from "../../../protocol/errors.js";
import { defaultHttpRevision, statelessVersions } from "../../../protocol/revisions/all.js";
import { callSessionless } from "../../../server/session/stateless-server.js";
import { profileOf } from "../../../session/mcp-connection.js";
import type { HttpCaller } from "../peers.js";
import type { PostedCalls } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, errorResponse, jsonResponse, refusal } from "../responses.js";
import {
  elementsOf,
  foreignVersion,
  type HandshakeBinding,
  initializeIn,
  type Posted,
  revisionBy,
} from "./handshake-binding.js";

/** Handshake revisions without sessions: each POST is handled on its own, so any process can take it. */
export class Sessionless implements HandshakeBinding {
  readonly methods: readonly string[] = [];
  readonly #calls: PostedCalls;

  constructor(calls: PostedCalls) {
    this.#calls = calls;
  }

  profileOf(request: HttpRequest): Profile {
    return profileOf(revisionBy(request) ?? defaultHttpRevision);
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    const revision = initializeIn(posted) === undefined ? revisionBy(request) : defaultHttpRevision;
    if (revision === undefined) return foreignVersion();
    const { server, closing } = this.#calls.endpoint;
    if (closing.aborted) return closingResponse();
    const call: Call = (method, params, exchange) =>
      callSessionless(server, revision, method, isObject(params) ? params : {}, exchange);
    const elements = elementsOf(posted);
    const [only] = elements;
    if (Array.isArray(posted)) return this.#batch(request, elements, caller, call);
    if (only === undefined || only instanceof Problem || !isRequest(only)) return emptyResponse(202);
    return this.#calls.answer(request, only, frame.length, caller, call);
  }

  get(): HttpResponse {
    return noSessions();
  }

  delete(): HttpResponse {
    return noSessions();
  }

  drain(): Promise<void> {
    return Promise.resolve(); // No state.
  }

  close(): void {
    // No state.
  }

  #batch(
    request: HttpRequest,
    elements: readonly (Message | Problem)[],
    caller: HttpCaller,
    call: Call,
  ): MaybePromise<HttpResponse> {
    const ids = new Set<unknown>();
    const requests: RpcRequest[] = [];
    const others: (string | undefined)[] = [];
    for (const element of elements) {
      const problem = element instanceof Problem ? element : repeatedId(element, ids);
      if (problem !== undefined) others.push(responseToProblem(problem, mcpProfile));
      else if (isRequest(element as Message)) requests.push(element as RpcRequest);
    }
    const [first, ...more] = requests;
    if (first !== undefined) return this.#calls.answerBatch(request, [first, ...more], others, caller, call);
    const owed = others.filter((answer) => answer !== undefined);
    return owed.length === 0 ? emptyResponse(202) : jsonResponse(200, `[${owed.join(",")}]`);
  }
}

function noSessions(): HttpResponse {
  return refusal(405, "there are no sessions here", { allow: "POST" });
}

/** Serves no handshake revision. A client that sends `initialize` gets the list of supported revisions. */
export const statelessOnly: HandshakeBinding = {
  methods: [],
  profileOf: () => mcpProfile,
  post(_request: HttpRequest, _frame: string, posted: Posted): HttpResponse {
    const initialize = initializeIn(posted);
    if (initialize === undefined)
      return refusal(400, `name the revision in params._meta: ${statelessVersions.join(", ")}`);
    const { id, params } = initialize;
    const requested = isObject(params) ? params.protocolVersion : undefined;
    const message = `Unsupported protocol version: this server speaks ${statelessVersions.join(", ")}`;
    const error = new RpcError(specCodes.unsupportedProtocolVersion, message, {
      supported: statelessVersions,
      requested: typeof requested === "string" ? requested : "",
    });
    return errorResponse(400, error.toJSON(), id);
  },
  get: notSpoken,
  delete: notSpoken,
  drain: () => Promise.resolve(),
  close: () => undefined,
};

function notSpoken(): HttpResponse {
  return refusal(405, "supported methods: POST", { allow: "POST" });
}
