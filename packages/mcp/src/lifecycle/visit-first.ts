import type { Clock } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { RpcError } from "../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import type { AcceptedQuestion, Answering } from "./answering.js";
import type { Heard } from "./heard.js";
import { pause } from "./pause.js";
import type { UnhurriedCall } from "./unhurried-call.js";

/** Milliseconds before a call is made again whose server has not said that a visit is over; doubled from time to time. */
const firstPause = 2_000;
const longestPause = 30_000;

/** A peer chooses how many, in one error or one after the other; a person looks at each. */
const maxVisits = 10;

/**
 * Makes a call whose server first wants pages to be visited, and says so with an error: a person visits them, and the call
 * is made again as soon as the server tells that they are done, or now and then.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 *
 * @throws RpcError that error, if a person does not want to, or this client has no way to ask one
 */
export async function visitFirst(call: UnhurriedCall, wanted: RpcError, heard: Heard): Promise<JsonObject> {
  const visits = new Visits(heard);
  try {
    let error = wanted;
    for (let wait = firstPause; ; wait = Math.min(2 * wait, longestPause)) {
      const fresh = readVisits(call, error).filter(({ id }) => !visits.begun.has(id));
      if (visits.begun.size + fresh.length > maxVisits) throw error;
      await call.wait((signal) => visitAll(fresh, error, signal));
      for (const { id } of fresh) visits.begun.add(id);
      await call.wait((signal) => visits.doneWithin(wait, call.clock, signal));
      try {
        return await call.make(call.params);
      } catch (failure) {
        if (!wantsVisits(call, failure)) throw failure;
        error = failure;
      }
    }
  } finally {
    visits.forget();
  }
}

/** The visits of one call, and which of them the server has told to be over. */
class Visits {
  readonly begun = new Set<string>();
  readonly forget: () => void;
  readonly #over = new Set<string>();
  #news = deferred<undefined>();

  constructor(heard: Heard) {
    this.forget = heard.listen((method, params) => {
      if (method !== notifications.elicitationComplete || !isObject(params)) return;
      const { elicitationId } = params;
      // One that is not begun yet may be over before a person has said that it is begun.
      if (typeof elicitationId !== "string" || this.#over.size >= 10 * maxVisits) return;
      this.#over.add(elicitationId);
      this.#news.resolve(undefined);
      this.#news = deferred();
    });
  }

  /** Resolves when all that were begun are over, and after a while in any case. */
  async doneWithin(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const wait = new AbortController();
    const forget = onAbort(signal, () => wait.abort());
    await Promise.race([this.#done(), pause(clock, milliseconds, wait.signal)]);
    wait.abort();
    forget();
  }

  async #done(): Promise<void> {
    while (![...this.begun].every((id) => this.#over.has(id))) await this.#news.promise;
  }
}

/** Whether a call failed because pages are to be visited first, in a revision that has a word for it. */
export function wantsVisits({ revision }: Pick<UnhurriedCall, "revision">, error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === revision.codes.urlElicitationRequired;
}

interface Visit {
  readonly id: string;
  readonly ask: AcceptedQuestion;
}

/** @throws RpcError the error itself, where it names nothing that this client can show */
function readVisits({ answering, revision }: UnhurriedCall, error: RpcError): readonly Visit[] {
  const listed = isObject(error.data) ? error.data.elicitations : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > maxVisits) throw error;
  return listed.map((params: unknown) => {
    const id = isObject(params) && params.mode === "url" ? params.elicitationId : undefined;
    const ask = isObject(params) ? acceptedBy(answering, params, revision) : undefined;
    if (typeof id !== "string" || ask === undefined) throw error;
    return { id, ask };
  });
}

function acceptedBy(answering: Answering, params: JsonObject, revision: Revision): AcceptedQuestion | undefined {
  try {
    return answering.accept(methods.elicit, params, revision);
  } catch {
    return undefined;
  }
}

async function visitAll(visits: readonly Visit[], error: RpcError, signal: AbortSignal): Promise<void> {
  const answers = await Promise.all(visits.map(({ ask }) => ask(signal)));
  if (answers.some(({ action }) => action !== "accept")) throw error;
}
