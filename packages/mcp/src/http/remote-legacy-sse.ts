import { type Deferred, deferred } from "../base/deferred.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { LocalError, thrownText } from "../jsonrpc/errors.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { excerpt } from "../jsonrpc/report.js";
import { type Terms, termsOf } from "../jsonrpc/terms.js";
import { isEventStream, readRefusal } from "./answer.js";
import { readBody } from "./body.js";
import { readEvents, type StreamEvent } from "./event-reader.js";
import { frameIdsOf } from "./frame-ids.js";
import type { HttpTarget } from "./http-target.js";
import type { HttpCarrierOptions } from "./remote-session.js";
import { SentPost } from "./sent-post.js";

/** Bytes of an answer that says nothing. */
const emptyBytes = 64 * 1024;

/**
 * HTTP as the first revision has it: one event stream for all that the server sends, and a second address for POSTs, which
 * the stream tells.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class RemoteLegacySse implements Channel {
  readonly #target: HttpTarget;
  readonly #terms: Terms;
  readonly #stop = new AbortController();
  /** Where POSTs go; undefined when the stream has ended before it has told. */
  readonly #endpoint = deferred<URL | undefined>();
  #receiver: ChannelReceiver | undefined;
  /** POSTs go out one after the other: each is accepted at once. */
  #turn: Promise<void> = Promise.resolve();
  #stream: Promise<void> = Promise.resolve();
  #resumed: Deferred<void> | undefined;

  constructor(target: HttpTarget, options: HttpCarrierOptions) {
    this.#target = target;
    this.#terms = termsOf({ ...options, limits: { ...clientLimits, ...options.limits } });
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#stream = this.#follow();
  }

  send(frame: string): Promise<void> {
    this.#turn = this.#turn.then(() => this.#post(frame));
    return this.#turn;
  }

  pause(): void {
    this.#resumed ??= deferred();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** The end of the stream is the end of the session. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.resume();
    await this.#stream;
    await this.#turn;
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    const what = "the stream of the server";
    const { signal } = this.#stop;
    let error: Error | undefined;
    try {
      const response = await this.#target.send(what, {
        method: "GET",
        headers: { accept: "text/event-stream" },
        signal,
      });
      const maxBytes = this.#terms.limits.frameBytes;
      const terms = { what, maxBytes, signal, ready: () => this.#resumed?.promise };
      if (!(response.ok && isEventStream(response))) throw (await readRefusal(response, terms)).error;
      await readEvents(response, terms, (event) => this.#take(event));
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(thrownText(thrown));
    }
    this.#endpoint.resolve(undefined);
    if (!signal.aborted) this.#receiver?.end(error);
  }

  #take({ event = "message", data }: StreamEvent): void {
    if (event === "message" && data !== "" && !this.#stop.signal.aborted) this.#receiver?.frame(data);
    if (event === "endpoint") this.#endpoint.resolve(this.#endpointIn(data));
  }

  /** Elsewhere, somebody else would read what is sent. @throws LocalError `protocol` */
  #endpointIn(data: string): URL {
    const url = URL.canParse(data, this.#target.url.href) ? new URL(data, this.#target.url) : undefined;
    if (url?.origin === this.#target.url.origin) return url;
    throw new LocalError("protocol", `the server sends its client elsewhere, to ${excerpt(data)}`);
  }

  /** Never rejects. */
  async #post(frame: string): Promise<void> {
    const { signal } = this.#stop;
    const url = await this.#endpoint.promise;
    if (url === undefined || signal.aborted) return; // The end of the stream says why.
    const post = new SentPost(frameIdsOf(frame), this.#terms.clock);
    const { what } = post;
    try {
      const headers = { "content-type": "application/json" };
      const response = await this.#target.send(what, { method: "POST", headers, body: frame, signal }, url);
      if (response.ok) return void (await readBody(response, emptyBytes, signal));
      const { error, said = error } = await readRefusal(
        response,
        { what, maxBytes: emptyBytes, signal },
        post.requests,
      );
      throw said;
    } catch (thrown) {
      if (!signal.aborted) this.#lose(post, thrown);
    }
  }

  #lose(post: SentPost, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : post.errorOf(thrown);
    if (post.requests.length === 0) this.#terms.report({ kind: "fault", method: post.what, error });
    for (const id of post.requests) this.#receiver?.lost?.(Number(id), error);
  }
}
