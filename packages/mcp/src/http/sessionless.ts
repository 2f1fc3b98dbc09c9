import type { MaybePromise } from "../base/later.js";
import { repeatedId } from "../jsonrpc/answer.js";
import { Problem } from "../jsonrpc/check.js";
import { isRequest, type Message, type RpcRequest } from "../jsonrpc/message.js";
import { mcpProfile, type Profile } from "../jsonrpc/profile.js";
import { answerToProblem } from "../jsonrpc/terms.js";
import { profileOf } from "../lifecycle/mcp-connection.js";
import { callSessionless } from "../lifecycle/sessionless-server.js";
import { mcpHeaders } from "../protocol/http-headers.js";
import { isObject } from "../protocol/json.js";
import { revisionOf, unnamedHttpRevision } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { answerBatch, answerRequest, type PostedCall } from "./answer-requests.js";
import { closingAnswer, emptyAnswer, jsonAnswer, refusal } from "./answers.js";
import type { DoorHost } from "./door-host.js";
import { elementsOf, foreignVersion, type HandshakeBinding, opens, type Posted } from "./handshake-binding.js";
import type { HttpCaller } from "./peers.js";
import type { HttpAnswer, HttpRequest } from "./request.js";

/** Handshake revisions without sessions: each POST is handled on its own, so any process can take it. */
export class Sessionless implements HandshakeBinding {
  readonly methods: readonly string[] = [];
  readonly #host: DoorHost;

  constructor(host: DoorHost) {
    this.#host = host;
  }

  profileOf(request: HttpRequest): Profile {
    return profileOf(revisionBy(request) ?? unnamedHttpRevision);
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpAnswer> {
    const revision = opens(posted) ? unnamedHttpRevision : revisionBy(request);
    if (revision === undefined) return foreignVersion();
    const call: PostedCall["call"] = ({ method, params }, exchange) =>
      callSessionless(this.#host.served, revision, method, isObject(params) ? params : {}, exchange);
    if (this.#host.closing.aborted) return closingAnswer();
    const elements = elementsOf(posted);
    const [only] = elements;
    const asked: PostedCall = { caller, admission: this.#host.calls, length: frame.length, call };
    if (Array.isArray(posted)) return this.#batch(request, elements, asked);
    if (only === undefined || only instanceof Problem || !isRequest(only)) return emptyAnswer(202);
    return answerRequest(this.#host, request, only, asked);
  }

  get(): HttpAnswer {
    return noSessions();
  }

  delete(): HttpAnswer {
    return noSessions();
  }

  drain(): Promise<void> {
    return Promise.resolve(); // No state.
  }

  close(): void {
    // No state.
  }

  #batch(request: HttpRequest, elements: readonly (Message | Problem)[], posted: PostedCall): MaybePromise<HttpAnswer> {
    const ids = new Set<unknown>();
    const requests: RpcRequest[] = [];
    const others: (string | undefined)[] = [];
    for (const element of elements) {
      const problem = element instanceof Problem ? element : repeatedId(element, ids);
      if (problem !== undefined) others.push(answerToProblem(problem, mcpProfile));
      else if (isRequest(element as Message)) requests.push(element as RpcRequest);
    }
    const [first, ...more] = requests;
    if (first !== undefined) return answerBatch(this.#host, request, { requests: [first, ...more], others }, posted);
    const owed = others.filter((answer) => answer !== undefined);
    return owed.length === 0 ? emptyAnswer(202) : jsonAnswer(200, `[${owed.join(",")}]`);
  }
}

/** Undefined for an unknown version. */
function revisionBy(request: HttpRequest): Revision | undefined {
  const version = request.header(mcpHeaders.protocolVersion);
  return version === undefined ? unnamedHttpRevision : revisionOf(version);
}

function noSessions(): HttpAnswer {
  return refusal(405, "there are no sessions here", { allow: "POST" });
}
