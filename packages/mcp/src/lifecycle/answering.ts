import type { Call } from "../jsonrpc/call.js";
import { methodNotFound } from "../jsonrpc/errors.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";

/** A question that is sound and was offered: asks it, and gives the answer in the newest shape. */
export type AcceptedQuestion = (signal: AbortSignal) => Promise<JsonObject>;

/** A visit to a page, as a person has taken it. */
export interface Visited {
  readonly action: string;
  /** Resolves when the call that wanted the visit shall be made again. */
  readonly retry?: PromiseLike<unknown> | undefined;
}

/** What a client can be asked, and how it answers. The same for requests of the server and for `input_required`. */
export interface Answering {
  /** What is declared to a server of that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * Looks at a question before anybody is bothered with it.
   * @throws RpcError −32601 for what was not declared, −32602 for what cannot be answered as it was asked
   */
  accept(method: string, params: JsonObject, revision: Revision): AcceptedQuestion;
  /**
   * The same for a page that a call wants to be visited first; undefined where only `accept` asks.
   * @throws RpcError as `accept`
   */
  acceptVisit?(params: JsonObject, revision: Revision): (signal: AbortSignal) => Promise<Visited>;
}

/**
 * Answers what a server requests in the handshake era; in the other one its profile answers nothing. Before the peers have
 * settled on a revision, the server gets a sign of life and no more.
 *
 * @param spoken the revision of the conversation, once there is one
 */
export function answerRequests(answering: Answering, spoken: () => Revision | undefined): Call {
  return (method, params, { signal }) => {
    if (method === methods.ping) return {};
    const revision = spoken();
    const exists = revision?.requests.server.has(method) === true || !isProtocolMethod(method);
    if (revision === undefined || !exists) throw methodNotFound(method);
    const ask = answering.accept(method, isObject(params) ? params : {}, revision);
    return ask(signal).then((answer) => revision.down("result", method, answer));
  };
}
