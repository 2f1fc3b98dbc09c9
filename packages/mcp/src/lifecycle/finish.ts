import { isPromise } from "../base/later.js";
import { encodeValue, RawJson } from "../jsonrpc/codec.js";
import type { Implementation } from "../protocol/implementation.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys } from "../protocol/meta.js";
import { cacheable } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { fitError } from "./fit-error.js";

/** The texts of prepared results. A text names the server that it was made for, so it serves no other. */
const prepared = new WeakMap<JsonObject, Map<Revision, PreparedText>>();

interface PreparedText {
  readonly server: Implementation;
  readonly text: RawJson;
}

/**
 * Freezes a result that stays the same until its owner replaces it: it is serialised once for each revision that asks.
 * To whoever stands between it and the wire it is a result as any other.
 */
export function prepare(result: JsonObject): JsonObject {
  prepared.set(result, new Map());
  return Object.freeze(result);
}

/** Runs an operation; its result of the newest shape, or its error, as `revision` has it on the wire. */
export function finish(run: () => unknown, method: string, revision: Revision, server: Implementation): unknown {
  const succeed = (settled: unknown): unknown => {
    const value = isObject(settled) ? settled : {};
    const texts = prepared.get(value);
    const shaped = (): JsonObject => shapeResult(value, method, revision, server);
    return texts === undefined ? shaped() : textOf(texts, revision, server, shaped);
  };
  const fail = (error: unknown): never => {
    throw fitError(error, revision);
  };
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    return fail(error);
  }
  return isPromise(result) ? result.then(succeed, fail) : succeed(result);
}

function textOf(
  texts: Map<Revision, PreparedText>,
  revision: Revision,
  server: Implementation,
  shaped: () => JsonObject,
): RawJson {
  const known = texts.get(revision);
  if (known?.server === server) return known.text;
  const text = new RawJson(encodeValue(shaped()));
  texts.set(revision, { server, text });
  return text;
}

function shapeResult(value: JsonObject, method: string, revision: Revision, server: Implementation): JsonObject {
  const shaped = revision.down("result", method, value) as JsonObject; // A reshape of an object gives an object.
  if (revision.era === "handshake") return shaped;
  const { resultType = "complete" } = shaped;
  // Every result comes by here, and V8 takes many times longer for members that stand behind a spread.
  const stamp = { resultType, _meta: { ...metaOf(shaped), [metaKeys.serverInfo]: server } };
  const stamped = Object.assign({}, shaped, stamp);
  if (!cacheable.has(method) || resultType !== "complete") return stamped;
  return { ttlMs: 0, cacheScope: "private", ...stamped };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}
