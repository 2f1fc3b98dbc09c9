import { bindMethods } from "../base/bound-methods.js";
import { requireFunction, requireString } from "../base/check-members.js";
import { didYouMean } from "../base/did-you-mean.js";
import { foreignMembers } from "../base/foreign-members.js";
import { type JsonObject, kindOf, pointerToken } from "../base/json.js";
import { type Identity, identityOf } from "../jsonrpc/call.js";
import { readMeta, readProgressToken } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
import { keptFault } from "../protocol/sendable.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/types/logging.js";
import type { Root } from "../protocol/types/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../protocol/types/sampling.js";
import type { InferOutput, Schema } from "../schema/compile.js";
import { readDeclared } from "../session/input-methods.js";
import type { Input } from "./input/input.js";
import {
  elicitForm,
  elicitUrl,
  type FormResponse,
  type InputRequestOf,
  listRoots,
  sample,
  type UrlResponse,
} from "./input/input-requests.js";
import { cannotRequestInput } from "./input/require-client-capability.js";
import type { ClientDescription, Operation } from "./servable.js";

/** Options of a request for user input. */
export interface InputOptions {
  /** Key of the request within its call. Default: by position. */
  readonly key?: string;
}

/** Options of a URL elicitation. */
export interface ElicitUrlOptions extends InputOptions {
  /**
   * Elicitation id for `completeElicitation`. It must be unique on this server and unguessable. Sent only in 2025-11-25. Default:
   * a random one.
   */
  readonly elicitationId?: string;
}

/**
 * Context of a handler. Its methods may be destructured (`({ log }) => …`), and their promises may be left un-awaited: a
 * rejection does not end the process.
 */
export class Context {
  readonly #operation: Operation;
  readonly #params: JsonObject;
  #lastProgress: number | undefined;
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

  /**
   * `clientInfo` and capabilities of the client. Not verified: make no access decision by its name. The capabilities are in the newest
   * shape in every revision: a client with forms has `elicitation.form`.
   *
   * @example
   * server.tool("clear", {}, async (_, { client, elicit }) => {
   *   if (client.capabilities.elicitation?.form === undefined) throw new ToolError("This host cannot ask: nothing was deleted");
   *   const { action } = await elicit("Delete all?", { type: "object" });
   *   return action === "accept" ? "Deleted" : "Kept";
   * });
   */
  get client(): ClientDescription {
    const { client, revision } = this.#operation;
    return { ...client, capabilities: readDeclared(revision, client.capabilities) };
  }

  /**
   * The authenticated caller of this call: principal, client, scopes and claims. Undefined on stdio and in memory, and for anonymous
   * callers.
   *
   * @example
   * server.tool("whoami", {}, (_, { auth }) => auth?.subject ?? "anonymous");
   */
  get auth(): Identity | undefined {
    return identityOf(this.#operation.auth);
  }

  /** The `_meta` of the request. */
  get meta(): JsonObject {
    return readMeta(this.#params) ?? {};
  }

  /**
   * Sends a progress notification, if the client requested progress and the value increased. Resolves when the client can receive
   * more, at once while it keeps up; never rejects. If you do not await it, a slow client misses intermediate values: only the
   * latest one is queued.
   * https://modelcontextprotocol.io/specification/latest/basic/utilities/progress
   */
  progress(progress: number, total?: number, message?: string): Promise<void> {
    if (typeof progress !== "number") {
      throw new TypeError(
        `ctx.progress: expected a number, got ${kindOf(progress)}: write ctx.progress(3, 10, "message")`,
      );
    }
    // JSON has no word for infinity, nor for what is no number.
    const progressToken = readProgressToken(this.#params);
    if (
      progressToken === undefined ||
      !(progress > (this.#lastProgress ?? Number.NEGATIVE_INFINITY) && Number.isFinite(progress))
    )
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
   * Sends a log message to the client, if the client requested messages of that level. Do not log secrets: the client sees the whole message.
   * https://modelcontextprotocol.io/specification/latest/server/utilities/logging
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    if (!isLoggingLevel(level)) throw noLevel(level);
    this.#operation.notify(notifications.message, {
      level,
      data: data ?? null,
      ...(logger === undefined ? {} : { logger }),
    });
  }

  /**
   * Asks the user to fill in a form and waits for the response (form-mode elicitation).
   *
   * Works in every revision that has elicitation. In the stateless era the call ends with an `input_required` result, and the
   * handler runs again from its start with the response: put work that must not run twice into `once`.
   *
   * @param options.key key of the request within this call. Default: by position
   * @throws RpcError when the client has not declared form elicitation, or its response is invalid
   */
  async elicit<S extends Schema>(
    message: string,
    schema: S,
    options: InputOptions = {},
  ): Promise<FormResponse<InferOutput<S>>> {
    return this.#askOne(elicitForm(message, schema), options);
  }

  /** Asks the user to open a web page (URL-mode elicitation), and waits until the user agrees or declines. */
  async elicitUrl(message: string, url: string | URL, options: ElicitUrlOptions = {}): Promise<UrlResponse> {
    return this.#askOne(elicitUrl(message, url, options.elicitationId), options);
  }

  /**
   * Sends `notifications/elicitation/complete` for a URL elicitation of `elicitUrl` or of an error −32042: the client retries the
   * call or closes its dialog. May be called after the call, as long as the session is open. Does nothing in revisions without
   * this notification, and after the session.
   * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
   *
   * @example
   * const { action } = await ctx.elicitUrl("Log in", url, { elicitationId: id });
   * if (action === "accept") logins.once(id, () => ctx.completeElicitation(id));
   */
  completeElicitation(elicitationId: string): void {
    const { session, revision } = this.#operation;
    if (!revision.notifications.server.has(notifications.elicitationComplete)) return;
    session?.notify(notifications.elicitationComplete, { elicitationId });
  }

  /** Requests a sampling from the client's model and waits for its message. */
  async sample(params: CreateMessageParams, options: InputOptions = {}): Promise<CreateMessageResult> {
    return this.#askOne(sample(params), options);
  }

  /** Requests the roots of the client. They are a hint and not a permission. */
  async listRoots(options: InputOptions = {}): Promise<readonly Root[]> {
    return this.#askOne(listRoots(), options);
  }

  /**
   * Requests several inputs at once; the responses have the same keys.
   *
   * @example
   * const Person = z.object({ name: z.string() });
   * const { who, where } = await ctx.requestInput({ who: elicitForm("Who?", Person), where: listRoots() });
   */
  async requestInput<Q extends Readonly<Record<string, InputRequestOf<unknown>>>>(
    questions: Q,
  ): Promise<{ readonly [K in keyof Q]: Q[K] extends InputRequestOf<infer Answer> ? Answer : never }> {
    const answers = await this.#input().request(questions);
    const read = Object.entries(questions).map(async ([key, question]) => [
      key,
      await question.read(answers[key], this.#placeOf(key)),
    ]);
    // By construction every key of the questions has the answer that its question reads.
    return Object.fromEntries(await Promise.all(read)) as {
      readonly [K in keyof Q]: Q[K] extends InputRequestOf<infer Answer> ? Answer : never;
    };
  }

  /**
   * Runs `work` once in this call, however often the handler is replayed for input: use it for side effects and for values that
   * would differ. The value is JSON or undefined, since it is kept in the sealed `requestState` that the client holds. Failed work runs
   * again in the next round.
   *
   * A round is run once, so a client that sends it twice does not repeat the work. A client that makes the whole call again, or
   * several processes that share secrets and no `requestState.store`, do: what must never happen twice needs a key of its own
   * where it happens.
   *
   * @example
   * const order = await ctx.once("order", () => `A-${Date.now()}`);
   *
   * @throws TypeError for a value that is not JSON, such as a `Date`, in every revision; what `work` throws
   */
  async once<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    const remedy = "write ctx.once(key, work), with a key of its own for each work in the handler";
    requireString("ctx.once: the key", key, remedy);
    requireFunction("ctx.once: work", work, remedy);
    const { input } = this.#operation;
    const kept = async (): Promise<Value> => {
      const value = await work();
      const fault = value === undefined ? undefined : keptFault(value, "");
      if (fault === undefined) return value;
      const place = fault.path === "" ? "its value" : `${fault.path} of its value`;
      throw new TypeError(`ctx.once(${JSON.stringify(key)}): ${place} ${fault.message}`);
    };
    return (input === undefined ? await kept() : await input.once(key, kept)) as Value; // The value of the first run.
  }

  /** The responses to the requests of `inputRequired`, by key. They come from a peer: validate them. */
  get inputResponses(): Readonly<Record<string, unknown>> {
    return this.#operation.returned.answers;
  }

  /** The state that the handler passed to `inputRequired`. */
  get requestState(): unknown {
    return this.#operation.returned.state;
  }

  async #askOne<Answer>(question: InputRequestOf<Answer>, options: InputOptions): Promise<Answer> {
    this.#position += 1;
    const { key = `question-${this.#position}` } = options;
    const answers = await this.#input().request({ [key]: question });
    return question.read(answers[key], this.#placeOf(key));
  }

  /** Where the client has put its answer: into the params of the call, or into a response of its own. */
  #placeOf(key: string): string {
    return this.#operation.revision.era === "stateless" ? `/inputResponses/${pointerToken(key)}` : "";
  }

  #input(): Input {
    const { input, revision } = this.#operation;
    if (input === undefined) throw cannotRequestInput(revision);
    return input;
  }

  /**
   * Closes the client's connection while this call continues: the client reconnects after `retry` milliseconds. Does nothing
   * where no connection is held for the call, or where the revision has no polling.
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

function noLevel(level: unknown): TypeError {
  const known = `ctx.log(level, data, logger) has the levels ${loggingLevels.join(", ")}`;
  if (typeof level !== "string")
    return new TypeError(`ctx.log: the level must be a string, got ${kindOf(level)}: ${known}`);
  const meant = level === "warn" ? "did you mean warning?" : didYouMean(level, loggingLevels);
  return new TypeError(`ctx.log: there is no level ${JSON.stringify(level)}: ${meant ?? known}`);
}

const caller = "ctx.auth is the caller, and stateless revisions have no sessions";

/** Methods of loggers, one for each level. */
const foreignLogMethods = Object.fromEntries(
  [...loggingLevels, "warn"].map((name) => {
    const level = name === "warn" ? "warning" : name;
    return [name, `ctx.log("${level}", data) sends a log message`];
  }),
);

/** Members that contexts of other libraries have, and what takes their place. */
const foreignContextMembers = foreignMembers(
  "ctx",
  {
    ...foreignLogMethods,
    sendNotification: "ctx.progress(done, total, message) and ctx.log(level, data) notify the client",
    sendRequest: "ctx.elicit, ctx.sample and ctx.listRoots send requests to the client",
    reportProgress: "ctx.progress(done, total, message) reports progress",
    streamContent: "ctx.progress(done, total, text) sends text before the result",
    elicitInput: "ctx.elicit(message, schema) asks the user",
    createMessage: "ctx.sample(params) asks the client's model",
  },
  {
    sessionId: caller,
    session: caller,
    authInfo: caller,
    http: caller,
    requestId: "for a log, make an id with crypto.randomUUID()",
    requestInfo: "the option auth of the HTTP server reads the headers, and ctx.auth is what it returns",
    _meta: "ctx.meta is the _meta of the request",
    mcpReq: "its members are those of ctx: ctx.signal, ctx.meta, ctx.log, ctx.elicit and ctx.sample",
  },
);

bindMethods(Context.prototype);
Object.setPrototypeOf(Context.prototype, foreignContextMembers);

const foreignLogMembers = foreignMembers("ctx.log", foreignLogMethods);
Object.setPrototypeOf(foreignLogMembers, Function.prototype);
const log = Object.getOwnPropertyDescriptor(Context.prototype, "log");
Object.defineProperty(Context.prototype, "log", {
  get(this: Context) {
    return Object.setPrototypeOf(log?.get?.call(this), foreignLogMembers);
  },
});

const contextInPlaceOfArguments = foreignMembers(
  "args",
  {},
  Object.fromEntries(
    [Context.prototype, foreignContextMembers]
      .flatMap((members) => Object.getOwnPropertyNames(members))
      .filter((name) => name !== "constructor")
      .map((name) => [name, "the context is the second parameter: (_args, ctx) => …"]),
  ),
);

/**
 * The handler of a definition without arguments. Other libraries pass the context as the only parameter of such a handler; here that
 * parameter is an empty object, whose members would silently be undefined.
 */
export function withoutArguments(handler: ArgumentsHandler): ArgumentsHandler {
  if (handler.length !== 1) return handler;
  return (_args, context) => handler(Object.create(contextInPlaceOfArguments), context);
}

type ArgumentsHandler = (args: unknown, context: Context) => unknown;
