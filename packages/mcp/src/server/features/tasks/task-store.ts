import type { Timer } from "../../../base/clock.js";
import { onAbort } from "../../../jsonrpc/abort-listeners.js";
import { encodeFailure } from "../../../jsonrpc/codec/encode.js";
import { encodeValue, RawJson } from "../../../jsonrpc/codec/json-text.js";
import { codes, internalError, invalidParams, LocalError, RpcError } from "../../../jsonrpc/errors.js";
import type { ErrorObject } from "../../../jsonrpc/message.js";
import { mcpProfile } from "../../../jsonrpc/profile.js";
import { isObject, type JsonObject } from "../../../protocol/json.js";
import { methods, notifications } from "../../../protocol/methods.js";
import type { ServedSession } from "../../servable.js";
import { Task, type TaskEnd } from "./task.js";
import type { TaskLimits } from "./task-limits.js";

/** What a task is asked for with. */
export interface TaskRequest {
  readonly principal: string | undefined;
  /** The params of the call that it runs. */
  readonly call: JsonObject;
  /** Milliseconds; undefined where the client leaves it to the server. */
  readonly ttl: number | undefined;
}

interface Kept {
  readonly task: Task;
  readonly timer: Timer;
  /** Characters of its result. */
  length: number;
}

/** The tasks of one conversation, each for its time. When the conversation is over, they all are. */
export class TaskStore {
  readonly #conversation: ServedSession;
  readonly #limits: TaskLimits;
  readonly #kept = new Map<string, Kept>();
  /** Handlers that have not ended. One that does not heed its signal keeps its place, so cancelling buys no more of them. */
  #running = 0;
  #length = 0;

  constructor(conversation: ServedSession, limits: TaskLimits) {
    this.#conversation = conversation;
    this.#limits = limits;
    onAbort(conversation.ended, () => {
      const over = new LocalError("closed", "the conversation is over");
      for (const kept of [...this.#kept.values()]) this.#drop(kept, over);
    });
  }

  /**
   * Makes a task and runs it, as soon as whoever asked for it has been answered.
   * @param run gives the result; it may throw
   * @throws RpcError 42900 when there are too many
   */
  start({ principal, call, ttl = this.#limits.ttl }: TaskRequest, run: (task: Task) => unknown): Task {
    this.#requireRoom();
    const { clock } = this.#conversation;
    const { maxTtl, pollInterval } = this.#limits;
    const kept = Math.min(ttl, maxTtl);
    const task = new Task({ principal, ttl: kept, pollInterval, clock, moved: (moved) => this.#tell(moved) });
    const timer = clock.setTimer(() => this.#expire(task), kept);
    timer.unref?.();
    this.#kept.set(task.id, { task, timer, length: 0 });
    this.#running += 1;
    void this.#run(task, call, run); // Never rejects.
    return task;
  }

  /** @throws RpcError −32602 for a task that there is not, or that is somebody else's */
  find(id: string, principal: string | undefined): Task {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.task.principal !== principal) throw unknownTask();
    return kept.task;
  }

  /** All tasks of one principal, the oldest first. */
  of(principal: string | undefined): readonly Task[] {
    return [...this.#kept.values()].map(({ task }) => task).filter((task) => task.principal === principal);
  }

  #requireRoom(): void {
    const { running, kept } = this.#limits;
    if (this.#running >= running) throw tooMany(`${running} tasks run: wait for one of them to end`);
    if (this.#kept.size >= kept) throw tooMany(`${kept} tasks are kept: wait for one of them to expire`);
  }

  async #run(task: Task, call: JsonObject, run: (task: Task) => unknown): Promise<void> {
    await Promise.resolve(); // The answer that names the task goes out first.
    const end = await this.#endOf(task, call, run);
    this.#running -= 1;
    const kept = this.#kept.get(task.id);
    if (kept !== undefined) this.#keep(kept, end);
  }

  async #endOf(task: Task, call: JsonObject, run: (task: Task) => unknown): Promise<TaskEnd> {
    try {
      const result = await run(task);
      const json = new RawJson(encodeValue(result));
      if (!isObject(result) || result.isError !== true) return { status: "completed", result: json };
      return { status: "failed", result: json, message: firstText(result.content) };
    } catch (error) {
      // What is thrown behind its end is how a handler stops, and no fault.
      const told = task.isOver ? internalError : this.#conversation.failure(methods.callTool, error, call);
      return failed(told);
    }
  }

  #keep(kept: Kept, end: TaskEnd): void {
    const length = lengthOf(end);
    const fits = this.#length + length <= this.#limits.resultLength;
    if (!kept.task.end(fits ? end : failed(tooLong)) || !fits) return;
    kept.length = length;
    this.#length += length;
  }

  #expire({ id }: Task): void {
    const kept = this.#kept.get(id);
    if (kept !== undefined) this.#drop(kept, new LocalError("timeout", "the task has outlived its time"));
  }

  #drop({ task, timer, length }: Kept, reason: LocalError): void {
    this.#conversation.clock.clearTimer(timer);
    this.#kept.delete(task.id);
    this.#length -= length;
    task.drop(reason);
  }

  #tell({ state }: Task): void {
    this.#conversation.notify(notifications.taskStatus, { ...state });
  }
}

const tooLong: ErrorObject = {
  ...internalError,
  data: { reason: "the results of this conversation's tasks are more than this side keeps" },
};

function failed(error: ErrorObject): TaskEnd {
  return { status: "failed", error, message: error.message };
}

function lengthOf(end: TaskEnd): number {
  if ("result" in end) return end.result.text.length;
  return "error" in end ? encodeFailure(0, end.error, mcpProfile).length : 0;
}

/** So much of a failed tool's text says how the task stands; all of it is in the result. */
const longestMessage = 1_000;

function firstText(content: unknown): string | undefined {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const block = blocks.find((each) => isObject(each) && typeof each.text === "string");
  return isObject(block) ? String(block.text).slice(0, longestMessage) : undefined;
}

/** Says the same of a task that never was, of one that has expired, and of somebody else's. */
export function unknownTask(): RpcError {
  return invalidParams("Unknown task", [{ path: "/taskId", message: "is not a task, or one that has expired" }]);
}

function tooMany(reason: string): RpcError {
  return new RpcError(codes.tooManyRequests, "Too many tasks", { reason });
}
