import type { MaybePromise } from "../../../base/maybe-promise.js";
import { repeatedId } from "../../../jsonrpc/answerer.js";
import { Problem } from "../../../jsonrpc/codec/decode.js";
import { isRequest, type Message, type RpcRequest } from "../../../jsonrpc/message.js";
import { responseToProblem } from "../../../jsonrpc/peer-settings.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import { isObject } from "../../../protocol/json.js";
import { defaultHttpRevision, revisionOf } from "../../../protocol/revisions/all.js";
import type { Revision } from "../../../protocol/revisions/revision.js";
import { callSessionless } from "../../../server/session/sessionless-server.js";
import { profileOf } from "../../../session/mcp-connection.js";
import { answerBatch, answerRequest, type PostedCall } from "../answer-posts.js";
import type { HandlerState } from "../handler-state.js";
import type { HttpCaller } from "../peers.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, jsonResponse, refusal } from "../responses.js";
import { elementsOf, foreignVersion, type HandshakeBinding, opens, type Posted } from "./handshake-binding.js";

/** Handshake revisions without sessions: each POST is handled on its own, so any process can take it. */
export class Sessionless implements HandshakeBinding {
  readonly methods: readonly string[] = [];
  readonly #host: HandlerState;

  constructor(host: HandlerState) {
    this.#host = host;
  }

  profileOf(request: HttpRequest): Profile {
    return profileOf(revisionBy(request) ?? defaultHttpRevision);
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    const revision = opens(posted) ? defaultHttpRevision : revisionBy(request);
    if (revision === undefined) return foreignVersion();
    const call: PostedCall["call"] = ({ method, params }, exchange) =>
      callSessionless(this.#host.served, revision, method, isObject(params) ? params : {}, exchange);
    if (this.#host.closing.aborted) return closingResponse();
    const elements = elementsOf(posted);
    const [only] = elements;
    const asked: PostedCall = { caller, admission: this.#host.calls, length: frame.length, call };
    if (Array.isArray(posted)) return this.#batch(request, elements, asked);
    if (only === undefined || only instanceof Problem || !isRequest(only)) return emptyResponse(202);
    return answerRequest(this.#host, request, only, asked);
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
    posted: PostedCall,
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
    if (first !== undefined) return answerBatch(this.#host, request, { requests: [first, ...more], others }, posted);
    const owed = others.filter((answer) => answer !== undefined);
    return owed.length === 0 ? emptyResponse(202) : jsonResponse(200, `[${owed.join(",")}]`);
  }
}

/** Undefined for an unknown version. */
function revisionBy(request: HttpRequest): Revision | undefined {
  const version = request.header(mcpHeaders.protocolVersion);
  return version === undefined ? defaultHttpRevision : revisionOf(version);
}

function noSessions(): HttpResponse {
  return refusal(405, "there are no sessions here", { allow: "POST" });
}
