import { isPromise } from "../base/later.js";
import type { Call, Exchange } from "./call.js";
import { encodeFailure, encodeSuccess } from "./codec.js";
import { toErrorObject } from "./errors.js";
import type { ErrorObject, Id, Params } from "./message.js";
import type { Terms } from "./terms.js";

/** An exchange that may know of its end. What is thrown after it is how a cancelled handler stops, and no fault. */
interface Endable extends Exchange {
  readonly over?: boolean;
  /** Told the error that it is answered with. */
  failed?(error: ErrorObject): void;
}

/** Runs one request; its answer as a frame. Serialising is part of the call: what fails there is a failure, not silence. */
export function respond(
  handle: Call,
  id: Id,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  terms: Terms,
): string | Promise<string> {
  try {
    const result = handle(method, params, exchange);
    if (!isPromise(result)) return encodeSuccess(id, result, terms.profile);
    return Promise.resolve(result).then(
      (value) => finish(id, method, value, exchange, terms),
      (error: unknown) => fail(id, method, error, exchange, terms),
    );
  } catch (error) {
    return fail(id, method, error, exchange, terms);
  }
}

function finish(id: Id, method: string, result: unknown, exchange: Endable, terms: Terms): string {
  try {
    return encodeSuccess(id, result, terms.profile);
  } catch (error) {
    return fail(id, method, error, exchange, terms);
  }
}

function fail(id: Id, method: string, error: unknown, exchange: Endable, terms: Terms): string {
  const fault = (cause: unknown): void => {
    if (exchange.over !== true) terms.report({ kind: "fault", method, error: cause });
  };
  const told = toErrorObject(error, terms.mapError, fault);
  exchange.failed?.(told);
  return encodeFailure(id, told, terms.profile);
}

/** Runs a notification: whatever happens, nobody is answered. */
export function runNotification(
  handle: Call,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  terms: Terms,
): undefined | Promise<undefined> {
  const fault = (error: unknown): undefined => {
    if (exchange.over !== true) terms.report({ kind: "fault", method, error });
  };
  try {
    const result = handle(method, params, exchange);
    return isPromise(result) ? Promise.resolve(result).then(() => undefined, fault) : undefined;
  } catch (error) {
    return fault(error);
  }
}
