import type { JsonObject } from "../../base/json.js";
import { markHandled } from "../../base/maybe-promise.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import type { RemoteCall } from "../../jsonrpc/call.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { InputRequests, InputResponses } from "./input-request.js";
import { type InputClient, requireClientCapability } from "./require-client-capability.js";

/** Requests input from the client, in the way of the revision. The returned promises may be left un-awaited. */
export interface Input {
  /** Makes several input requests at once. @throws RpcError for a capability that the client has not declared */
  request(questions: InputRequests): Promise<InputResponses>;
  /** Runs `work` in one round of the call only; every later round gets the value of the first. */
  once(key: string, work: () => unknown): Promise<unknown>;
}

/** Users need time to respond: the idle timeout equals the total timeout. */
const inputTimeout = 600_000;

/** Sends requests to the client: the handshake era. Those that are open when the call ends are cancelled. */
export class CallbackInput implements Input {
  readonly #callback: RemoteCall;
  readonly #client: InputClient;
  readonly #over = new AbortController();
  readonly #forget: () => void;
  readonly #done = new Map<string, Promise<unknown>>();

  constructor(callback: RemoteCall, client: InputClient, cancelled: AbortSignal) {
    this.#callback = callback;
    this.#client = client;
    this.#forget = whenAborted(cancelled, () => this.#over.abort(cancelled.reason));
  }

  /** Cancels the open requests, because the call has ended. */
  end(): void {
    this.#forget();
    this.#over.abort(new LocalError("cancelled", "the call that asked has ended"));
  }

  request(questions: InputRequests): Promise<InputResponses> {
    return markHandled(this.#ask(questions));
  }

  async #ask(questions: InputRequests): Promise<InputResponses> {
    requireClientCapability(questions, this.#client);
    const { revision } = this.#client;
    const options = { signal: this.#over.signal, timeout: inputTimeout, totalTimeout: inputTimeout };
    const answers = Object.entries(questions).map(async ([key, question]): Promise<[string, unknown]> => {
      const { method, params, elicitationId } = question;
      const shaped = withElicitationId(method, revision.down("params", method, params), revision, elicitationId);
      return [key, revision.up("result", method, await this.#callback(method, shaped, options))];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  once(key: string, work: () => unknown): Promise<unknown> {
    const known = this.#done.get(key) ?? markHandled(Promise.resolve().then(work));
    this.#done.set(key, known);
    return known;
  }
}

/** One revision requires an id for every URL elicitation, for the completion notification. */
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
