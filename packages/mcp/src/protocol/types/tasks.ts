import type { RequestParams } from "./params.js";

/** The status of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * A call that continues after its first response, in revisions where tasks are part of the core protocol.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export interface TaskState {
  /** The id of the task. */
  readonly taskId: string;
  /** The status of the task. */
  readonly status: TaskStatus;
  /** A description of the status, for display. */
  readonly statusMessage?: string;
  /** ISO 8601, as is `lastUpdatedAt`. */
  readonly createdAt: string;
  /** The time of the last change of the status (ISO 8601). */
  readonly lastUpdatedAt: string;
  /** Milliseconds from creation until the task may be deleted; null for no limit. */
  readonly ttl: number | null;
  /** Milliseconds to wait between two `tasks/get` requests. */
  readonly pollInterval?: number;
}

/** Params of the requests about one task. */
export interface TaskParams extends RequestParams {
  /** The id of the task. */
  readonly taskId: string;
}
