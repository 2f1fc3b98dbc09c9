import type { Clock } from "../../../base/clock.js";
import { onAbort } from "../../../jsonrpc/abort-listeners.js";
import type { RemoteCall } from "../../../jsonrpc/call.js";
import type { RawJson } from "../../../jsonrpc/codec/json-text.js";
import { LocalError } from "../../../jsonrpc/errors.js";
import type { ErrorObject } from "../../../jsonrpc/message.js";
import type { TaskState, TaskStatus } from "../../../protocol/types/tasks.js";
import type { Operation } from "../../servable.js";

/** How a task has ended. */
export type TaskEnd =
  | { readonly status: "completed"; readonly result: RawJson }
  | { readonly status: "failed"; readonly result: RawJson; readonly message: string | undefined }
  | { readonly status: "failed"; readonly error: ErrorObject; readonly message: string }
  | { readonly status: "cancelled"; readonly message: string };

/** What a task is made with. */
export interface TaskTerms {
  readonly principal: string | undefined;
  readonly ttl: number;
  readonly pollInterval: number;
  readonly clock: Clock;
  /** Told of every change of the status. */
  readonly moved: (task: Task) => void;
}

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
  readonly #terms: TaskTerms;
  readonly #createdAt = Date.now();
  readonly #begun: number;
  readonly #controller = new AbortController();
  readonly #waiters = new Set<Waiter>();
  /** Questions that wait for somebody who waits for the result. */
  readonly #held = new Set<(callback: RemoteCall) => void>();
  /** Questions without an answer. */
  #questions = 0;
  #movedAt: number;
  #end: TaskEnd | undefined;

  constructor(terms: TaskTerms) {
    this.principal = terms.principal;
    this.#terms = terms;
    this.#begun = terms.clock.now();
    this.#movedAt = this.#begun;
  }

  /** As the client sees it. */
  get state(): TaskState {
    const message = this.#end === undefined || !("message" in this.#end) ? undefined : this.#end.message;
    const { ttl, pollInterval } = this.#terms;
    return {
      taskId: this.id,
      status: this.#status,
      ...(message === undefined ? {} : { statusMessage: message }),
      createdAt: new Date(this.#createdAt).toISOString(),
      // The clock of the machine may be set back; this never is.
      lastUpdatedAt: new Date(this.#createdAt + this.#movedAt - this.#begun).toISOString(),
      ttl,
      pollInterval,
    };
  }

  /** Aborted when the task is cancelled, expires, or its conversation is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nothing of it goes out any more. */
  get isOver(): boolean {
    return this.#end !== undefined || this.signal.aborted;
  }

  /** Ends it; false if it is over already. */
  end(end: TaskEnd): boolean {
    if (this.isOver) return false;
    this.#end = end;
    this.#tell();
    for (const { settle } of [...this.#waiters]) settle(end);
    if (end.status === "cancelled") this.#controller.abort(new LocalError("cancelled", end.message));
    return true;
  }

  /** It is not kept any more, for whatever reason. */
  drop(reason: LocalError): void {
    if (this.#end === undefined) this.#controller.abort(reason);
    for (const { settle } of [...this.#waiters]) settle(undefined);
  }

  /** Its end, or undefined if it is dropped or `signal` aborts before. Its questions go to whoever waits. */
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
   * Asks the client. The question goes out while somebody waits for the result, as a client does that was told that
   * input is required: until then it may have nobody to show it to, and HTTP no stream to send it on.
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
    this.#movedAt = this.#terms.clock.now();
    this.#terms.moved(this);
  }
}
