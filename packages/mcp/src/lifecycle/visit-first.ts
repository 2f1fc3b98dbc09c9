import { deferred } from "../base/deferred.js";
import { HookError, LocalError, RpcError } from "../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Visited } from "./answering.js";
import type { Heard } from "./heard.js";
import type { UnhurriedCall } from "./unhurried-call.js";

/** A peer chooses how many, in one error or one after the other; a person looks at each. */
const maxVisits = 10;

/**
 * Makes a call whose server first wants pages to be visited, and says so with an error: a person visits them, and the call is
 * made again when the server tells that they are done, or the program says so. It is never made again by itself, and no page is
 * shown twice for one call, whatever ids the server gives it.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 *
 * @throws RpcError that error, if a person does not want to, this client has no way to ask one, or the server wants nothing but
 * pages that were visited; LocalError `timeout` if the visits are not over in the time of the call
 */
export async function visitFirst(call: UnhurriedCall, wanted: RpcError, heard: Heard): Promise<JsonObject> {
  const completions = new Completions(heard);
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
        if (!wantsVisits(call, failure)) throw failure;
        error = failure;
      }
    }
  } finally {
    completions.forget();
  }
}

/** Which visits the server has told to be over. */
class Completions {
  readonly forget: () => void;
  readonly #ids = new Set<string>();
  #news = deferred<undefined>();

  constructor(heard: Heard) {
    this.forget = heard.listen((method, params) => {
      if (method !== notifications.elicitationComplete || !isObject(params)) return;
      const { elicitationId } = params;
      // A visit may be over before the person has said that it is begun, so ids are kept that are not waited for.
      if (typeof elicitationId !== "string" || this.#ids.size >= 10 * maxVisits) return;
      this.#ids.add(elicitationId);
      this.#news.resolve(undefined);
      this.#news = deferred();
    });
  }

  /** Resolves when one of the ids was told. */
  async of(ids: readonly string[]): Promise<void> {
    while (!ids.some((id) => this.#ids.has(id))) await this.#news.promise;
  }
}

/** Whether a call failed because pages are to be visited first, in a revision that has a word for it. */
export function wantsVisits({ revision }: Pick<UnhurriedCall, "revision">, error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === revision.codes.urlElicitationRequired;
}

/** A page, and the ids under which the server may tell that the visit is over. */
interface Page {
  readonly url: string;
  readonly ids: string[];
  readonly ask: (signal: AbortSignal) => Promise<Visited>;
}

/** @throws RpcError the error itself, where it names nothing that this client can show */
function readPages(call: UnhurriedCall, error: RpcError): readonly Page[] {
  const listed = isObject(error.data) ? error.data.elicitations : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > maxVisits) throw error;
  const pages = new Map<string, Page>();
  for (const params of listed as readonly unknown[]) {
    const id = isObject(params) && params.mode === "url" ? params.elicitationId : undefined;
    const ask = isObject(params) ? askOf(call, params) : undefined;
    if (!isObject(params) || typeof id !== "string" || ask === undefined) throw error;
    const url = new URL(String(params.url)).href; // Whoever accepts a question has checked its URL.
    const page = pages.get(url) ?? { url, ids: [], ask };
    page.ids.push(id);
    pages.set(url, page);
  }
  return [...pages.values()];
}

/** Undefined for a page that this client does not show. */
function askOf({ answering, revision }: UnhurriedCall, params: JsonObject): Page["ask"] | undefined {
  try {
    if (answering.acceptVisit !== undefined) return answering.acceptVisit(params, revision);
    const ask = answering.accept(methods.elicit, params, revision);
    return async (signal) => ({ action: String((await ask(signal)).action) });
  } catch {
    return undefined; // The server hears of it: the call fails with its own error.
  }
}

/** @throws RpcError the error, for a person or a program that does not want to; LocalError as `UnhurriedCall.wait` */
async function visitAll(
  call: UnhurriedCall,
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
    await call.wait(over, call.patience);
  } catch (failure) {
    if (!(failure instanceof LocalError) || failure.reason !== "timeout") throw failure;
    throw call.error(
      "timeout",
      "the server has not said that the visit is over: make the call again when it is",
      error,
    );
  }
}
