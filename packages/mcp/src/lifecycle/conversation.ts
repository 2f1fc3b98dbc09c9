import type { Call } from "../jsonrpc/call.js";
import { invalidParams } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import { isObject } from "../protocol/json.js";
import { metaKeys, readMeta, readRequestMeta } from "../protocol/meta.js";
import { latest, latestHandshake } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { HandshakeServer, type Manners } from "./handshake-server.js";
import type { Served } from "./served.js";
import { callStateless } from "./stateless-server.js";

/**
 * The server's side of one duplex carrier. Each message decides for itself: one that names a revision in `_meta` is
 * answered by it alone, any other belongs to the conversation that `initialize` opens.
 */
export class Conversation {
  readonly #served: Served;
  readonly #handshake: HandshakeServer;

  /** @param onAgreement told the revision that `initialize` has settled on */
  constructor(served: Served, manners: Manners, onAgreement: (revision: Revision) => void) {
    this.#served = served;
    this.#handshake = new HandshakeServer(served, manners, onAgreement);
  }

  readonly call: Call = (method, given, exchange) => {
    const params = isObject(given) ? given : {};
    if (speaksForItself(params)) return callStateless(this.#served, method, params, exchange);
    if (isStatelessOnly(method)) throw invalidParams("Invalid params", missingMeta(params));
    return this.#handshake.call(method, params, exchange);
  };

  readonly notified = (method: string, _params: Params | undefined): void => {
    this.#handshake.notified(method);
  };
}

/** True for a request that names a revision, and for one that names it wrongly: then it must hear of that. */
function speaksForItself(params: Params): boolean {
  return Object.hasOwn(readMeta(params) ?? {}, metaKeys.protocolVersion);
}

/** A method that only requests with a `_meta` of their own can mean. */
function isStatelessOnly(method: string): boolean {
  return latest.requests.client.has(method) && !latestHandshake.requests.client.has(method);
}

function missingMeta(params: Params): readonly { readonly path: string; readonly message: string }[] {
  const reading = readRequestMeta(params);
  return "faults" in reading ? reading.faults : [];
}
