import { observedBody } from "../../shared/client/watched-fetch.js";
import type { RecordedRequests } from "../../shared/target/configured-target.js";
import type { AbortedBy, ExchangeRecord, ExchangeStart } from "./exchange-record.js";
import { reasonOf } from "./proxied-exchange.js";

/** Begins to record an exchange. */
type Begin = (head: Pick<ExchangeStart, "method" | "url" | "headers">) => ExchangeRecord;

/** Records the exchanges of sign-ins, which bypass the proxy and also go to other servers. */
export class SignInRecord {
  readonly #begin: Begin;
  readonly #open = new Set<ExchangeRecord>();

  constructor(begin: Begin) {
    this.#begin = begin;
  }

  /** Wraps a `fetch` so that every exchange is recorded. Request bodies are texts or forms. */
  readonly fetch: RecordedRequests["signIns"]["fetch"] = (fetch) => async (url, init) => {
    const request = new Request(url, init);
    const record = this.#begun({ method: request.method, url: url.href, headers: [...request.headers] });
    const body = new Uint8Array(await request.arrayBuffer());
    if (body.length > 0) record.requestBytes(body);
    record.requestEnd();
    try {
      return this.#recorded(await fetch(url, init), record);
    } catch (error) {
      this.#end(record, { why: reasonOf(error), by: "server" });
      throw error;
    }
  };

  /**
   * Wraps a receiver so that the authorization request and the redirect are recorded. The pages between them are only in the
   * browser.
   */
  readonly receiver: RecordedRequests["signIns"]["receiver"] = (open) => async (registered) => {
    const receiver = await open(registered);
    return {
      redirectUrl: receiver.redirectUrl,
      close: () => receiver.close?.(),
      authorize: async (url) => {
        const request = this.#begun({ method: "GET", url: url.href, headers: [] });
        request.requestEnd();
        try {
          const redirect = await receiver.authorize(url);
          this.#end(request);
          const received = this.#begun({ method: "GET", url: String(redirect), headers: [] });
          received.requestEnd();
          this.#end(received);
          return redirect;
        } catch (error) {
          this.#end(request, { why: reasonOf(error), by: "client" });
          throw error;
        }
      },
    };
  };

  /** Ends the records of open exchanges, for instance while a user is signing in. */
  close(): void {
    for (const record of this.#open) this.#end(record, { why: "the recording has ended", by: "recorder" });
  }

  #begun(head: Parameters<Begin>[0]): ExchangeRecord {
    const record = this.#begin(head);
    this.#open.add(record);
    return record;
  }

  #recorded(response: Response, record: ExchangeRecord): Response {
    const { status, statusText, headers, body } = response;
    record.responseHead(status, [...headers]);
    if (body === null) {
      this.#end(record);
      return response;
    }
    const broken = { why: "the body was not read to its end", by: "client" } as const;
    const seen = observedBody(body, {
      push: (chunk) => record.responseBytes(chunk),
      end: (isWhole) => this.#end(record, isWhole ? undefined : broken),
    });
    return new Response(seen, { status, statusText, headers });
  }

  /** @param aborted the reason and the side that aborted the exchange. Default: it ended normally */
  #end(record: ExchangeRecord, aborted?: { readonly why: string; readonly by: AbortedBy }): void {
    if (!this.#open.delete(record)) return;
    if (aborted === undefined) record.end();
    else record.abort(aborted.why, aborted.by);
  }
}
