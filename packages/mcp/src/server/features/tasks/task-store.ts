import { type MembersOf, requireCount } from "../../../base/check-members.js";
import { type Clock, longestTimer, setBackgroundTimer, type Timer } from "../../../base/clock.js";
import { deferred } from "../../../base/deferred.js";
import { isObject, type JsonObject } from "../../../base/json.js";
import { onAbort } from "../../../jsonrpc/abort-listeners.js";
import type { RemoteCall } from "../../../jsonrpc/call.js";
import { encodeFailure, encodeValue } from "../../../jsonrpc/codec/encode.js";
import { codes, internalError, invalidParams, LocalError, RpcError } from "../../../jsonrpc/errors.js";
import { type ErrorObject, RawJson } from "../../../jsonrpc/message.js";
import { mcpProfile } from "../../../jsonrpc/profile.js";
import { methods, notifications } from "../../../protocol/methods.js";
import type { TaskState, TaskStatus } from "../../../protocol/types/tasks.js";
import type { Operation, ServedSession } from "../../servable.js";

/** The request for a task. */
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
  /** The number of characters of its result. */
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
   * Creates a task, and runs it after the response to the request that created it.
   * @param run gives the result; it may throw
   * @throws RpcError 42900 when there are too many
   */
  start({ principal, call, ttl = this.#limits.ttl }: TaskRequest, run: (task: Task) => unknown): Task {
    this.#requireRoom();
    const { maxTtl, pollInterval } = this.#limits;
    const time = Math.min(ttl, maxTtl);
    const task = new Task(this.#conversation, principal, { ttl: time, pollInterval });
    const expire = (): void => this.#drop(kept, new LocalError("timeout", "the task has outlived its time"));
    const kept: Kept = { task, timer: setBackgroundTimer(this.#conversation.clock, expire, time), length: 0 };
    this.#kept.set(task.id, kept);
    this.#running += 1;
    void this.#run(kept, call, run); // Never rejects.
    return task;
  }

  /** @throws RpcError −32602 for a task that does not exist, or belongs to another caller */
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

  async #run(kept: Kept, call: JsonObject, run: (task: Task) => unknown): Promise<void> {
    await Promise.resolve(); // The answer that names the task goes out first.
    const end = await this.#endOf(kept.task, call, run);
    this.#running -= 1;
    if (this.#kept.has(kept.task.id)) this.#keep(kept, end);
  }

  async #endOf(task: Task, call: JsonObject, run: (task: Task) => unknown): Promise<TaskEnd> {
    try {
      const result = await run(task);
      const json = new RawJson(encodeValue(result));
      if (!isObject(result) || result.isError !== true) return { status: "completed", result: json };
      return { status: "failed", result: json, message: firstText(result.content) };
    } catch (error) {
      // An error after the end is how a handler stops, and is not a fault.
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

  #drop({ task, timer, length }: Kept, reason: LocalError): void {
    this.#conversation.clock.clearTimer(timer);
    this.#kept.delete(task.id);
    this.#length -= length;
    task.drop(reason);
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

/** The error is the same for a task that never existed, one that has expired, and one of another caller. */
export function unknownTask(): RpcError {
  return invalidParams("Unknown task", [{ path: "/taskId", message: "is not a task, or one that has expired" }]);
}

function tooMany(reason: string): RpcError {
  return new RpcError(codes.tooManyRequests, "Too many tasks", { reason });
}

/** Limits of tasks: their lifetime and number. They apply to one session, because a peer chooses how many tasks it creates. */
export interface TaskOptions {
  /** Milliseconds from its creation for which a task is kept, where the client does not say. Default: 300,000. */
  readonly ttl?: number;
  /** The most that a client gets when it asks for longer. Default: 3,600,000. */
  readonly maxTtl?: number;
  /** `pollInterval` of tasks in milliseconds. Default: 1,000. */
  readonly pollInterval?: number;
  /** Tasks whose handlers run at the same time; one more is refused. Default: 16. */
  readonly running?: number;
  /** Tasks that are kept, running or not; one more is refused until one expires. Default: 100. */
  readonly kept?: number;
  /** Characters of all results that are kept, as JSON. A task whose result is beyond it fails. Default: 16,777,216. */
  readonly resultLength?: number;
}

/** The members of `TaskOptions`, for the check of options. */
export const taskMembers: MembersOf<TaskOptions> = {
  ttl: ["number", "ttlMs"],
  maxTtl: ["number"],
  pollInterval: ["number"],
  running: ["number", "concurrency"],
  kept: ["number", "max"],
  resultLength: ["number"],
};

/** Every option with its value. */
export type TaskLimits = Required<TaskOptions>;

const defaults: TaskLimits = {
  ttl: 300_000,
  maxTtl: 3_600_000,
  pollInterval: 1_000,
  running: 16,
  kept: 100,
  resultLength: 16 * 1024 * 1024,
};

/** @throws RangeError for what is no count, or no time that a timer can wait */
export function taskLimits(options: TaskOptions = {}): TaskLimits {
  const limits = { ...defaults, ...options };
  for (const [name, value] of Object.entries(limits)) requireCount(`tasks.${name}`, value);
  if (limits.maxTtl > longestTimer) throw new RangeError(`tasks.maxTtl must be at most ${longestTimer}`);
  return limits;
}

/** How a task has ended. */
export type TaskEnd =
  | { readonly status: "completed"; readonly result: RawJson }
  | { readonly status: "failed"; readonly result: RawJson; readonly message: string | undefined }
  | { readonly status: "failed"; readonly error: ErrorObject; readonly message: string }
  | { readonly status: "cancelled"; readonly message: string };

type TaskTimes = Pick<TaskState, "ttl" | "pollInterval">;

interface Waiter {
  readonly callback: RemoteCall | undefined;
  settle(end: TaskEnd | undefined): void;
}

/**
 * One call that goes on after it was answered. Its status moves between `working` and `input_required`, and from either
 * to one that is final.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-lifecycle
 */
export class Task {
  // A conversation may be shared, and then the id is all that protects a task: it must not be guessed.
  readonly id: string = crypto.randomUUID();
  readonly principal: string | undefined;
  readonly #conversation: ServedSession;
  readonly #clock: Clock;
  readonly #times: TaskTimes;
  readonly #createdAt = Date.now();
  readonly #begun: number;
  readonly #controller = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #ended = deferred<void>();
  /** Input requests that wait until a caller waits for the result. */
  readonly #held = new Set<(callback: RemoteCall) => void>();
  /** Questions without an answer. */
  #questions = 0;
  #movedAt: number;
  #end: TaskEnd | undefined;

  /** @param conversation is notified of every change of the status */
  constructor(conversation: ServedSession, principal: string | undefined, times: TaskTimes) {
    this.principal = principal;
    this.#conversation = conversation;
    this.#times = times;
    this.#clock = conversation.clock;
    this.#begun = this.#clock.now();
    this.#movedAt = this.#begun;
  }

  /** The state of the task as the client sees it. */
  get state(): TaskState {
    const message = this.#end === undefined || !("message" in this.#end) ? undefined : this.#end.message;
    return {
      taskId: this.id,
      status: this.#status,
      ...(message === undefined ? {} : { statusMessage: message }),
      createdAt: new Date(this.#createdAt).toISOString(),
      // The clock of the machine may be set back; this never is.
      lastUpdatedAt: new Date(this.#createdAt + this.#movedAt - this.#begun).toISOString(),
      ...this.#times,
    };
  }

  /** Aborted when the task is cancelled, expires, or its conversation is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves at the end of the task. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether nothing more is sent for it. */
  get isOver(): boolean {
    return this.#end !== undefined || this.signal.aborted;
  }

  /** Ends the task; false if it has ended already. */
  end(end: TaskEnd): boolean {
    if (this.isOver) return false;
    this.#end = end;
    this.#ended.resolve();
    this.#tell();
    for (const { settle } of [...this.#waiters]) settle(end);
    if (end.status === "cancelled") this.#controller.abort(new LocalError("cancelled", end.message));
    return true;
  }

  /** Called when the task is no longer kept. */
  drop(reason: LocalError): void {
    if (this.#end === undefined) this.#controller.abort(reason);
    for (const { settle } of [...this.#waiters]) settle(undefined);
  }

  /**
   * Waits for the end of the task; undefined if it is dropped or `signal` aborts. Its input requests go to the waiting client.
   */
  async wait({ callback, signal }: Operation): Promise<TaskEnd | undefined> {
    if (this.#end !== undefined) return this.#end;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        callback,
        settle: (end) => {
          this.#waiters.delete(waiter);
          forget();
          resolve(end);
        },
      };
      const forget = onAbort(signal, () => waiter.settle(undefined));
      this.#waiters.add(waiter);
      if (callback !== undefined) for (const send of [...this.#held]) send(callback);
    });
  }

  /**
   * Sends an input request to the client while a `tasks/result` waits, which a client sends after the status `input_required`. Before
   * that the client may not be able to ask its user, and HTTP has no stream for the request.
   */
  async ask(send: (callback: RemoteCall) => Promise<unknown>): Promise<unknown> {
    this.#questions += 1;
    if (this.#questions === 1 && !this.isOver) this.#tell();
    try {
      return await send(await this.#wayBack());
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0 && !this.isOver) this.#tell();
    }
  }

  #wayBack(): Promise<RemoteCall> {
    return new Promise((resolve, reject) => {
      this.signal.throwIfAborted();
      for (const { callback } of this.#waiters) if (callback !== undefined) return resolve(callback);
      const over = (): void => {
        this.#held.delete(send);
        forget();
      };
      const send = (callback: RemoteCall): void => {
        over();
        resolve(callback);
      };
      const forget = onAbort(this.signal, () => {
        over();
        reject(this.signal.reason);
      });
      this.#held.add(send);
    });
  }

  get #status(): TaskStatus {
    return this.#end?.status ?? (this.#questions > 0 ? "input_required" : "working");
  }

  #tell(): void {
    this.#movedAt = this.#clock.now();
    this.#conversation.notify(notifications.taskStatus, { ...this.state });
  }
}
