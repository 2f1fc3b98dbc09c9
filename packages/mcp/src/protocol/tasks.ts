import type { RequestParams } from "./params.js";

/** Where a task stands. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * A call that goes on after it was answered, where tasks belong to the core protocol.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export interface TaskState {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** For people: how the task came to where it stands. */
  readonly statusMessage?: string;
  /** ISO 8601, as the next one. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Milliseconds from its creation for which the task is kept; null: for ever. */
  readonly ttl: number | null;
  /** Milliseconds to wait between two questions how it stands. */
  readonly pollInterval?: number;
}

/** Params of the requests about one task. */
export interface TaskParams extends RequestParams {
  readonly taskId: string;
}
