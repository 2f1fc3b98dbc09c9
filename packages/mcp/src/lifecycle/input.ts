import { handled } from "../base/later.js";
import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { type Asked, requireAnswerable } from "./answerable.js";
import type { Answers, Questions } from "./question.js";

/** How an operation asks its client, whichever way its revision has for that. Its promises may be left un-awaited. */
export interface Input {
  /** Asks several questions at once. @throws RpcError if the client cannot be asked that */
  ask(questions: Questions): Promise<Answers>;
  /** Runs `work` in one round of the call only; every later round gets the value of the first. */
  once(key: string, work: () => unknown): Promise<unknown>;
}

/** A person may have to think: the idle time is that of the whole question. */
const questionTimeout = 600_000;

/** Asks with requests of the server's own: the handshake era. */
class CallbackInput implements Input {
  readonly #callback: RemoteCall;
  readonly #client: Asked;
  readonly #signal: AbortSignal;
  readonly #done = new Map<string, Promise<unknown>>();

  constructor(callback: RemoteCall, client: Asked, signal: AbortSignal) {
    this.#callback = callback;
    this.#client = client;
    this.#signal = signal;
  }

  ask(questions: Questions): Promise<Answers> {
    return handled(this.#ask(questions));
  }

  async #ask(questions: Questions): Promise<Answers> {
    requireAnswerable(questions, this.#client);
    const { revision } = this.#client;
    const options = { signal: this.#signal, timeout: questionTimeout, totalTimeout: questionTimeout };
    const answers = Object.entries(questions).map(async ([key, question]): Promise<[string, unknown]> => {
      const { method, params, elicitationId } = question;
      const shaped = revision.down("params", method, params) as JsonObject; // A reshape of an object gives an object.
      return [key, await this.#callback(method, withElicitationId(method, shaped, revision, elicitationId), options)];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  once(key: string, work: () => unknown): Promise<unknown> {
    const known = this.#done.get(key) ?? handled(Promise.resolve().then(work));
    this.#done.set(key, known);
    return known;
  }
}

/** Undefined on a carrier without a way back. */
export function callbackInput({ callback, signal }: Exchange, client: Asked): Input | undefined {
  return callback === undefined ? undefined : new CallbackInput(callback, client, signal);
}

/** One revision names every visit to a page, so that the server can say later that it is over. */
export function withElicitationId(
  method: string,
  params: JsonObject,
  { facts }: Revision,
  elicitationId?: string,
): JsonObject {
  if (params.elicitationId !== undefined) return params;
  const isNamed = method === methods.elicit && params.mode === "url" && facts.elicitation === "form, url with id";
  return isNamed ? { ...params, elicitationId: elicitationId ?? crypto.randomUUID() } : params;
}
