import { objectResult, type ServerRemote } from "../../client/session/client-session.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import { RpcError } from "../../jsonrpc/errors.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { MirroredTools } from "./mirrored-tools.js";

/** Sends a call with additional headers. */
export type CallWithHeaders = (
  method: string,
  params: JsonObject,
  options: CallOptions,
  headers: Readonly<Record<string, string>>,
) => Promise<unknown>;

/** The maximum number of list pages to read; a server may always claim that there are more. */
const maxPages = 64;

/**
 * Sends tool calls with arguments mirrored into headers, as the tool list requires. If the server rejects the headers,
 * the list may have changed: the call is repeated with a new list. The rejected call was not run.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
export function withParameterHeaders(call: CallWithHeaders, report: Reporter): ServerRemote["call"] {
  const tools = new MirroredTools(report);

  const list = async (params: JsonObject, options: CallOptions): Promise<JsonObject> => {
    const page = objectResult(methods.listTools, await call(methods.listTools, params, options, {}));
    return tools.learn(page);
  };

  const listAgain = async ({ name, _meta }: JsonObject, { notify, tag, ...options }: CallOptions): Promise<void> => {
    const { [metaKeys.progressToken]: _, ...meta } = readMeta({ _meta }) ?? {};
    let cursor: unknown;
    for (let left = maxPages; left > 0; left -= 1) {
      const page = await list({ ...(cursor === undefined ? {} : { cursor }), _meta: meta }, options);
      if (tools.knows(name) || page.nextCursor === undefined) return;
      cursor = page.nextCursor;
    }
  };

  const callTool = async (params: JsonObject, options: CallOptions): Promise<unknown> => {
    const headers = tools.headersOf(params);
    try {
      return await call(methods.callTool, params, options, headers);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== specCodes.headerMismatch) throw error;
      await listAgain(params, options);
      const next = tools.headersOf(params);
      if (isSame(headers, next)) throw error;
      return call(methods.callTool, params, options, next);
    }
  };

  return async (method, params = {}, options = {}) => {
    if (method === methods.listTools) return list(params, options);
    return method === methods.callTool ? callTool(params, options) : call(method, params, options, {});
  };
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys({ ...one, ...other });
  return names.every((name) => one[name] === other[name]);
}
