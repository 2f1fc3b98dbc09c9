import { after } from "../base/later.js";
import type { Call, Exchange } from "../jsonrpc/call.js";
import { invalidParams } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta, readRequestMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import { latest, latestHandshake } from "../revisions/all.js";
import type { Manners } from "./agreement.js";
import type { Carrier } from "./handshake-changes.js";
import { HandshakeServer } from "./handshake-server.js";
import type { Served } from "./served.js";
import { callStateless } from "./stateless-server.js";

/**
 * The server's side of one duplex carrier. Each message decides for itself: one that names a revision in `_meta` is
 * answered by it alone, any other belongs to the conversation that `initialize` opens.
 */
export class Conversation {
  readonly #served: Served;
  readonly #handshake: HandshakeServer;

  constructor(served: Served, manners: Manners, carrier: Carrier) {
    this.#served = served;
    this.#handshake = new HandshakeServer(served, manners, carrier);
  }

  readonly call: Call = (method, given, exchange) => {
    const params = isObject(given) ? given : {};
    if (speaksForItself(params)) return this.#callStateless(method, params, exchange);
    if (isStatelessOnly(method)) throw invalidParams("Invalid params", missingMeta(params));
    return this.#handshake.call(method, params, exchange);
  };

  readonly notified = (method: string, params: Params | undefined): void => {
    this.#handshake.notified(method, params);
  };

  /** The carrier is gone: nothing is told any more. */
  close(): void {
    this.#handshake.close();
  }

  /**
   * On a duplex carrier the end of a subscription is told in both ways that the specification names. Nothing goes out
   * for one that the client itself has ended.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/cancellation
   */
  #callStateless(method: string, params: JsonObject, exchange: Exchange): unknown {
    const result = callStateless(this.#served, method, params, exchange);
    if (method !== methods.listen) return result;
    return after(result, (ended) => {
      exchange.notify(notifications.cancelled, { requestId: exchange.id, reason: "the server ends the subscription" });
      return ended;
    });
  }
}

/** True for a request that names a revision, and for one that names it wrongly: then it must hear of that. */
export function speaksForItself(params: Params): boolean {
  return Object.hasOwn(readMeta(params) ?? {}, metaKeys.protocolVersion);
}

/** A method that only requests with a `_meta` of their own can mean. */
export function isStatelessOnly(method: string): boolean {
  return latest.requests.client.has(method) && !latestHandshake.requests.client.has(method);
}

function missingMeta(params: Params): readonly { readonly path: string; readonly message: string }[] {
  const reading = readRequestMeta(params);
  return "faults" in reading ? reading.faults : [];
}
