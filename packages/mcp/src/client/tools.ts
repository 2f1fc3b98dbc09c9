import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { OpenedCall } from "../lifecycle/opened.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import type { ProgressParams } from "../protocol/progress.js";
import type { CallToolResult, Tool } from "../protocol/tools.js";
import { type Listing, listing } from "./paginate.js";

/** What a caller of a tool can set. */
export interface ToolCallOptions extends Pick<CallOptions, "signal" | "timeout" | "totalTimeout"> {
  /** Receives the progress of the call, in order and before its result. The server is asked for progress only if it is there. */
  readonly onProgress?: (progress: ProgressParams) => void;
}

/** The tools of a server. */
export class ToolVerbs {
  readonly #call: OpenedCall;

  constructor(call: OpenedCall) {
    this.#call = call;
  }

  /** The tools that the server offers, page by page. */
  list(options: CallOptions = {}): Listing<Tool> {
    return listing(methods.listTools, async (cursor) => {
      const result = await this.#call(methods.listTools, cursor === undefined ? {} : { cursor }, options);
      const { tools, nextCursor } = result;
      if (!Array.isArray(tools) || !tools.every(isTool))
        throw invalid(methods.listTools, "tools is not an array of tools");
      return { items: tools, nextCursor: typeof nextCursor === "string" ? nextCursor : undefined };
    });
  }

  /**
   * Calls a tool. A tool that fails answers with `isError: true`, for the model to read.
   * @throws RpcError for an unknown tool or a failure of the server; LocalError as `Connection.call`
   */
  async call(name: string, args: JsonObject = {}, options: ToolCallOptions = {}): Promise<CallToolResult> {
    const result = await this.#call(methods.callTool, { name, arguments: args }, withListener(options));
    if (!Array.isArray(result.content)) throw invalid(methods.callTool, "content is not an array");
    return result as unknown as CallToolResult; // What a caller dereferences first is checked just above.
  }
}

function withListener({ onProgress, ...options }: ToolCallOptions): CallOptions {
  if (onProgress === undefined) return options;
  return {
    ...options,
    notify(method, params) {
      if (method === notifications.progress) onProgress(params as unknown as ProgressParams); // Its token has matched.
    },
  };
}

function isTool(value: unknown): value is Tool {
  return isObject(value) && typeof value.name === "string" && isObject(value.inputSchema);
}

function invalid(method: string, what: string): LocalError {
  return new LocalError("protocol", `${method}: the server's answer is invalid: ${what}`);
}
