import { encodeValue, RawJson } from "../../jsonrpc/codec/json-text.js";
import { RpcError } from "../../jsonrpc/errors.js";
import { specCodes } from "../../protocol/errors.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { metaKeys } from "../../protocol/meta.js";
import { cacheable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { Implementation } from "../../protocol/types/implementation.js";

/** The texts of prepared results. A text names the server that it was made for, so it serves no other. */
const prepared = new WeakMap<JsonObject, Map<Revision, PreparedText>>();

interface PreparedText {
  readonly server: Implementation;
  readonly text: RawJson;
}

/**
 * Freezes a result that stays the same until its owner replaces it: it is serialised once for each revision that asks.
 * Middleware sees an ordinary result.
 */
export function prepareResult(result: JsonObject): JsonObject {
  prepared.set(result, new Map());
  return Object.freeze(result);
}

/** A result of the newest shape as `revision` has it on the wire. */
export function shapeResult(settled: unknown, method: string, revision: Revision, server: Implementation): unknown {
  const value = isObject(settled) ? settled : {};
  const texts = prepared.get(value);
  if (texts !== undefined) return textOf(value, texts, method, revision, server);
  const shaped = revision.down("result", method, value);
  if (revision.era === "handshake") return shaped;
  const { resultType = "complete", _meta } = shaped;
  // Every result comes by here, and V8 is many times slower for members after a spread.
  const stamp = { resultType, _meta: { ...(isObject(_meta) ? _meta : undefined), [metaKeys.serverInfo]: server } };
  const stamped = Object.assign({}, shaped, stamp);
  if (!cacheable.has(method) || resultType !== "complete") return stamped;
  return { ttlMs: 0, cacheScope: "private", ...stamped };
}

function textOf(
  value: JsonObject,
  texts: Map<Revision, PreparedText>,
  method: string,
  revision: Revision,
  server: Implementation,
): RawJson {
  const known = texts.get(revision);
  if (known?.server === server) return known.text;
  const text = new RawJson(encodeValue(shapeResult({ ...value }, method, revision, server)));
  texts.set(revision, { server, text });
  return text;
}

/** Codes that only the specification may give a meaning. */
function isReserved(code: number): boolean {
  return (code >= -32_099 && code <= -32_020) || code === specCodes.resourceNotFound;
}

/**
 * An error as a revision has it. The codes that belong to the specification go out only where it has them: a resource
 * that is not found has another one, and the rest is a bug of whoever throws it.
 * https://modelcontextprotocol.io/specification/latest/basic#error-codes
 */
export function errorOfRevision(error: unknown, { codes, version }: Revision): unknown {
  if (!(error instanceof RpcError) || !isReserved(error.code)) return error;
  const { code, message, data } = error;
  if (Object.values(codes).includes(code)) return error;
  if (code === specCodes.resourceNotFound) return new RpcError(codes.resourceNotFound, message, data, { cause: error });
  return new Error(`revision ${version} has no error ${code}`, { cause: error });
}
