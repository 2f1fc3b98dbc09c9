import { observedBody } from "../../shared/client/watched-fetch.js";
import type { RecordedRequests } from "../../shared/target/configured-target.js";
import type { ExchangeRecord, ExchangeStart } from "./exchange-record.js";
import { reasonOf } from "./proxied-exchange.js";

/** Begins the record of an exchange. */
type Begin = (head: Pick<ExchangeStart, "method" | "url" | "headers">) => ExchangeRecord;

/** Records the exchanges of sign-ins, which take place at other servers too, and do not pass the proxy. */
export class SignInRecord {
  readonly #begin: Begin;
  readonly #open = new Set<ExchangeRecord>();

  constructor(begin: Begin) {
    this.#begin = begin;
  }

  /** The same `fetch`, with every exchange recorded. The body of a request is a text or a form. */
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

  /** The same receiver, with the authorization request and the redirect recorded. The pages between them are those of the browser. */
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

  /** Aborts the records of open exchanges: a user may still sign in. */
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

  /** @param aborted why and by whom; default: the exchange came to its end */
  #end(
    record: ExchangeRecord,
    aborted?: { readonly why: string; readonly by: "client" | "server" | "recorder" },
  ): void {
    if (!this.#open.delete(record)) return;
    if (aborted === undefined) record.end();
    else record.abort(aborted.why, aborted.by);
  }
}
