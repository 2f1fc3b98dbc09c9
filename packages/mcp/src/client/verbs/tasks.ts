import { isObject, kindOf } from "../../base/json.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { methods } from "../../protocol/methods.js";
import type { TaskState, TaskStatus } from "../../protocol/types/tasks.js";
import type { CallToolResult } from "../../protocol/types/tools.js";
import { type ClientCallOptions, type ClientParts, callOptions, invalidResult } from "./client-parts.js";
import { type ListKind, listing, type PaginatedList } from "./paginate.js";

const tasks: ListKind = {
  method: methods.listTasks,
  member: "tasks",
  key: "taskId",
  check: (item) =>
    typeof item.status === "string" ? { item } : { reason: `status must be a string, got ${kindOf(item.status)}` },
};

/** Milliseconds between two polls, if the server gives no `pollInterval`; and the accepted range of it. */
const usualInterval = 1_000;
const shortestInterval = 50;
const longestInterval = 60_000;

/** Statuses that end polling. A task that requires input requests it while the client waits for `tasks/result`. */
const readyStatuses: ReadonlySet<TaskStatus> = new Set(["completed", "failed", "cancelled", "input_required"]);

/**
 * The tasks of a server: an experimental feature of revision 2025-11-25.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export class ClientTasks {
  readonly #parts: ClientParts;

  /** Created by `Client`. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Lists the tasks that the server keeps for this client, page by page. */
  list(options: ClientCallOptions = {}): PaginatedList<TaskState> {
    return listing(this.#parts, tasks, options);
  }

  /** Gets the status of a task. @throws RpcError −32602 for an unknown or expired task */
  async get(taskId: string, options: ClientCallOptions = {}): Promise<TaskState> {
    return readTask(methods.getTask, await this.#parts.call(methods.getTask, { taskId }, callOptions(options)));
  }

  /** Cancels a task. @throws RpcError −32602 for an unknown or finished task */
  async cancel(taskId: string, options: ClientCallOptions = {}): Promise<TaskState> {
    return readTask(methods.cancelTask, await this.#parts.call(methods.cancelTask, { taskId }, callOptions(options)));
  }

  /**
   * Waits for a task and returns the result of its call, polling at the interval that the server gives. Aborting the signal stops
   * the waiting, not the task. `totalTimeout` limits the wait; default: 600,000 ms. @throws RpcError of the failed call;
   * LocalError as `Connection.call`
   */
  async result(taskId: string, options: ClientCallOptions = {}): Promise<CallToolResult> {
    const { signal = new AbortController().signal, totalTimeout = defaultTimeouts.total } = options;
    const { clock } = this.#parts.session;
    const endsAt = clock.now() + totalTimeout;
    const left = (): ClientCallOptions => ({ ...options, totalTimeout: Math.max(0, endsAt - clock.now()) });
    for (;;) {
      const { status, pollInterval } = await this.get(taskId, left());
      if (readyStatuses.has(status)) break;
      await sleep(clock, Math.min(intervalOf(pollInterval), left().totalTimeout ?? 0), signal);
    }
    // A task that waits for input may send nothing for a long time.
    const result = await this.#parts.call(
      methods.taskResult,
      { taskId },
      callOptions({ ...left(), timeout: totalTimeout }),
    );
    if (!Array.isArray(result.content)) throw invalidResult(methods.taskResult, "content is not an array");
    return result as unknown as CallToolResult; // Its required member was checked above.
  }
}

/** The interval of the server, within the accepted range. */
function intervalOf(pollInterval: unknown): number {
  if (typeof pollInterval !== "number") return usualInterval;
  return Math.min(Math.max(pollInterval, shortestInterval), longestInterval);
}

/** Reads the state of a task from a result. @throws LocalError `protocol` for an invalid one */
export function readTask(method: string, task: unknown): TaskState {
  if (isObject(task) && typeof task.taskId === "string" && typeof task.status === "string") {
    return task as unknown as TaskState; // Its required members were checked above.
  }
  throw invalidResult(method, "it is not a task");
}
