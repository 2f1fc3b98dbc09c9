import { after } from "../base/later.js";
import { encodeValue, RawJson } from "../jsonrpc/codec.js";
import type { Implementation } from "../protocol/implementation.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys } from "../protocol/meta.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";

/** A result that stays the same until its owner replaces it: serialised once for each revision that asks. */
export class PreparedResult {
  readonly #value: JsonObject;
  readonly #texts = new Map<Revision, RawJson>();

  constructor(value: JsonObject) {
    this.#value = value;
  }

  in(revision: Revision, shape: (value: JsonObject) => JsonObject): RawJson {
    const known = this.#texts.get(revision);
    if (known !== undefined) return known;
    const text = new RawJson(encodeValue(shape(this.#value)));
    this.#texts.set(revision, text);
    return text;
  }
}

/** The results that the stateless era lets a client keep, and so must say how long. */
const cacheable: ReadonlySet<string> = new Set([
  methods.discover,
  methods.listTools,
  methods.listPrompts,
  methods.listResources,
  methods.listResourceTemplates,
  methods.readResource,
]);

/** A result of the newest shape as `revision` has it on the wire. */
export function finish(result: unknown, method: string, revision: Revision, server: Implementation): unknown {
  return after(result, (settled) => {
    const shape = (value: JsonObject): JsonObject => shapeResult(value, method, revision, server);
    return settled instanceof PreparedResult ? settled.in(revision, shape) : shape(isObject(settled) ? settled : {});
  });
}

function shapeResult(value: JsonObject, method: string, revision: Revision, server: Implementation): JsonObject {
  const shaped = revision.down("result", method, value) as JsonObject; // A reshape of an object gives an object.
  if (revision.era === "handshake") return shaped;
  const { resultType = "complete" } = shaped;
  const stamped = { ...shaped, resultType, _meta: { ...metaOf(shaped), [metaKeys.serverInfo]: server } };
  if (!cacheable.has(method) || resultType !== "complete") return stamped;
  return { ttlMs: 0, cacheScope: "private", ...stamped };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}
