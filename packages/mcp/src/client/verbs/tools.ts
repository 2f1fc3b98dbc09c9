import { requireString } from "../../base/check-members.js";
import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { methods } from "../../protocol/methods.js";
import type { TaskState } from "../../protocol/types/tasks.js";
import type { CallToolResult, Tool } from "../../protocol/types/tools.js";
import type { InferInput, InferOutput, Schema } from "../../schema/compile.js";
import type { ToolSchemas, ToolTypes } from "../../schema/tool-types.js";
import { requireTasks, supportsTasks } from "../advertised.js";
import { type ClientCallOptions, type ClientParts, callOptions, invalidResult } from "./client-parts.js";
import { type CheckedItem, type ListKind, listing, type PaginatedList } from "./paginate.js";
import { type ClientTasks, readTask } from "./tasks.js";

/** The arguments of a tool. */
export type ToolArguments<Tool extends ToolSchemas> = Tool extends { readonly inputSchema: infer Input extends Schema }
  ? InferInput<Input>
  : Tool extends { readonly inputSchema: undefined }
    ? Readonly<Record<string, never>>
    : JsonObject;

/** Result of a tool call. A failed tool has no structured content: check `isError` first. */
export type ToolResult<Tool extends ToolSchemas> = Tool extends { readonly outputSchema: infer Output extends Schema }
  ? CallToolResult & { readonly structuredContent?: InferOutput<Output> }
  : CallToolResult;

/** The parameters after the name: the arguments are optional only if the tool requires none. */
type CallRest<Tool extends ToolSchemas, Options> =
  Readonly<Record<never, never>> extends ToolArguments<Tool>
    ? [args?: ToolArguments<Tool>, options?: Options]
    : [args: ToolArguments<Tool>, options?: Options];

const tools: ListKind = { method: methods.listTools, member: "tools", key: "name", check: checkTool };

/** A tool with an invalid `inputSchema` is left out; one without it accepts any arguments. */
function checkTool(tool: JsonObject): CheckedItem {
  const { name, inputSchema, outputSchema } = tool;
  const what = `the tool ${excerpt(String(name))}`;
  const tolerated: string[] = [];
  let item = tool;
  if (inputSchema === undefined || inputSchema === null) {
    item = { ...item, inputSchema: { type: "object" } };
    tolerated.push(`${what} has no inputSchema: it is taken for one that takes any arguments`);
  } else if (!isObject(inputSchema)) {
    return { reason: `inputSchema must be an object, got ${kindOf(inputSchema)}` };
  }
  if (outputSchema !== undefined && !isObject(outputSchema)) {
    const { outputSchema: _, ...rest } = item;
    item = rest;
    tolerated.push(`${what} has an outputSchema that is ${kindOf(outputSchema)}: its results are not checked`);
  }
  return { item, tolerated };
}

/** Options of a task. */
export interface StartTaskOptions extends ClientCallOptions {
  /** Milliseconds for which the server should keep the task. Default: chosen by the server. */
  readonly ttl?: number;
}

/**
 * The tools of a server.
 * https://modelcontextprotocol.io/specification/latest/server/tools
 */
export class ClientTools<Tools extends ToolTypes = ToolTypes> {
  readonly #parts: ClientParts;
  readonly #tasks: ClientTasks;

  /** Created by `Client`. */
  constructor(parts: ClientParts, tasks: ClientTasks) {
    this.#parts = parts;
    this.#tasks = tasks;
  }

  /** Lists the tools of the server, page by page. The client remembers their schemas: see `call`. */
  list(options: ClientCallOptions = {}): PaginatedList<Tool> {
    return listing(this.#parts, tools, options, (tool: Tool) => this.#parts.listed.note(tool));
  }

  /**
   * Calls a tool. A failed tool returns a result with `isError: true`, which the model can read. If the tool was listed, the
   * client validates structured content against its `outputSchema`, and runs it as a task if the tool requires that; if the
   * server has notified a change of its tools since, the client lists them again first.
   * @throws RpcError for an unknown tool or a failure of the server; LocalError as `Connection.call`, or `protocol`
   */
  async call<Name extends keyof Tools & string>(
    name: Name,
    ...[args, options = {}]: CallRest<Tools[Name], ClientCallOptions>
  ): Promise<ToolResult<Tools[Name]>> {
    requireString("client.tools.call: the name", name, "write client.tools.call(name, args)");
    const { call, session, listed } = this.#parts;
    const params: JsonObject = { name, arguments: args ?? {} };
    if (listed.isOutdated(name)) await this.#listAgain(name, options);
    const result =
      listed.isTask(name) && supportsTasks(session)
        ? await this.#callAsTask(params, options)
        : await call(methods.callTool, params, callOptions(options));
    const sound = Array.isArray(result.content) ? result : this.#amended(result);
    // `content` was checked above; the types of its parts are those that the program declared for the tool.
    return (await this.#checked(name, sound as unknown as CallToolResult)) as ToolResult<Tools[Name]>;
  }

  /**
   * Starts a tool as a task; `client.tasks.result` waits for its result. An experimental feature of revision 2025-11-25.
   * @throws RpcError for a tool that cannot run as a task; LocalError `refused` for a server or a revision without tasks
   */
  async start<Name extends keyof Tools & string>(
    name: Name,
    ...[args, { ttl, ...options } = {}]: CallRest<Tools[Name], StartTaskOptions>
  ): Promise<TaskState> {
    const { call, session } = this.#parts;
    requireTasks(session, options);
    const params = { name, arguments: args ?? {}, task: ttl === undefined ? {} : { ttl } };
    const { task } = await call(methods.callTool, params, callOptions(options));
    return readTask(methods.callTool, task);
  }

  /** Adds the missing content to a result, in a lenient client. @throws LocalError `protocol` in a strict one */
  #amended(result: JsonObject): JsonObject {
    const { lenient, session } = this.#parts;
    const { content, structuredContent } = result;
    if (!lenient) throw invalidResult(methods.callTool, `content must be an array, got ${kindOf(content)}`);
    session.report({
      kind: "tolerated",
      method: methods.callTool,
      reason: `content is ${kindOf(content)}, not an array`,
    });
    const text = (value: string): JsonObject => ({ type: "text", text: value });
    if (typeof content === "string") return { ...result, content: [text(content)] };
    if (isObject(content)) return { ...result, content: [content] };
    const isThere = structuredContent !== undefined;
    return { ...result, content: isThere ? [text(JSON.stringify(structuredContent))] : [] };
  }

  /** @throws LocalError `protocol` for a result that violates its schema, unless the client is lenient */
  async #checked(name: string, result: CallToolResult): Promise<CallToolResult> {
    const { lenient, session, listed } = this.#parts;
    try {
      return await listed.check(name, result);
    } catch (error) {
      if (!lenient || !(error instanceof LocalError)) throw error;
      session.report({ kind: "tolerated", method: methods.callTool, reason: error.message });
      return result;
    }
  }

  /** Lists the tools again, without `onProgress`: it is only for the call itself. */
  async #listAgain(name: string, { onProgress, ...options }: ClientCallOptions): Promise<void> {
    await this.list(options).all();
    this.#parts.listed.settle(name);
  }

  async #callAsTask(params: JsonObject, options: ClientCallOptions): Promise<JsonObject> {
    const { call } = this.#parts;
    const answer = await call(methods.callTool, { ...params, task: {} }, callOptions(options));
    if (answer.task === undefined) return answer; // The server replied with a plain result although it had offered to run a task.
    const { taskId } = readTask(methods.callTool, answer.task);
    try {
      return { ...(await this.#tasks.result(taskId, options)) };
    } catch (error) {
      // As with every cancelled call, the client notifies the server and does not wait for it.
      if (error instanceof LocalError) void this.#tasks.cancel(taskId).catch(() => undefined);
      throw error;
    }
  }
}
