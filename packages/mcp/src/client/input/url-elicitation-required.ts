import { deferred } from "../../base/deferred.js";
import { HookError, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { UrlElicitationOutcome } from "./input-responder.js";
import type { NotificationEmitter } from "./notification-emitter.js";
import type { RetryableCall } from "./retryable-call.js";

/** Maximum URL elicitations of one call, in one error or in several: a user has to look at each. */
const maxVisits = 10;

/**
 * Handles −32042, *URL elicitation required*: the user opens the pages, and the call is retried when the server notifies their
 * completion, or the program says so. It is not retried otherwise, and no page is
 * shown twice for one call, whatever ids the server gives it.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 *
 * @throws RpcError that error, if a person does not want to, this client has no way to ask one, or the server wants nothing but
 * pages that were visited; LocalError `timeout` if the visits are not over in the time of the call
 */
export async function completeUrlElicitation(
  call: RetryableCall,
  wanted: RpcError,
  emitter: NotificationEmitter,
): Promise<JsonObject> {
  const completions = new Completions(emitter);
  const visited = new Set<string>();
  try {
    for (let error = wanted; ; ) {
      const pages = readPages(call, error).filter(({ url }) => !visited.has(url));
      if (pages.length === 0 || visited.size + pages.length > maxVisits) throw error;
      for (const { url } of pages) visited.add(url);
      await visitAll(call, pages, error, completions);
      try {
        return await call.make(call.params);
      } catch (failure) {
        if (!requiresUrlElicitation(call, failure)) throw failure;
        error = failure;
      }
    }
  } finally {
    completions.forget();
  }
}

/** The elicitations whose completion the server has notified. */
class Completions {
  readonly forget: () => void;
  readonly #ids = new Set<string>();
  #news = deferred<undefined>();

  constructor(emitter: NotificationEmitter) {
    this.forget = emitter.listen((method, params) => {
      if (method !== notifications.elicitationComplete || !isObject(params)) return;
      const { elicitationId } = params;
      // A visit may be over before the person has said that it is begun, so ids are kept that are not waited for.
      if (typeof elicitationId !== "string" || this.#ids.size >= 10 * maxVisits) return;
      this.#ids.add(elicitationId);
      this.#news.resolve(undefined);
      this.#news = deferred();
    });
  }

  /** Resolves when one of the ids is completed. */
  async of(ids: readonly string[]): Promise<void> {
    while (!ids.some((id) => this.#ids.has(id))) await this.#news.promise;
  }
}

/** Whether a call failed because pages are to be visited first, in a revision that has a word for it. */
export function requiresUrlElicitation(
  { revision }: Pick<RetryableCall, "revision">,
  error: unknown,
): error is RpcError {
  return error instanceof RpcError && error.code === revision.codes.urlElicitationRequired;
}

/** A URL and the elicitation ids that can complete it. */
interface Page {
  readonly url: string;
  readonly ids: string[];
  readonly ask: (signal: AbortSignal) => Promise<UrlElicitationOutcome>;
}

/** @throws RpcError the error itself, where it names nothing that this client can show */
function readPages(call: RetryableCall, error: RpcError): readonly Page[] {
  const listed = isObject(error.data) ? error.data.elicitations : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > maxVisits) throw error;
  const pages = new Map<string, Page>();
  for (const params of listed as readonly unknown[]) {
    const id = isObject(params) && params.mode === "url" ? params.elicitationId : undefined;
    const ask = isObject(params) ? askOf(call, params) : undefined;
    if (!isObject(params) || typeof id !== "string" || ask === undefined) throw error;
    const url = new URL(String(params.url)).href; // The URL was validated when the request was accepted.
    const page = pages.get(url) ?? { url, ids: [], ask };
    page.ids.push(id);
    pages.set(url, page);
  }
  return [...pages.values()];
}

/** Undefined for a page that this client does not show. */
function askOf({ responder, revision }: RetryableCall, params: JsonObject): Page["ask"] | undefined {
  try {
    if (responder.acceptUrlElicitation !== undefined) return responder.acceptUrlElicitation(params, revision);
    const ask = responder.accept(methods.elicit, params, revision);
    return async (signal) => ({ action: String((await ask(signal)).action) });
  } catch {
    return undefined; // The call fails with the error of the server.
  }
}

/** @throws RpcError the error, if the user or the program declines; LocalError as `RetryableCall.wait` */
async function visitAll(
  call: RetryableCall,
  pages: readonly Page[],
  error: RpcError,
  completions: Completions,
): Promise<void> {
  const asked = call.wait((signal) => Promise.all(pages.map(({ ask }) => ask(signal))));
  const answers = await asked.catch((thrown: unknown) => {
    throw thrown instanceof HookError
      ? call.error("refused", `no page was visited: ${thrown.message}`, thrown)
      : thrown;
  });
  if (answers.some(({ action }) => action !== "accept")) throw error;
  const giveUp = (): never => {
    throw error;
  };
  const over = (): Promise<unknown> =>
    Promise.all(
      pages.map(({ ids }, at) => {
        const retry = answers[at]?.retry;
        const told = completions.of(ids);
        return retry === undefined ? told : Promise.race([told, retry.then(() => undefined, giveUp)]);
      }),
    );
  try {
    await call.wait(over, call.idleTimeout);
  } catch (failure) {
    if (!(failure instanceof LocalError) || failure.reason !== "timeout") throw failure;
    throw call.error(
      "timeout",
      "the server has not said that the visit is over: make the call again when it is",
      error,
    );
  }
}
