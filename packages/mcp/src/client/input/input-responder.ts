import type { Call } from "../../jsonrpc/call.js";
import { methodNotFound } from "../../jsonrpc/errors.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { isProtocolMethod, methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";

/** A validated input request: runs its handler and returns the response in the newest shape. */
export type AcceptedRequest = (signal: AbortSignal) => Promise<JsonObject>;

/** Outcome of a URL elicitation. */
export interface UrlElicitationOutcome {
  readonly action: string;
  /** Resolves when the call that required the elicitation should be retried. */
  readonly retry?: PromiseLike<unknown> | undefined;
}

/** Answers the input requests of a server, for server requests and for `input_required` results. */
export interface InputResponder {
  /** The client capabilities to declare in that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * Validates an input request before its handler runs.
   * @throws RpcError −32601 for what was not declared, −32602 for what cannot be answered as it was asked
   */
  accept(method: string, params: JsonObject, revision: Revision): AcceptedRequest;
  /**
   * The same for a URL elicitation that a call requires first; undefined if it is not supported.
   * @throws RpcError as `accept`
   */
  acceptUrlElicitation?(
    params: JsonObject,
    revision: Revision,
  ): (signal: AbortSignal) => Promise<UrlElicitationOutcome>;
}

/**
 * Answers what a server requests in the handshake era; in the other one its profile answers nothing. Before the peers have
 * settled on a revision, the server gets a sign of life and no more.
 *
 * @param spoken the revision of the conversation, once there is one
 */
export function respondToServer(responder: InputResponder, spoken: () => Revision | undefined): Call {
  return (method, params, { signal }) => {
    if (method === methods.ping) return {};
    const revision = spoken();
    const exists = revision?.requests.server.has(method) === true || !isProtocolMethod(method);
    if (revision === undefined || !exists) throw methodNotFound(method);
    const ask = responder.accept(method, isObject(params) ? params : {}, revision);
    return ask(signal).then((answer) => revision.down("result", method, answer));
  };
}
