import { isPromise } from "../../base/maybe-promise.js";
import type { Call, Exchange } from "../call.js";
import { encodeFailure, encodeSuccess } from "../codec/codec.js";
import { type ErrorMapper, HookError, internalError, RpcError } from "../errors.js";
import { atOnce } from "../hooks.js";
import type { ErrorObject, Id, Params } from "../message.js";
import type { PeerSettings } from "../peer-settings.js";
import { faultOf } from "../report.js";

/** An exchange that may know of its end. What is thrown after it is how a cancelled handler stops, and no fault. */
interface Endable extends Exchange {
  readonly over?: boolean;
  /** Told the error that it is answered with, and what was thrown. */
  failed?(error: ErrorObject, thrown: unknown): void;
}

/** Runs one request; its answer as a frame. Serialising is part of the call: what fails there is a failure, not silence. */
export function runRequest(
  handle: Call,
  id: Id,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  terms: PeerSettings,
): string | Promise<string> {
  try {
    const result = handle(method, params, exchange);
    if (!isPromise(result)) return encodeSuccess(id, result, terms.profile);
    return Promise.resolve(result).then(
      (value) => finish(id, method, params, value, exchange, terms),
      (error: unknown) => fail(id, method, params, error, exchange, terms),
    );
  } catch (error) {
    return fail(id, method, params, error, exchange, terms);
  }
}

function finish(
  id: Id,
  method: string,
  params: Params | undefined,
  result: unknown,
  exchange: Endable,
  terms: PeerSettings,
): string {
  try {
    return encodeSuccess(id, result, terms.profile);
  } catch (error) {
    return fail(id, method, params, error, exchange, terms);
  }
}

function fail(
  id: Id,
  method: string,
  params: Params | undefined,
  thrown: unknown,
  exchange: Endable,
  terms: PeerSettings,
): string {
  const fault = (error: unknown): void => {
    if (exchange.over !== true) terms.report(faultOf(method, error, terms.nameOf?.(method, params)));
  };
  const told = toErrorObject(thrown, terms.mapError, fault);
  exchange.failed?.(told, thrown);
  return encodeFailure(id, told, terms.profile);
}

/**
 * The one conversion of anything thrown into what the peer may see. What is not an `RpcError` and not mapped becomes
 * *Internal error* without a message, a stack or a cause: those go to `fault`.
 */
export function toErrorObject(
  error: unknown,
  map: ErrorMapper | undefined,
  fault: (error: unknown) => void,
): ErrorObject {
  const thrown = error instanceof HookError ? error.cause : error;
  try {
    const told = thrown instanceof RpcError ? thrown : map && atOnce("mapError", () => map(thrown));
    if (told instanceof RpcError) return told.toJSON();
  } catch (failed) {
    fault(failed);
  }
  fault(error);
  return internalError;
}

/** Runs a notification: whatever happens, nobody is answered. */
export function runNotification(
  handle: Call,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  terms: PeerSettings,
): undefined | Promise<undefined> {
  const fault = (error: unknown): undefined => {
    if (exchange.over !== true) terms.report(faultOf(method, error, terms.nameOf?.(method, params)));
  };
  try {
    const result = handle(method, params, exchange);
    return isPromise(result) ? Promise.resolve(result).then(() => undefined, fault) : undefined;
  } catch (error) {
    return fault(error);
  }
}
