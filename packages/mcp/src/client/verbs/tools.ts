import { kindOf } from "../../base/json.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { TaskState } from "../../protocol/types/tasks.js";
import type { CallToolResult, Tool } from "../../protocol/types/tools.js";
import type { ToolTypes } from "../../schema/tool-types.js";
import { type AdvertisedServer, requireTasks, supportsTasks } from "../advertised.js";
import type { CallRest, ToolResult } from "../tool-types.js";
import type { ListedTools } from "./listed-tools.js";
import { type CheckedItem, type ListHost, type ListKind, listing, type PaginatedList } from "./paginate.js";
import { type ClientTasks, readTask } from "./tasks.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

const tools: ListKind = { method: methods.listTools, member: "tools", key: "name", check: checkTool };

/** A tool without a usable `inputSchema` cannot be called by a model; one that says nothing of its arguments takes any. */
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
  /** Milliseconds from now on for which the server shall keep it. Default: as it likes. */
  readonly ttl?: number;
}

/** What the verbs of tools need of their client. */
export interface ToolHost extends ListHost {
  readonly offer: AdvertisedServer;
  readonly listed: ListedTools;
  readonly tasks: ClientTasks;
  /** Whether results are taken that break a rule. */
  readonly lenient: boolean;
}

/**
 * The tools of a server.
 * https://modelcontextprotocol.io/specification/latest/server/tools
 */
export class ClientTools<Tools extends ToolTypes = ToolTypes> {
  readonly #host: ToolHost;

  /** Made by `Client`. */
  constructor(host: ToolHost) {
    this.#host = host;
  }

  /** Lists the tools of the server, page by page. The client remembers their schemas: see `call`. */
  list(options: ClientCallOptions = {}): PaginatedList<Tool> {
    return listing(this.#host, tools, options, (tool: Tool) => this.#host.listed.note(tool));
  }

  /**
   * Calls a tool. A tool that fails answers with `isError: true`, for the model to read. If the server has listed it before,
   * structured content is checked against its schema, and one that runs only as a task is started and waited for; if the
   * server has told since that its tools have changed, they are listed again first.
   * @throws RpcError for an unknown tool or a failure of the server; LocalError as `Connection.call`, or `protocol`
   */
  async call<Name extends keyof Tools & string>(
    name: Name,
    ...[args, options = {}]: CallRest<Tools[Name], ClientCallOptions>
  ): Promise<ToolResult<Tools[Name]>> {
    const { call, offer, listed } = this.#host;
    const params: JsonObject = { name, arguments: args ?? {} };
    if (listed.isOutdated(name)) await this.#listAgain(name, options);
    const result =
      listed.isTask(name) && supportsTasks(offer)
        ? await this.#callAsTask(params, options)
        : await call(methods.callTool, params, callOptions(options));
    const sound = Array.isArray(result.content) ? result : this.#amended(result);
    // What a caller dereferences first is checked just above; what it holds is typed by whoever knows the server.
    return (await this.#checked(name, sound as unknown as CallToolResult)) as ToolResult<Tools[Name]>;
  }

  /**
   * Calls a tool as a task, which goes on after the call was answered: `client.tasks.result` waits for what it gives.
   * In 2025-11-25, as an experiment.
   * @throws RpcError for a tool that cannot be one; LocalError `refused` for a server or a revision without tasks
   */
  async start<Name extends keyof Tools & string>(
    name: Name,
    ...[args, { ttl, ...options } = {}]: CallRest<Tools[Name], StartTaskOptions>
  ): Promise<TaskState> {
    const { call, offer } = this.#host;
    requireTasks(offer, options);
    const params = { name, arguments: args ?? {}, task: ttl === undefined ? {} : { ttl } };
    const { task } = await call(methods.callTool, params, callOptions(options));
    return readTask(methods.callTool, task);
  }

  /** A result without content, as a lenient client takes it. @throws LocalError `protocol` for any other client */
  #amended(result: JsonObject): JsonObject {
    const { lenient, report } = this.#host;
    const { content, structuredContent } = result;
    if (!lenient) throw invalidResult(methods.callTool, `content must be an array, got ${kindOf(content)}`);
    report({ kind: "tolerated", method: methods.callTool, reason: `content is ${kindOf(content)}, not an array` });
    const text = (value: string): JsonObject => ({ type: "text", text: value });
    if (typeof content === "string") return { ...result, content: [text(content)] };
    if (isObject(content)) return { ...result, content: [content] };
    const isThere = structuredContent !== undefined;
    return { ...result, content: isThere ? [text(JSON.stringify(structuredContent))] : [] };
  }

  /** @throws LocalError `protocol` for a result that its schema forbids, unless the client is lenient */
  async #checked(name: string, result: CallToolResult): Promise<CallToolResult> {
    const { lenient, report, listed } = this.#host;
    try {
      return await listed.check(name, result);
    } catch (error) {
      if (!lenient || !(error instanceof LocalError)) throw error;
      report({ kind: "tolerated", method: methods.callTool, reason: error.message });
      return result;
    }
  }

  /** Its progress would be no progress of the call. */
  async #listAgain(name: string, { onProgress, ...options }: ClientCallOptions): Promise<void> {
    await this.list(options).all();
    this.#host.listed.settle(name);
  }

  async #callAsTask(params: JsonObject, options: ClientCallOptions): Promise<JsonObject> {
    const { call, tasks } = this.#host;
    const answer = await call(methods.callTool, { ...params, task: {} }, callOptions(options));
    if (answer.task === undefined) return answer; // The server replied with a plain result although it had offered to run a task.
    const { taskId } = readTask(methods.callTool, answer.task);
    try {
      return { ...(await tasks.result(taskId, options)) };
    } catch (error) {
      // As with any call that nobody waits for any more, the server is told, and not waited for.
      if (error instanceof LocalError) void tasks.cancel(taskId).catch(() => undefined);
      throw error;
    }
  }
}
