import { isObject, type JsonObject } from "../../base/json.js";
import { objectResult, type ServerRemote } from "../../client/session/client-session.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import { RpcError } from "../../jsonrpc/errors.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { type MirroredParam, mirrorOf, readMirroredParams } from "../../protocol/mirrored-params.js";

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

/** The maximum number of tools to remember; the oldest are dropped. A server may list other tools each time. */
const maxTools = 10_000;

/**
 * The arguments that each tool of a server requires in headers, from its tool list. Unlisted tools have none.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
class MirroredTools {
  readonly #params = new Map<string, readonly MirroredParam[]>();
  readonly #report: Reporter;

  /** @param report called for tools that cannot be called */
  constructor(report: Reporter) {
    this.#report = report;
  }

  /** Records the tools of a `tools/list` page, and returns the page without those whose headers are invalid. */
  learn(page: JsonObject): JsonObject {
    if (!Array.isArray(page.tools)) return page;
    const tools: readonly unknown[] = page.tools;
    const usable = tools.filter((tool) => this.#note(tool));
    return usable.length === tools.length ? page : { ...page, tools: usable };
  }

  /** Whether a listed tool has arguments in headers. */
  knows(name: unknown): boolean {
    return typeof name === "string" && this.#params.has(name);
  }

  /** The headers of a `tools/call`. */
  headersOf({ name, arguments: args }: JsonObject): Readonly<Record<string, string>> {
    const params = (typeof name === "string" && this.#params.get(name)) || [];
    return Object.fromEntries(
      params.flatMap((param) => {
        const value = mirrorOf(param, args);
        return value === undefined ? [] : [[param.header, value]];
      }),
    );
  }

  /** Returns false for a tool that must be removed from the list. */
  #note(tool: unknown): boolean {
    if (!isObject(tool) || typeof tool.name !== "string") return true; // The validation of the list reports it.
    const { name } = tool;
    this.#params.delete(name);
    const read = readMirroredParams(tool.inputSchema);
    if ("faults" in read) {
      const reason = read.faults.map(({ path, message }) => `${path}: ${message}`).join("; ");
      this.#report({ kind: "left-out", method: methods.listTools, name, reason });
      return false;
    }
    if (read.params.length > 0) this.#params.set(name, read.params);
    const [oldest] = this.#params.keys();
    if (this.#params.size > maxTools && oldest !== undefined) this.#params.delete(oldest);
    return true;
  }
}
