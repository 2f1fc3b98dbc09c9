import { isArray } from "../../base/json.js";
import { LocalError, thrownText } from "../errors.js";
import {
  type Batch,
  type ErrorObject,
  ExactNumber,
  type Id,
  type Message,
  type Params,
  RawJson,
  written,
} from "../message.js";
import { baseProfile, type Profile } from "../profile.js";

/**
 * The JSON text of a value. It writes each `ExactNumber` as its literal.
 *
 * @throws as `ExactNumber.stringify`
 */
export function encodeValue(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  const before = written.exactNumbers;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError && error.message.includes("BigInt"))) throw error;
    throw new TypeError(`${error.message}: give a string, or a number if it is small enough`, { cause: error });
  }
  // Hardly any value has such a number; only then is it written again, with literals.
  return text === undefined || written.exactNumbers !== before ? ExactNumber.stringify(value) : text;
}

/** An id as it stands on the wire. */
function encodeId(id: Id): string {
  return typeof id === "number" || id instanceof ExactNumber ? String(id) : JSON.stringify(id);
}

/** @throws as `encodeValue` */
export function encodeSuccess(id: Id, result: unknown, profile: Profile): string {
  const value = result === undefined ? profile.emptyResult : encodeValue(result);
  return `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : encodeId(id)},"result":${value}}`;
}

/** A failure for the wire. Without an id to echo it carries null, or none, as the profile says. Never throws. */
export function encodeFailure(id: Id | undefined, error: ErrorObject, profile: Profile): string {
  const echoed = id ?? (profile.nullIdInFailure || (id === null && profile.looseIds) ? null : undefined);
  const idMember = echoed === undefined ? "" : `"id":${encodeId(echoed)},`;
  return `{"jsonrpc":"2.0",${idMember}"error":${encodeErrorObject(error)}}`;
}

function encodeErrorObject({ code, message, data }: ErrorObject): string {
  try {
    return encodeValue(data === undefined ? { code, message } : { code, message, data });
  } catch {
    return JSON.stringify({ code, message }); // The data is only help; the code and the message are the answer.
  }
}

/** @throws as `encodeValue` */
export function encodeRequest(id: Id | undefined, method: string, params: Params | RawJson | undefined): string {
  const idMember = id === undefined ? "" : `"id":${encodeId(id)},`;
  const paramsMember = params === undefined ? "" : `,"params":${encodeValue(params)}`;
  return `{"jsonrpc":"2.0",${idMember}"method":${JSON.stringify(method)}${paramsMember}}`;
}

/** A notification for the wire. @throws LocalError `refused` when the params are not JSON */
export function encodeNotification(method: string, params: Params | undefined): string {
  try {
    return encodeRequest(undefined, method, params);
  } catch (error) {
    throw notJson(method, error);
  }
}

/** Why params of this side cannot be sent. */
function notJson(what: string, cause: unknown): LocalError {
  return new LocalError("refused", `${what}: params are not JSON: ${thrownText(cause)}`, { cause });
}

/**
 * A message or a batch as one frame.
 *
 * @example
 * encode({ jsonrpc: "2.0", id: 1, method: "ping" }); // '{"jsonrpc":"2.0","id":1,"method":"ping"}'
 *
 * @throws as `encodeValue`
 */
export function encode(message: Message | Batch, profile: Profile = baseProfile): string {
  if (isArray(message)) return `[${message.map((each) => encode(each, profile)).join(",")}]`;
  if ("method" in message)
    return encodeRequest("id" in message ? message.id : undefined, message.method, message.params);
  if ("error" in message) return encodeFailure(message.id, message.error, profile);
  return encodeSuccess(message.id, message.result, profile);
}
