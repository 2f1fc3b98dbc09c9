import type { Clock } from "../base/clock.js";
import type { Closed, ConnectionState } from "../jsonrpc/connection.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { LastingConversation } from "../lifecycle/lasting.js";
import type { OpenedCall, Prior, ServerDescription } from "../lifecycle/opened.js";
import { shown } from "../lifecycle/remote-call.js";
import type { CompletionReference } from "../protocol/completion.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/logging.js";
import { methods, notifications } from "../protocol/methods.js";
import type { SubscriptionFilter } from "../protocol/subscriptions.js";
import type { ToolTypes } from "../schema/tool-types.js";
import type { Answers } from "./answers.js";
import { type CompleteOptions, type Completion, complete } from "./complete.js";
import type { ListedTools } from "./listed-tools.js";
import type { ClientCall } from "./method-types.js";
import { requireAdvertised } from "./offered.js";
import { PromptVerbs } from "./prompts.js";
import { ResourceVerbs } from "./resources.js";
import { checkSubscribe, type Subscribe, type SubscribeOptions, type Subscription } from "./subscription.js";
import { TaskVerbs } from "./tasks.js";
import { ToolVerbs } from "./tools.js";
import { callOptions, type VerbOptions } from "./verb-options.js";

/** What a client is made of. */
export interface ClientParts {
  readonly conversation: LastingConversation;
  readonly answers: Answers;
  /** Holds to what the server offers, answers what its results ask, and keeps what may be kept. */
  readonly call: OpenedCall;
  readonly clock: Clock;
  readonly report: Reporter;
  readonly lenient: boolean;
  readonly listed: ListedTools;
  readonly subscribe: Subscribe;
}

/** An open conversation with a server, in whichever revision it speaks. `await using` closes it. */
export class Client<Tools extends ToolTypes = ToolTypes> implements AsyncDisposable {
  readonly tools: ToolVerbs<Tools>;
  readonly resources: ResourceVerbs;
  readonly prompts: PromptVerbs;
  readonly tasks: TaskVerbs;
  readonly #parts: ClientParts;

  /** Made by `connect`. */
  constructor(parts: ClientParts) {
    const { conversation, clock, listed, subscribe } = parts;
    this.#parts = parts;
    this.tasks = new TaskVerbs(parts, clock);
    this.tools = new ToolVerbs<Tools>({ ...parts, offer: conversation, listed, tasks: this.tasks });
    this.resources = new ResourceVerbs(parts, subscribe);
    this.prompts = new PromptVerbs(parts);
  }

  /** The revision that is spoken. */
  get revision(): string {
    return this.#parts.conversation.revision.version;
  }

  /** What the server says of itself. */
  get server(): ServerDescription {
    return this.#parts.conversation.server;
  }

  /** What was found out about the server. Given to `connect` the next time, it saves asking. It is JSON. */
  get prior(): Prior {
    return this.#parts.conversation.prior;
  }

  /**
   * Calls any method of the server, in the newest shape. What the protocol knows is sent only if the revision has it, and the
   * server has advertised it or the caller insists.
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
   * What an argument of a prompt, or a variable of a resource template, may be.
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
   * Hears of changes: of the lists and resources in the filter, or of every list that the server tells of.
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
  async setLogLevel(level: LoggingLevel, { unadvertised = false, ...options }: VerbOptions = {}): Promise<void> {
    const { conversation } = this.#parts;
    if (!unadvertised) requireAdvertised(methods.setLevel, "logging", conversation.server.capabilities);
    // In the stateless era the level goes with every call: a wrong one would make the server refuse them all.
    if (!isLoggingLevel(level)) throw new LocalError("refused", noLevel(level));
    await conversation.setLogLevel(level, callOptions(options));
  }

  /** Resolves when the server has given a sign of life. The stateless era has no `ping`: there it is asked what it speaks. */
  async ping({ unadvertised: _, ...options }: VerbOptions = {}): Promise<void> {
    const { call, revision } = this.#parts.conversation;
    const method = revision.requests.client.has(methods.ping) ? methods.ping : methods.discover;
    await call(method, {}, callOptions(options));
  }

  /**
   * Tells the server that its roots have changed. The stateless era asks for them anew with every call, and is not told.
   * @throws LocalError `refused` for a client whose `answers` hold no function for its roots
   */
  rootsChanged(): void {
    const { conversation, answers } = this.#parts;
    if (typeof answers.roots !== "function") {
      throw new LocalError("refused", "rootsChanged: answers.roots is not a function, so the roots cannot change");
    }
    const isTold = conversation.revision.notifications.client.has(notifications.rootsChanged);
    if (isTold) conversation.notify(notifications.rootsChanged);
  }

  /** Ends the conversation and waits until its carrier is gone; calls under way fail with `closed`. */
  close(): Promise<void> {
    return this.#parts.conversation.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function noLevel(level: unknown): string {
  return `${methods.setLevel}: there is no level ${shown(level)}: one of ${loggingLevels.join(", ")} is`;
}
