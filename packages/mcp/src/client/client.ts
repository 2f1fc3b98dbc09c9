import type { Clock } from "../base/clock.js";
import type { Closed, ConnectionState } from "../jsonrpc/connection.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { Reporter } from "../jsonrpc/report.js";
import { methods, notifications } from "../protocol/methods.js";
import type { CompletionReference } from "../protocol/types/completion.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/types/logging.js";
import type { SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { requireAdvertised } from "./advertised.js";
import type { InputHandlers } from "./input/input-handlers.js";
import type { ClientCall } from "./method-types.js";
import type { ServerDescription, ServerHint, SessionCall } from "./session/client-session.js";
import type { ReconnectingSession } from "./session/reconnecting-session.js";
import { quotedForMessage } from "./session/server-remote.js";
import {
  checkSubscribe,
  type Subscribe,
  type SubscribeOptions,
  type Subscription,
} from "./subscriptions/subscription.js";
import { type CompleteOptions, type Completion, complete } from "./verbs/complete.js";
import type { ListedTools } from "./verbs/listed-tools.js";
import { ClientPrompts } from "./verbs/prompts.js";
import { ClientResources } from "./verbs/resources.js";
import { ClientTasks } from "./verbs/tasks.js";
import { ClientTools } from "./verbs/tools.js";
import { type ClientCallOptions, callOptions } from "./verbs/verb-options.js";

/** What a client is made of. */
export interface ClientParts {
  readonly conversation: ReconnectingSession;
  readonly answers: InputHandlers;
  /** Holds to what the server offers, answers what its results ask, and keeps what may be kept. */
  readonly call: SessionCall;
  readonly clock: Clock;
  readonly report: Reporter;
  readonly lenient: boolean;
  readonly listed: ListedTools;
  readonly subscribe: Subscribe;
}

/** A client session with a server, in any revision. `await using` closes it. */
export class Client<Tools extends ToolTypes = ToolTypes> implements AsyncDisposable {
  readonly tools: ClientTools<Tools>;
  readonly resources: ClientResources;
  readonly prompts: ClientPrompts;
  readonly tasks: ClientTasks;
  readonly #parts: ClientParts;

  /** Made by `connect`. */
  constructor(parts: ClientParts) {
    const { conversation, clock, listed, subscribe } = parts;
    this.#parts = parts;
    this.tasks = new ClientTasks(parts, clock);
    this.tools = new ClientTools<Tools>({ ...parts, offer: conversation, listed, tasks: this.tasks });
    this.resources = new ClientResources(parts, subscribe);
    this.prompts = new ClientPrompts(parts);
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.#parts.conversation.revision.version;
  }

  /** `serverInfo`, capabilities and instructions of the server. */
  get server(): ServerDescription {
    return this.#parts.conversation.server;
  }

  /** What the client learned about the server, as JSON. Pass it to the next `connect` to skip the probe. */
  get serverHint(): ServerHint {
    return this.#parts.conversation.serverHint;
  }

  /**
   * Calls any method of the server, with params in the newest shape. A protocol method is sent only if the revision has it, and
   * the server advertises it or the caller sets `unadvertised`.
   *
   * @example
   * await client.call("tools/list", {}, { unadvertised: true }); // of a server that has forgotten to declare `tools`
   */
  get call(): ClientCall {
    return this.#parts.call as ClientCall; // What comes is what the server says: types alone.
  }

  /** How it stands with the connection underneath: a new one once the conversation was opened again. */
  get connection(): ConnectionState {
    return this.#parts.conversation.connection;
  }

  /** Resolves when the conversation is over. Never rejects. */
  get closed(): Promise<Closed> {
    return this.#parts.conversation.closed;
  }

  /**
   * Completes an argument of a prompt or a variable of a resource template.
   *
   * @example
   * const { values } = await client.complete({ type: "ref/prompt", name: "review" }, { name: "language", value: "py" });
   */
  complete(
    ref: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    options: CompleteOptions = {},
  ): Promise<Completion> {
    return complete(this.#parts.call, ref, argument, options);
  }

  /**
   * Subscribes to changes of the lists and resources in the filter, by default to every list that the server advertises.
   * @throws RpcError when the server refuses; LocalError `refused` for what it has not advertised
   */
  async subscribe(filter?: SubscriptionFilter, options?: SubscribeOptions): Promise<Subscription> {
    checkSubscribe(filter, options);
    return this.#parts.subscribe(filter, options);
  }

  /**
   * Says how severe a log message must be for the server to send it: to `onNotification`, or with the call it is about.
   * @throws LocalError `refused` for a level that does not exist
   */
  async setLogLevel(level: LoggingLevel, { unadvertised = false, ...options }: ClientCallOptions = {}): Promise<void> {
    const { conversation } = this.#parts;
    if (!unadvertised) requireAdvertised(methods.setLevel, "logging", conversation.server.capabilities);
    // In the stateless era the level goes with every call: a wrong one would make the server refuse them all.
    if (!isLoggingLevel(level)) throw new LocalError("refused", noLevel(level));
    await conversation.setLogLevel(level, callOptions(options));
  }

  /** Resolves when the server responds. The stateless era has no `ping`: the client sends `server/discover` instead. */
  async ping({ unadvertised: _, ...options }: ClientCallOptions = {}): Promise<void> {
    const { call, revision } = this.#parts.conversation;
    const method = revision.requests.client.has(methods.ping) ? methods.ping : methods.discover;
    await call(method, {}, callOptions(options));
  }

  /**
   * Sends `notifications/roots/list_changed`. In the stateless era a server asks for the roots during each call, and nothing is
   * sent. @throws LocalError `refused` for a client whose `handlers.roots` is not a function
   */
  rootsChanged(): void {
    const { conversation, answers } = this.#parts;
    if (typeof answers.roots !== "function") {
      throw new LocalError("refused", "rootsChanged: handlers.roots is not a function, so the roots cannot change");
    }
    const isTold = conversation.revision.notifications.client.has(notifications.rootsChanged);
    if (isTold) conversation.notify(notifications.rootsChanged);
  }

  /** Closes the session and its connection; calls in flight fail with `closed`. */
  close(): Promise<void> {
    return this.#parts.conversation.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function noLevel(level: unknown): string {
  return `${methods.setLevel}: there is no level ${quotedForMessage(level)}: one of ${loggingLevels.join(", ")} is`;
}
