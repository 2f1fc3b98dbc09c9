import { LocalError } from "../jsonrpc/errors.js";
import type { OpenedCall } from "../lifecycle/opened.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { TaskState } from "../protocol/tasks.js";
import type { CallToolResult, Tool } from "../protocol/tools.js";
import type { ListedTools } from "./listed-tools.js";
import { type Offer, requireTasks, runsTasks } from "./offered.js";
import { type Listing, type ListKind, listing } from "./paginate.js";
import { readTask, type TaskVerbs } from "./tasks.js";
import type { ToolArguments, ToolResult, ToolTypes } from "./tool-types.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

const tools: ListKind = {
  method: methods.listTools,
  member: "tools",
  strings: ["name"],
  objects: ["inputSchema"],
};

/** What can be set about a task. */
export interface StartOptions extends VerbOptions {
  /** Milliseconds from now on for which the server shall keep it. Default: as it likes. */
  readonly ttl?: number;
}

/** What the verbs of tools need of their client. */
export interface ToolHost {
  readonly call: OpenedCall;
  readonly offer: Offer;
  readonly listed: ListedTools;
  readonly tasks: TaskVerbs;
}

/**
 * The tools of a server.
 * https://modelcontextprotocol.io/specification/latest/server/tools
 */
export class ToolVerbs<Tools extends ToolTypes = ToolTypes> {
  readonly #host: ToolHost;

  /** Made by `Client`. */
  constructor(host: ToolHost) {
    this.#host = host;
  }

  /** The tools that the server offers, page by page. What is listed is known from then on: see `call`. */
  list(options: VerbOptions = {}): Listing<Tool> {
    return listing(this.#host.call, tools, options, (tool: Tool) => this.#host.listed.note(tool));
  }

  /**
   * Calls a tool. A tool that fails answers with `isError: true`, for the model to read. If the server has listed it before,
   * structured content is checked against its schema, and one that runs only as a task is started and waited for; if the
   * server has told since that its tools have changed, they are listed again first.
   * @throws RpcError for an unknown tool or a failure of the server; LocalError as `Connection.call`, or `protocol`
   */
  async call<Name extends keyof Tools & string>(
    name: Name,
    args?: ToolArguments<Tools[Name]>,
    options: VerbOptions = {},
  ): Promise<ToolResult<Tools[Name]>> {
    const { call, offer, listed } = this.#host;
    const params: JsonObject = { name, arguments: args ?? {} };
    if (listed.isOutdated(name)) await this.#listAgain(name, options);
    const result =
      listed.isTask(name) && runsTasks(offer)
        ? await this.#callAsTask(params, options)
        : await call(methods.callTool, params, callOptions(options));
    if (!Array.isArray(result.content)) throw invalidAnswer(methods.callTool, "content is not an array");
    // What a caller dereferences first is checked just above; what it holds is typed by whoever knows the server.
    return (await listed.check(name, result as unknown as CallToolResult)) as ToolResult<Tools[Name]>;
  }

  /**
   * Calls a tool as a task, which goes on after the call was answered: `client.tasks.result` waits for what it gives.
   * In 2025-11-25, as an experiment.
   * @throws RpcError for a tool that cannot be one; LocalError `refused` for a server or a revision without tasks
   */
  async start<Name extends keyof Tools & string>(
    name: Name,
    args?: ToolArguments<Tools[Name]>,
    { ttl, ...options }: StartOptions = {},
  ): Promise<TaskState> {
    const { call, offer } = this.#host;
    requireTasks(offer);
    const params = { name, arguments: args ?? {}, task: ttl === undefined ? {} : { ttl } };
    const { task } = await call(methods.callTool, params, callOptions(options));
    return readTask(methods.callTool, task);
  }

  /** Its progress would be no progress of the call. */
  async #listAgain(name: string, { onProgress, ...options }: VerbOptions): Promise<void> {
    await this.list(options).all();
    this.#host.listed.settle(name);
  }

  async #callAsTask(params: JsonObject, options: VerbOptions): Promise<JsonObject> {
    const { call, tasks } = this.#host;
    const answer = await call(methods.callTool, { ...params, task: {} }, callOptions(options));
    if (answer.task === undefined) return answer; // It has changed its mind.
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
