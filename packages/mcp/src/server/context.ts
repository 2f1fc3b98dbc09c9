import type { ClientDescription, Operation } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";
import { type LoggingLevel, loggingLevels } from "../protocol/logging.js";
import { readMeta, readProgressToken } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
import type { ProgressToken } from "../protocol/progress.js";

/** What a handler sees of the call that it answers. */
export class Context {
  readonly #operation: Operation;
  readonly #params: JsonObject;
  readonly #token: ProgressToken | undefined;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(operation: Operation, params: JsonObject) {
    this.#operation = operation;
    this.#params = params;
    this.#token = readProgressToken(params);
  }

  /** Aborted when the client cancels, a deadline passes, or the connection ends. */
  get signal(): AbortSignal {
    return this.#operation.signal;
  }

  /** The protocol revision of this call, e.g. for a log; results are given in the newest shape whatever it is. */
  get revision(): string {
    return this.#operation.revision.version;
  }

  /** What the client says of itself. Not proven: never decide anything by its name. */
  get client(): ClientDescription {
    return this.#operation.client;
  }

  /** The `_meta` of the request. */
  get meta(): JsonObject {
    return readMeta(this.#params) ?? {};
  }

  /**
   * Tells the client how far this call is. It goes out only if the client asked for progress, and only if it is more
   * than was told before.
   * https://modelcontextprotocol.io/specification/latest/basic/utilities/progress
   */
  progress(progress: number, total?: number, message?: string): void {
    // JSON has no word for infinity, nor for what is no number.
    if (this.#token === undefined || !(progress > this.#lastProgress && Number.isFinite(progress))) return;
    this.#lastProgress = progress;
    this.#operation.notify(notifications.progress, {
      progressToken: this.#token,
      progress,
      ...(Number.isFinite(total) ? { total } : {}),
      ...(message === undefined ? {} : { message }),
    });
  }

  /**
   * Sends a log message to the client, if it wants messages of that level. No secrets: the client sees all of it.
   * https://modelcontextprotocol.io/specification/latest/server/utilities/logging
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const { logLevel } = this.#operation;
    if (logLevel === undefined || loggingLevels.indexOf(level) < loggingLevels.indexOf(logLevel)) return;
    this.#operation.notify(notifications.message, {
      level,
      data: data ?? null,
      ...(logger === undefined ? {} : { logger }),
    });
  }

  /** Resolves when the client has room for more; await it between many notifications. */
  drained(): Promise<void> {
    return this.#operation.drained();
  }
}
