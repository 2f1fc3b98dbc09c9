import type { Clock } from "../base/clock.js";
import { kindOf } from "../base/json.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { OpenedCall } from "../lifecycle/opened.js";
import { pause } from "../lifecycle/pause.js";
import { isObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { TaskState, TaskStatus } from "../protocol/tasks.js";
import type { CallToolResult } from "../protocol/tools.js";
import { type ListHost, type Listing, type ListKind, listing } from "./paginate.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

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
export class TaskVerbs {
  readonly #call: OpenedCall;
  readonly #report: Reporter;
  readonly #clock: Clock;

  /** Made by `Client`. */
  constructor({ call, report }: ListHost, clock: Clock) {
    this.#call = call;
    this.#report = report;
    this.#clock = clock;
  }

  /** The tasks that the server keeps for this client, page by page. */
  list(options: VerbOptions = {}): Listing<TaskState> {
    return listing({ call: this.#call, report: this.#report }, tasks, options);
  }

  /** How a task stands. @throws RpcError −32602 for one that does not exist, or any more */
  async get(taskId: string, options: VerbOptions = {}): Promise<TaskState> {
    return readTask(methods.getTask, await this.#call(methods.getTask, { taskId }, callOptions(options)));
  }

  /** Stops a task. @throws RpcError −32602 for one that is over, or does not exist */
  async cancel(taskId: string, options: VerbOptions = {}): Promise<TaskState> {
    return readTask(methods.cancelTask, await this.#call(methods.cancelTask, { taskId }, callOptions(options)));
  }

  /**
   * What the call gave that runs as a task: waits for it, and asks how it stands as often as the server wants. An abort of
   * the signal ends the waiting, not the task. `totalTimeout` bounds the waiting; default: 600,000 ms.
   * @throws RpcError what the call failed with; LocalError as `Connection.call`
   */
  async result(taskId: string, options: VerbOptions = {}): Promise<CallToolResult> {
    const { signal = new AbortController().signal, totalTimeout = defaultTimeouts.total } = options;
    const endsAt = this.#clock.now() + totalTimeout;
    const left = (): VerbOptions => ({ ...options, totalTimeout: Math.max(0, endsAt - this.#clock.now()) });
    for (;;) {
      const { status, pollInterval } = await this.get(taskId, left());
      if (readyStatuses.has(status)) break;
      await pause(this.#clock, Math.min(intervalOf(pollInterval), left().totalTimeout ?? 0), signal);
    }
    // A task that waits for an answer may wait for long: there is no sign of it in between.
    const result = await this.#call(methods.taskResult, { taskId }, callOptions({ ...left(), timeout: totalTimeout }));
    if (!Array.isArray(result.content)) throw invalidAnswer(methods.taskResult, "content is not an array");
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
  throw invalidAnswer(method, "it is not a task");
}
