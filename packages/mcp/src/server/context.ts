import { pointerToken } from "../base/json.js";
import type { Input } from "../lifecycle/input.js";
import type { ClientDescription, Operation } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { readMeta, readProgressToken } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
import type { ProgressToken } from "../protocol/progress.js";
import type { Root } from "../protocol/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../protocol/sampling.js";
import type { InferOutput, Schema } from "../schema/compile.js";
import { type Ask, type FormAnswer, form, roots, sample, type VisitAnswer, visit } from "./questions.js";

/** What can be set about a question. */
export interface QuestionOptions {
  /** Names the question within its call. Default: by position. */
  readonly key?: string;
}

/** What a handler sees of the call that it answers. */
export class Context {
  readonly #operation: Operation;
  readonly #params: JsonObject;
  readonly #token: ProgressToken | undefined;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #position = 0;

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
    this.#operation.notify(notifications.message, {
      level,
      data: data ?? null,
      ...(logger === undefined ? {} : { logger }),
    });
  }

  /**
   * Asks a person to fill in a form, and waits for the answer.
   *
   * Works on every revision that has it. On the stateless one the call ends at a question that is open, and the handler is
   * run again from its start with the answer: what must not happen twice belongs into `once`.
   *
   * @param options.key names the question within this call. Default: by position
   * @throws RpcError when the client has not declared forms, or answers something else
   */
  async elicit<S extends Schema>(
    message: string,
    schema: S,
    options: QuestionOptions = {},
  ): Promise<FormAnswer<InferOutput<S>>> {
    return this.#askOne(form(message, schema), options);
  }

  /** Asks a person to visit a page, and waits until they have agreed or not. */
  async visit(message: string, url: string | URL, options: QuestionOptions = {}): Promise<VisitAnswer> {
    return this.#askOne(visit(message, url), options);
  }

  /** Asks the client's model, and waits for its message. */
  async sample(params: CreateMessageParams, options: QuestionOptions = {}): Promise<CreateMessageResult> {
    return this.#askOne(sample(params), options);
  }

  /** Asks where this server may work. A hint, not a permission: it is not proven. */
  async listRoots(options: QuestionOptions = {}): Promise<readonly Root[]> {
    return this.#askOne(roots(), options);
  }

  /**
   * Asks several questions at once; the answers have their keys.
   *
   * @example
   * const { who, where } = await ctx.ask({ who: form("Who?", Person), where: roots() });
   */
  async ask<Q extends Readonly<Record<string, Ask<unknown>>>>(
    questions: Q,
  ): Promise<{ readonly [K in keyof Q]: Q[K] extends Ask<infer Answer> ? Answer : never }> {
    const answers = await this.#input().ask(questions);
    const read = Object.entries(questions).map(async ([key, question]) => [
      key,
      await question.read(answers[key], this.#placeOf(key)),
    ]);
    // By construction every key of the questions has the answer that its question reads.
    return Object.fromEntries(await Promise.all(read)) as {
      readonly [K in keyof Q]: Q[K] extends Ask<infer Answer> ? Answer : never;
    };
  }

  /**
   * Runs `work` once in this call, however often the handler is run again to ask: for what has an effect, and for what
   * would come out differently. Its value is kept as JSON, with the client and sealed.
   */
  async once<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    const { input } = this.#operation;
    return (input === undefined ? await work() : await input.once(key, work)) as Value; // The value of the first run.
  }

  /** The answers to the questions of `inputRequired`, by key. From a peer: check them. */
  get answers(): Readonly<Record<string, unknown>> {
    return this.#operation.returned.answers;
  }

  /** What the handler has kept with `inputRequired`. */
  get state(): unknown {
    return this.#operation.returned.state;
  }

  async #askOne<Answer>(question: Ask<Answer>, options: QuestionOptions): Promise<Answer> {
    this.#position += 1;
    const { key = `question-${this.#position}` } = options;
    const answers = await this.#input().ask({ [key]: question });
    return question.read(answers[key], this.#placeOf(key));
  }

  /** Where the client has put its answer: into the params of the call, or into a response of its own. */
  #placeOf(key: string): string {
    return this.#operation.revision.era === "stateless" ? `/inputResponses/${pointerToken(key)}` : "";
  }

  #input(): Input {
    const { input } = this.#operation;
    if (input === undefined)
      throw new TypeError("Nobody can be asked here: this carrier has no way back to the client");
    return input;
  }

  /**
   * Lets the client's connection go while this call goes on: the client comes back after `retry` milliseconds for what there
   * is to tell. Nothing happens where no connection is held for the call, or where the revision has no polling.
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  release(retry = 1_000): void {
    this.#operation.release?.(retry);
  }

  /** Resolves when the client has room for more; await it between many notifications. */
  drained(): Promise<void> {
    return this.#operation.drained();
  }
}
