import type { MembersOf } from "../../../base/check-members.js";
import { longestTimer } from "../../../base/settles-within.js";

/** How long tasks are kept, and how many. The bounds are those of one conversation: a peer chooses how many it makes. */
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
  ttl: ["ttlMs"],
  maxTtl: [],
  pollInterval: [],
  running: ["concurrency"],
  kept: ["max"],
  resultLength: [],
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
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new RangeError(`tasks.${name} must be a whole number above zero, got ${value}`);
  }
  if (limits.maxTtl > longestTimer) throw new RangeError(`tasks.maxTtl must be at most ${longestTimer}`);
  return limits;
}
