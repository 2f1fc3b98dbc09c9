import { kindOf } from "../../base/json.js";
import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import { RawJson } from "../../jsonrpc/codec/codec.js";
import type { Remote } from "../../jsonrpc/connection.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";

/** The remote end as a lifecycle uses it: a `Connection` is one. */
export interface ServerRemote extends Pick<Remote, "notify"> {
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<unknown>;
}

/** Adds a progress token to calls with a progress listener, and routes the notifications to them. One counter per session. */
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

/** A value of a peer for use in an error message: shortened and without control characters. */
export function quotedForMessage(value: unknown): string {
  return typeof value === "string" ? excerpt(value) : kindOf(value);
}
