import { pointerToken } from "../base/json.js";
import { handled } from "../base/later.js";
import type { Input } from "../lifecycle/input.js";
import type { ClientDescription, Operation } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { readMeta, readProgressToken } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
import type { Root } from "../protocol/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../protocol/sampling.js";
import type { InferOutput, Schema } from "../schema/compile.js";
import { type Ask, type FormAnswer, form, roots, sample, type VisitAnswer, visit } from "./questions.js";

/** What can be set about a question. */
export interface QuestionOptions {
  /** Names the question within its call. Default: by position. */
  readonly key?: string;
}

/** What can be set about a visit to a page. */
export interface VisitOptions extends QuestionOptions {
  /**
   * Names the visit for `completeElicitation`. Unique on this server, and not to be guessed. It crosses the wire in 2025-11-25 alone.
   * Default: a random one.
   */
  readonly elicitationId?: string;
}

/**
 * What a handler sees of the call that it answers. Its methods may be taken apart from it (`({ log }) => …`), and what they
 * promise may be left un-awaited: a failure that no one awaits does not end the process.
 */
export class Context {
  readonly #operation: Operation;
  readonly #params: JsonObject;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #position = 0;

  constructor(operation: Operation, params: JsonObject) {
    this.#operation = operation;
    this.#params = params;
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
   * than was told before. Resolves when the client has room for more, at once while it keeps up; never rejects. Not awaited,
   * progress costs a client that reads slowly nothing but the values in between: only the latest one waits.
   * https://modelcontextprotocol.io/specification/latest/basic/utilities/progress
   */
  progress(progress: number, total?: number, message?: string): Promise<void> {
    // JSON has no word for infinity, nor for what is no number.
    const progressToken = readProgressToken(this.#params);
    if (progressToken === undefined || !(progress > this.#lastProgress && Number.isFinite(progress)))
      return Promise.resolve();
    this.#lastProgress = progress;
    this.#operation.notify(notifications.progress, {
      progressToken,
      progress,
      ...(Number.isFinite(total) ? { total } : {}),
      ...(message === undefined ? {} : { message }),
    });
    return this.drained();
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
  async visit(message: string, url: string | URL, options: VisitOptions = {}): Promise<VisitAnswer> {
    return this.#askOne(visit(message, url, options.elicitationId), options);
  }

  /**
   * Tells the client that a visit is over, one that `visit` has asked for or an error −32042 has named: the client makes the call
   * again, or closes its dialog. It may be called after the call has ended, as long as the conversation lasts. Does nothing in
   * revisions that have no word for it, and after the conversation.
   * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
   *
   * @example
   * const { action } = await ctx.visit("Log in", url, { elicitationId: id });
   * if (action === "accept") onceLoggedIn(id, () => ctx.completeElicitation(id));
   */
  completeElicitation(elicitationId: string): void {
    const { conversation, revision } = this.#operation;
    if (!revision.notifications.server.has(notifications.elicitationComplete)) return;
    conversation?.notify(notifications.elicitationComplete, { elicitationId });
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
   * would come out differently. Its value is kept as JSON, with the client and sealed; work that fails is run again in the next
   * round.
   *
   * A round is run once, so a client that sends it twice does not repeat the work. A client that makes the whole call again, or
   * several processes that share secrets and no `requestState.store`, do: what must never happen twice needs a key of its own
   * where it happens.
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

// Bound when they are read, and not in the constructor: most handlers use one method or none, and a context is made for every
// call.
for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Context.prototype))) {
  if (name === "constructor" || typeof value !== "function") continue;
  const method = value as (this: Context, ...args: unknown[]) => unknown; // A descriptor does not know its type.
  Object.defineProperty(Context.prototype, name, {
    get(this: Context) {
      return (...args: unknown[]): unknown => handled(method.apply(this, args));
    },
  });
}
