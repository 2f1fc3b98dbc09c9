import type { OpenedCall } from "../lifecycle/opened.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { CallToolResult, Tool } from "../protocol/tools.js";
import type { OutputSchemas } from "./output-schemas.js";
import { type Listing, type ListKind, listing } from "./paginate.js";
import type { ToolArguments, ToolResult, ToolTypes } from "./tool-types.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

const tools: ListKind = {
  method: methods.listTools,
  member: "tools",
  strings: ["name"],
  objects: ["inputSchema"],
};

/**
 * The tools of a server.
 * https://modelcontextprotocol.io/specification/latest/server/tools
 */
export class ToolVerbs<Tools extends ToolTypes = ToolTypes> {
  readonly #call: OpenedCall;
  readonly #outputs: OutputSchemas;

  /** Made by `Client`. */
  constructor(call: OpenedCall, outputs: OutputSchemas) {
    this.#call = call;
    this.#outputs = outputs;
  }

  /** The tools that the server offers, page by page. What is listed is known from then on: see `call`. */
  list(options: VerbOptions = {}): Listing<Tool> {
    return listing(this.#call, tools, options, (tool: Tool) => this.#outputs.note(tool));
  }

  /**
   * Calls a tool. A tool that fails answers with `isError: true`, for the model to read. Structured content is checked
   * against the schema that the server has listed, if it was listed before.
   * @throws RpcError for an unknown tool or a failure of the server; LocalError as `Connection.call`, or `protocol`
   */
  async call<Name extends keyof Tools & string>(
    name: Name,
    args?: ToolArguments<Tools[Name]>,
    options: VerbOptions = {},
  ): Promise<ToolResult<Tools[Name]>> {
    const params: JsonObject = { name, arguments: args ?? {} };
    const result = await this.#call(methods.callTool, params, callOptions(options));
    if (!Array.isArray(result.content)) throw invalidAnswer(methods.callTool, "content is not an array");
    // What a caller dereferences first is checked just above; what it holds is typed by whoever knows the server.
    return (await this.#outputs.check(name, result as unknown as CallToolResult)) as ToolResult<Tools[Name]>;
  }
}
