import { checkMembers, type MembersOf, requireString } from "../base/check-members.js";
import { foreignMembers } from "../base/foreign-members.js";
import { isObject, type JsonObject } from "../base/json.js";
import type { CallOptions } from "../jsonrpc/call.js";
import type { Closed, ConnectionState } from "../jsonrpc/connection.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { ParamsByMethod, ResultByMethod } from "../protocol/method-params.js";
import { methods, notifications } from "../protocol/methods.js";
import type { CompleteResult, CompletionReference } from "../protocol/types/completion.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/types/logging.js";
import type { SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { ToolTypes } from "../schema/tool-types.js";
import type { Middleware } from "../session/middleware.js";
import { requireAdvertised } from "./advertised.js";
import {
  quotedForMessage,
  type ServerDescription,
  type ServerHint,
  type SessionCallOptions,
} from "./session/client-session.js";
import { checkSubscribe, type SubscribeOptions, type Subscription } from "./subscriptions/subscription.js";
import {
  type ClientCallOptions,
  type ClientParts,
  callOptions,
  invalidResult,
  verbMembers,
} from "./verbs/client-parts.js";
import { ClientPrompts } from "./verbs/prompts.js";
import { ClientResources } from "./verbs/resources.js";
import { ClientTasks } from "./verbs/tasks.js";
import { ClientTools } from "./verbs/tools.js";

type Params<Method extends string> = Method extends keyof ParamsByMethod & keyof ResultByMethod
  ? ParamsByMethod[Method]
  : JsonObject;
type Result<Method extends string> = Method extends keyof ResultByMethod ? ResultByMethod[Method] : JsonObject;

/**
 * Calls a method of the server, in the newest shape. Protocol methods are typed; params and result of an extension are objects.
 * The result comes from the server, and the client checks only that it is an object.
 *
 * @example
 * const { tools } = await client.call("tools/list");
 *
 * @throws as `Connection.call`
 */
export type ClientCall = <const Method extends string>(
  method: Method | keyof ResultByMethod,
  ...rest: Readonly<Record<never, never>> extends Params<Method>
    ? [params?: Params<Method>, options?: SessionCallOptions]
    : [params: Params<Method>, options?: SessionCallOptions]
) => Promise<Result<Method>>;

/** Options of a completion request. */
export interface CompleteOptions extends ClientCallOptions {
  /** The values of the arguments that are filled in already. Not sent in revisions without this member. Default: none. */
  readonly context?: {
    /** The values by the names of the arguments. Default: none. */
    readonly arguments?: Readonly<Record<string, string>>;
  };
}

const completeMembers: MembersOf<CompleteOptions> = {
  ...verbMembers,
  context: { arguments: ["object"] },
};
const filledIn = "write context: { arguments: { name: value } }";

/** Completion values, best first. */
export type Completion = CompleteResult["completion"];

/** A client session with a server, in any revision. `await using` closes it. */
export class Client<Tools extends ToolTypes = ToolTypes> implements AsyncDisposable {
  /** Lists and calls tools. */
  readonly tools: ClientTools<Tools>;
  /** Lists and reads resources. */
  readonly resources: ClientResources;
  /** Lists and gets prompts. */
  readonly prompts: ClientPrompts;
  /** Polls, lists and cancels tasks, in revisions that have them. */
  readonly tasks: ClientTasks;
  readonly #parts: ClientParts;

  /** Created by `connect`. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.tasks = new ClientTasks(parts);
    this.tools = new ClientTools<Tools>(parts, this.tasks);
    this.resources = new ClientResources(parts);
    this.prompts = new ClientPrompts(parts);
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.#parts.session.revision.version;
  }

  /** `serverInfo`, capabilities and instructions of the server. */
  get server(): ServerDescription {
    return this.#parts.session.server;
  }

  /** Facts that the client learned about the server, as JSON. Pass it to the next `connect` to skip the probe. */
  get serverHint(): ServerHint {
    return this.#parts.session.serverHint;
  }

  /**
   * Calls any method of the server, with params in the newest shape. A protocol method is sent only if the revision has it, and
   * the server advertises it or the caller sets `unadvertised`.
   *
   * @example
   * await client.call("tools/list", {}, { unadvertised: true }); // for a server that does not declare `tools`
   */
  get call(): ClientCall {
    return this.#parts.call as ClientCall; // Adds types only.
  }

  /**
   * Wraps every later request in a middleware: those of all methods of the client, each page of a list, each round of a call
   * with input requests. The first is the outermost. A response from the cache needs no request. After a reconnect the
   * middleware is applied to the new session; the requests that open a session are not wrapped.
   *
   * @example
   * client.use((next) => async (method, params, options) =>
   *   next(method, { ...params, _meta: { ...(params._meta ?? {}), "example.com/token": token } }, options),
   * );
   */
  use(middleware: Middleware<CallOptions>): void {
    this.#parts.session.use(middleware);
  }

  /** The state of the connection. A reconnect replaces the connection. */
  get connection(): ConnectionState {
    return this.#parts.session.connection;
  }

  /** Resolves when the session is over. Never rejects. */
  get closed(): Promise<Closed> {
    return this.#parts.session.closed;
  }

  /**
   * Completes an argument of a prompt or a variable of a resource template.
   *
   * @example
   * const review = { type: "ref/prompt", name: "review" } as const;
   * const { values } = await client.complete(review, { name: "language", value: "py" });
   * // What is filled in already: a server may offer the frameworks of this language.
   * await client.complete(review, { name: "framework", value: "" }, { context: { arguments: { language: "python" } } });
   *
   * @throws TypeError for an unknown option; LocalError `protocol` for a result without values
   */
  async complete(
    ref: CompletionReference,
    argument: {
      /** The name of the argument, or of the variable of the URI template. */
      readonly name: string;
      /** The text typed so far. */
      readonly value: string;
    },
    options: CompleteOptions = {},
  ): Promise<Completion> {
    const remedy = "write client.complete(ref, { name, value })";
    requireString("client.complete: the name of the argument", argument?.name, remedy);
    checkMembers("The options of client.complete", options, completeMembers, {
      arguments: filledIn,
      filled: filledIn,
      settled: filledIn,
    });
    const { context, ...others } = options;
    const params = { ref, argument, ...(context === undefined ? {} : { context }) };
    const { completion } = await this.#parts.call(methods.complete, params, callOptions(others));
    const values = isObject(completion) ? completion.values : undefined;
    if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
      return completion as unknown as Completion; // Its required member was checked above.
    }
    throw invalidResult(methods.complete, "completion.values is not an array of strings");
  }

  /**
   * Subscribes to changes of the lists and resources in the filter, by default to every list that the server advertises.
   * @throws RpcError when the server refuses; LocalError `refused` if it has not advertised the capability
   */
  async subscribe(filter?: SubscriptionFilter, options?: SubscribeOptions): Promise<Subscription> {
    checkSubscribe(filter, options);
    return this.#parts.subscribe(filter, options);
  }

  /**
   * Sets the lowest level of the log messages that the server sends. `onNotification` receives them.
   * @throws LocalError `refused` for an unknown level
   */
  async setLogLevel(level: LoggingLevel, { unadvertised = false, ...options }: ClientCallOptions = {}): Promise<void> {
    const { session } = this.#parts;
    if (!unadvertised) requireAdvertised(methods.setLevel, "logging", session.server.capabilities);
    // A stateless client sends the level with every call, so the server would refuse all calls with an unknown one.
    if (!isLoggingLevel(level)) throw new LocalError("refused", noLevel(level));
    await session.setLogLevel(level, callOptions(options));
  }

  /** Resolves when the server responds. The stateless era has no `ping`: the client sends `server/discover` instead. */
  async ping({ unadvertised: _, ...options }: ClientCallOptions = {}): Promise<void> {
    const { call, revision } = this.#parts.session;
    const method = revision.requests.client.has(methods.ping) ? methods.ping : methods.discover;
    await call(method, {}, callOptions(options));
  }

  /**
   * Sends `notifications/roots/list_changed`. In the stateless era servers request the roots during each call, so nothing is
   * sent. @throws LocalError `refused` for a client whose `handlers.roots` is not a function
   */
  rootsChanged(): void {
    const { session, handlers } = this.#parts;
    if (typeof handlers.roots !== "function") {
      throw new LocalError("refused", "rootsChanged: handlers.roots is not a function, so the roots cannot change");
    }
    const exists = session.revision.notifications.client.has(notifications.rootsChanged);
    if (exists) session.notify(notifications.rootsChanged);
  }

  /** Closes the session and its connection; calls in flight fail with `closed`. */
  close(): Promise<void> {
    return this.#parts.session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const describes = "client.server has info, capabilities and instructions of the server";
const ended = "client.closed is a promise for the end of the session";

// Methods that clients of other libraries have, and what takes their place.
Object.setPrototypeOf(
  Client.prototype,
  foreignMembers(
    "client",
    {
      connect: "connect(target) of @parlance/mcp/client returns a client that is connected",
      on: `${ended}; connect(target, { onNotification, report }) receives notifications and errors`,
      request: "client.call(method, params) calls any method",
      notification: "client.rootsChanged() is the only notification that a client sends by itself",
      setRequestHandler: "connect(target, { handlers: { elicitation, sampling, roots } }) responds to the server",
      setNotificationHandler:
        "connect(target, { notifications }) receives notifications; client.subscribe() those of changes",
      listTools: "client.tools.list() lists tools; its all() returns an array",
      callTool: "client.tools.call(name, args) calls a tool",
      listResources: "client.resources.list() lists resources; its all() returns an array",
      listResourceTemplates: "client.resources.templates() lists templates; its all() returns an array",
      readResource: "client.resources.read(uri) reads a resource",
      subscribeResource: "client.resources.subscribe(uri) subscribes to a resource",
      listPrompts: "client.prompts.list() lists prompts; its all() returns an array",
      getPrompt: "client.prompts.get(name, args) gets a prompt",
      setLoggingLevel: "client.setLogLevel(level) sets the level",
      sendRootsListChanged: "client.rootsChanged() notifies the server",
      getServerVersion: describes,
      getServerCapabilities: describes,
      getInstructions: describes,
    },
    {
      serverInfo: describes,
      serverCapabilities: describes,
      instructions: describes,
      isConnected: 'client.connection.phase is "open" while the client is connected',
      transport: "client.connection is the state of the connection, and client.close() ends it",
      onclose: ended,
      onerror: "connect(target, { report }) receives errors",
    },
  ),
);

function noLevel(level: unknown): string {
  return `${methods.setLevel}: there is no level ${quotedForMessage(level)}: one of ${loggingLevels.join(", ")} is`;
}
