import { deferred } from "../../base/deferred.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { HookError, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { InputResponder, UrlElicitationOutcome } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";
import type { RetryableCall } from "./retryable-call.js";

/** Maximum URL elicitations of one call, in one error or in several: the user has to look at each. */
const maxPages = 10;

/**
 * Handles −32042, *URL elicitation required*: the user opens the pages, and the call is retried when the server notifies their
 * completion, or when the `retry` promise of the handler resolves. No page is shown twice for one call, even under another id.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 *
 * @throws RpcError that error, if the user declines, this client has no handler, or the server requires only pages that were
 * opened before; LocalError `timeout` if the pages are not completed in the time of the call
 */
export async function completeUrlElicitation(
  call: RetryableCall,
  responder: InputResponder,
  required: RpcError,
): Promise<JsonObject> {
  const completions = new Completions(call.session);
  const opened = new Set<string>();
  try {
    for (let error = required; ; ) {
      const pages = readPages(call, responder, error).filter(({ url }) => !opened.has(url));
      if (pages.length === 0 || opened.size + pages.length > maxPages) throw error;
      for (const { url } of pages) opened.add(url);
      await completeAll(call, pages, error, completions);
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

  constructor(session: ReconnectingSession) {
    this.forget = session.listen((method, params) => {
      if (method !== notifications.elicitationComplete || !isObject(params)) return;
      const { elicitationId } = params;
      // A page may be completed before the handler returns, so ids are recorded even if nothing waits for them yet.
      if (typeof elicitationId !== "string" || this.#ids.size >= 10 * maxPages) return;
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

/** Whether a call failed with −32042, in a revision that defines this code. */
export function requiresUrlElicitation({ session }: RetryableCall, error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === session.revision.codes.urlElicitationRequired;
}

/** A URL and the elicitation ids that can complete it. */
interface Page {
  readonly url: string;
  readonly ids: string[];
  readonly elicit: (signal: AbortSignal) => Promise<UrlElicitationOutcome>;
}

/** @throws RpcError the error itself, if it lists a page that this client cannot show */
function readPages(call: RetryableCall, responder: InputResponder, error: RpcError): readonly Page[] {
  const listed = isObject(error.data) ? error.data.elicitations : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > maxPages) throw error;
  const pages = new Map<string, Page>();
  for (const params of listed as readonly unknown[]) {
    const id = isObject(params) && params.mode === "url" ? params.elicitationId : undefined;
    const elicit = isObject(params) ? acceptPage(call, responder, params) : undefined;
    if (!isObject(params) || typeof id !== "string" || elicit === undefined) throw error;
    const url = new URL(String(params.url)).href; // The URL was validated when the request was accepted.
    const page = pages.get(url) ?? { url, ids: [], elicit };
    page.ids.push(id);
    pages.set(url, page);
  }
  return [...pages.values()];
}

/** Undefined for a page that this client cannot show. */
function acceptPage(
  { session: { revision } }: RetryableCall,
  responder: InputResponder,
  params: JsonObject,
): Page["elicit"] | undefined {
  try {
    if (responder.acceptUrlElicitation !== undefined) return responder.acceptUrlElicitation(params, revision);
    const respond = responder.accept(methods.elicit, params, revision);
    return async (signal) => ({ action: String((await respond(signal)).action) });
  } catch {
    return undefined; // The call fails with the error of the server.
  }
}

/** @throws RpcError the error, if the user or the program declines; LocalError as `RetryableCall.wait` */
async function completeAll(
  call: RetryableCall,
  pages: readonly Page[],
  error: RpcError,
  completions: Completions,
): Promise<void> {
  const elicited = call.wait((signal) => Promise.all(pages.map(({ elicit }) => elicit(signal))));
  const outcomes = await elicited.catch((thrown: unknown) => {
    throw thrown instanceof HookError ? call.error("refused", `no page was opened: ${thrown.message}`, thrown) : thrown;
  });
  if (outcomes.some(({ action }) => action !== "accept")) throw error;
  const giveUp = (): never => {
    throw error;
  };
  const completed = (): Promise<unknown> =>
    Promise.all(
      pages.map(({ ids }, at) => {
        const retry = outcomes[at]?.retry;
        const notified = completions.of(ids);
        return retry === undefined ? notified : Promise.race([notified, retry.then(() => undefined, giveUp)]);
      }),
    );
  try {
    await call.wait(completed, call.idleTimeout);
  } catch (failure) {
    if (!(failure instanceof LocalError) || failure.reason !== "timeout") throw failure;
    throw call.error(
      "timeout",
      "the server has not reported that the elicitation is complete: make the call again after that",
      error,
    );
  }
}
