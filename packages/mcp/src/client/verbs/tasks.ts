import type { Clock } from "../../base/clock.js";
import { kindOf } from "../../base/json.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { isObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { TaskState, TaskStatus } from "../../protocol/types/tasks.js";
import type { CallToolResult } from "../../protocol/types/tools.js";
import { sleep } from "../../session/sleep.js";
import type { SessionCall } from "../session/client-session.js";
import { type ListHost, type ListKind, listing, type PaginatedList } from "./paginate.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

const tasks: ListKind = {
  method: methods.listTasks,
  member: "tasks",
  key: "taskId",
  check: (item) =>
    typeof item.status === "string" ? { item } : { reason: `status must be a string, got ${kindOf(item.status)}` },
};

/** Milliseconds between two questions how a task stands, if its server does not say; and what it may say. */
const usualInterval = 1_000;
const shortestInterval = 50;
const longestInterval = 60_000;

/** What needs no more asking: it is over, or it waits for an answer, which comes with the question for its result. */
const readyStatuses: ReadonlySet<TaskStatus> = new Set(["completed", "failed", "cancelled", "input_required"]);

/**
 * The tasks of a server, where they belong to the core protocol: in 2025-11-25, as an experiment.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export class ClientTasks {
  readonly #call: SessionCall;
  readonly #report: Reporter;
  readonly #clock: Clock;

  /** Made by `Client`. */
  constructor({ call, report }: ListHost, clock: Clock) {
    this.#call = call;
    this.#report = report;
    this.#clock = clock;
  }

  /** The tasks that the server keeps for this client, page by page. */
  list(options: ClientCallOptions = {}): PaginatedList<TaskState> {
    return listing({ call: this.#call, report: this.#report }, tasks, options);
  }

  /** How a task stands. @throws RpcError −32602 for one that does not exist, or any more */
  async get(taskId: string, options: ClientCallOptions = {}): Promise<TaskState> {
    return readTask(methods.getTask, await this.#call(methods.getTask, { taskId }, callOptions(options)));
  }

  /** Stops a task. @throws RpcError −32602 for one that is over, or does not exist */
  async cancel(taskId: string, options: ClientCallOptions = {}): Promise<TaskState> {
    return readTask(methods.cancelTask, await this.#call(methods.cancelTask, { taskId }, callOptions(options)));
  }

  /**
   * Waits for a task and returns the result of its call, polling at the interval that the server gives. Aborting the signal stops
   * the waiting, not the task. `totalTimeout` limits the wait; default: 600,000 ms. @throws RpcError of the failed call;
   * LocalError as `Connection.call`
   */
  async result(taskId: string, options: ClientCallOptions = {}): Promise<CallToolResult> {
    const { signal = new AbortController().signal, totalTimeout = defaultTimeouts.total } = options;
    const endsAt = this.#clock.now() + totalTimeout;
    const left = (): ClientCallOptions => ({ ...options, totalTimeout: Math.max(0, endsAt - this.#clock.now()) });
    for (;;) {
      const { status, pollInterval } = await this.get(taskId, left());
      if (readyStatuses.has(status)) break;
      await sleep(this.#clock, Math.min(intervalOf(pollInterval), left().totalTimeout ?? 0), signal);
    }
    // A task that waits for an answer may wait for long: there is no sign of it in between.
    const result = await this.#call(methods.taskResult, { taskId }, callOptions({ ...left(), timeout: totalTimeout }));
    if (!Array.isArray(result.content)) throw invalidResult(methods.taskResult, "content is not an array");
    return result as unknown as CallToolResult; // What a caller dereferences first is checked just above.
  }
}

/** Within bounds, whatever a server says. */
function intervalOf(pollInterval: unknown): number {
  if (typeof pollInterval !== "number") return usualInterval;
  return Math.min(Math.max(pollInterval, shortestInterval), longestInterval);
}

/** A task as a server describes it. @throws LocalError `protocol` for what is none */
export function readTask(method: string, task: unknown): TaskState {
  if (isObject(task) && typeof task.taskId === "string" && typeof task.status === "string") {
    return task as unknown as TaskState; // What a caller looks at first is checked just above.
  }
  throw invalidResult(method, "it is not a task");
}
