import type { CompletionReference, LoggingLevel, SubscriptionFilter } from "@parlance/mcp";
import type { Client, InputHandlers, Subscription } from "@parlance/mcp/client";
import { expect } from "vitest";
import { turn } from "../testing/talks.js";
import type { TranscriptAnswers } from "./read.js";

type Arguments = Readonly<Record<string, unknown>>;

/** The actions of the program at the client's end of a transcript, for one conversation. */
export class Program {
  readonly #client: Client;
  /** By URI; that of `subscribe` has none. */
  readonly #subscriptions = new Map<string, Subscription>();
  #begun: { readonly call: Promise<unknown>; readonly abort: AbortController } | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Does it. A verb with `!` behind it must fail. */
  async act(verb: string, args: readonly unknown[]): Promise<void> {
    const act = this.#verbs[verb.replace(/!$/u, "")];
    if (act === undefined) throw new Error(`a transcript cannot do ${verb}`);
    if (verb.endsWith("!")) await expect(act(...args)).rejects.toBeInstanceOf(Error);
    else await act(...args);
  }

  // The file has the arguments of a verb, and the wire shows whether they were right.
  readonly #verbs: Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>> = {
    call: (method, params) => this.#client.call(method as string, params as Arguments),
    ping: () => this.#client.ping(),
    setLogLevel: (level) => this.#client.setLogLevel(level as LoggingLevel),
    complete: (ref, argument, settled) =>
      this.#client.complete(
        ref as CompletionReference,
        argument as { readonly name: string; readonly value: string },
        settled === undefined ? {} : { context: { arguments: settled as Record<string, string> } },
      ),
    "tools.list": () => this.#client.tools.list().all(),
    "tools.call": (name, args) => this.#client.tools.call(name as string, args as Arguments),
    "tools.follow": (name, args) =>
      this.#client.tools.call(name as string, args as Arguments, { onProgress: () => undefined }),
    "tools.begin": async (name, args) => {
      const abort = new AbortController();
      const call = this.#client.tools.call(name as string, args as Arguments, { signal: abort.signal });
      call.catch(() => undefined); // `tools.abort` looks at it.
      this.#begun = { call, abort };
    },
    "tools.abort": async (why) => {
      await turn();
      this.#begun?.abort.abort(new Error(why as string));
      await expect(this.#begun?.call).rejects.toMatchObject({ reason: "cancelled" });
    },
    "tools.start": (name, args) => this.#client.tools.start(name as string, args as Arguments),
    "tasks.get": (taskId) => this.#client.tasks.get(taskId as string),
    "tasks.result": (taskId) => this.#client.tasks.result(taskId as string),
    "tasks.list": () => this.#client.tasks.list().all(),
    "tasks.cancel": (taskId) => this.#client.tasks.cancel(taskId as string),
    "resources.list": () => this.#client.resources.list().all(),
    "resources.templates": () => this.#client.resources.templates().all(),
    "resources.read": (uri) => this.#client.resources.read(uri as string),
    "resources.subscribe": async (uri) => {
      this.#subscriptions.set(uri as string, await this.#client.resources.subscribe(uri as string));
    },
    "resources.unsubscribe": (uri) => this.#close(uri as string),
    "prompts.list": () => this.#client.prompts.list().all(),
    "prompts.get": (name, args) => this.#client.prompts.get(name as string, args as Record<string, string>),
    subscribe: async (filter) => {
      this.#subscriptions.set("", await this.#client.subscribe(filter as SubscriptionFilter));
    },
    unsubscribe: () => this.#close(""),
  };

  async #close(uri: string): Promise<void> {
    await turn(); // What the server has told is heard.
    await this.#subscriptions.get(uri)?.close();
  }
}

/** The answers of a file, one after the other. */
export function answersOf({ elicit, visit, sample, roots }: TranscriptAnswers): InputHandlers {
  return {
    ...(elicit === undefined ? {} : { elicitation: inTurn("elicit", elicit) }),
    ...(visit === undefined ? {} : { urlElicitation: inTurn("visit", visit) }),
    ...(sample === undefined ? {} : { sampling: inTurn("sample", sample) }),
    ...(roots === undefined ? {} : { roots }),
  };
}

function inTurn<Answer>(name: string, answers: readonly Answer[]): () => Answer {
  const left = [...answers];
  return () => {
    const next = left.shift();
    if (next === undefined) throw new Error(`the transcript has no further answer for ${name}`);
    return next;
  };
}
