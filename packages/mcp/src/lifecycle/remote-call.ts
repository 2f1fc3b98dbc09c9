import { kindOf } from "../base/json.js";
import { RawJson } from "../jsonrpc/codec.js";
import type { Remote } from "../jsonrpc/connection.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import { excerpt } from "../jsonrpc/report.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods } from "../protocol/methods.js";

/** The far end as a lifecycle uses it: a `Connection` is one. */
export interface ServerRemote extends Pick<Remote, "notify"> {
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<unknown>;
}

/** Asks for progress where a caller listens, and ties the notifications to its call. One counter for a conversation. */
export function progressTokens(): (params: JsonObject, options: CallOptions) => readonly [JsonObject, CallOptions] {
  let last = 0;
  return (params, options) => {
    if (options.notify === undefined || options.tag !== undefined) return [params, options];
    last += 1;
    const meta = { ...readMeta(params), [metaKeys.progressToken]: last };
    return [
      { ...params, _meta: meta },
      { ...options, tag: last },
    ];
  };
}

/** @throws LocalError `protocol` for a result that is not an object (J-5: MCP results always are) */
export function objectResult(method: string, result: unknown): JsonObject {
  const value: unknown = result instanceof RawJson ? JSON.parse(result.text) : result;
  if (isObject(value)) return value;
  if (value === null && emptyResults.has(method)) return {};
  throw new LocalError("protocol", `${method}: the result is not an object`);
}

/** Methods whose results say nothing: one that is null does no harm. */
const emptyResults: ReadonlySet<string> = new Set([
  methods.ping,
  methods.setLevel,
  methods.subscribe,
  methods.unsubscribe,
]);

/** What a peer gave where a word was expected, as it may stand in a message: a text cut and without hidden characters. */
export function shown(value: unknown): string {
  return typeof value === "string" ? excerpt(value) : kindOf(value);
}
