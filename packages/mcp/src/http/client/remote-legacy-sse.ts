import { checkMembers } from "../../base/check-members.js";
import { deferred } from "../../base/deferred.js";
import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import { LocalError, thrownText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { eventStream, json } from "../media-types.js";
import { readBody } from "./body.js";
import { readEvents, type StreamEvent } from "./event-reader.js";
import { HttpTarget } from "./http-target.js";
import { emptyBytes, PostingChannel, type SentPost } from "./posting-channel.js";
import { isEventStream, readRefusal } from "./read-response.js";
import { channelMembers, type HttpChannelOptions } from "./remote-session.js";

/** Milliseconds to wait for the `endpoint` event, which is the first of the stream. */
const patience = 10_000;

/**
 * HTTP+SSE of the first revision: one event stream for all messages of the server, and a second URL for POSTs, which
 * the stream announces.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class RemoteLegacySse extends PostingChannel {
  readonly #stop = new AbortController();
  /** The URL for POSTs; undefined if the stream ended without announcing it. */
  readonly #endpoint = deferred<URL | undefined>();
  #stream: Promise<void> = Promise.resolve();

  override open(receiver: ChannelReceiver): void {
    super.open(receiver);
    this.#stream = this.#follow();
  }

  /** Closing the stream ends the session. */
  async close(): Promise<void> {
    this.#stopAll();
    this.resume();
    await this.#stream;
    await Promise.all(this.posts.values());
  }

  #stopAll(): void {
    this.#stop.abort();
    this.#endpoint.resolve(undefined);
    for (const post of this.posts.keys()) post.stop();
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    const { clock } = this.settings;
    const late = clock.setTimer(() => {
      this.#end(new LocalError("timeout", `the server has not sent the endpoint event within ${patience} ms`));
    }, patience);
    void this.#endpoint.promise.then(() => clock.clearTimer(late));
    try {
      await this.#read();
      this.#end();
    } catch (thrown) {
      this.#end(thrown instanceof Error ? thrown : new Error(thrownText(thrown)));
    }
  }

  async #read(): Promise<void> {
    const what = "the stream of the server";
    const { signal } = this.#stop;
    const response = await this.target.send(what, { method: "GET", headers: { accept: eventStream }, signal });
    const maxBytes = this.settings.limits.frameBytes;
    const reading = { what, maxBytes, signal, clock: this.settings.clock, ready: () => this.resumed };
    if (!(response.ok && isEventStream(response))) throw (await readRefusal(response, reading)).error;
    await readEvents(response, reading, (event) => this.#take(event));
  }

  #end(error?: Error): void {
    if (this.#stop.signal.aborted) return;
    this.#stopAll();
    this.receiver?.end(error);
  }

  #take({ event = "message", data }: StreamEvent): void {
    if (event === "message" && data !== "" && !this.#stop.signal.aborted) this.receiver?.frame(data);
    if (event === "endpoint") this.#endpoint.resolve(this.#endpointIn(data));
  }

  /**
   * Checks that the URL has the same origin, so that no other server gets the messages.
   * @throws LocalError `protocol`
   */
  #endpointIn(data: string): URL {
    const url = URL.canParse(data, this.target.url.href) ? new URL(data, this.target.url) : undefined;
    if (url?.origin === this.target.url.origin) return url;
    throw new LocalError("protocol", `the endpoint event names another origin: ${excerpt(data)}`);
  }

  protected async exchange(post: SentPost, body: string): Promise<void> {
    const { what, signal, requests } = post;
    const url = await this.#endpoint.promise;
    if (url === undefined) return; // The end of the stream was reported.
    post.expectAcceptance((error) => this.lose(post, error));
    const headers = { "content-type": json };
    const response = await this.target.send(what, { method: "POST", headers, body, signal }, url);
    if (response.ok) {
      await readBody(response, emptyBytes, signal).catch(() => undefined); // The status is enough.
    } else {
      const { error, said = error } = await readRefusal(response, { what, signal }, requests);
      this.lose(post, said);
    }
  }
}

/**
 * A channel to a server that supports only HTTP+SSE, the HTTP transport of 2024-11-05. `connect` detects such servers
 * by itself.
 *
 * @example
 * const client = await connect(() => legacySseChannel("https://example.com/sse"), { reopen: true });
 *
 * @throws TypeError for an invalid HTTP URL
 */
export function legacySseChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("legacySseChannel", options, channelMembers);
  return new RemoteLegacySse(new HttpTarget(new URL(url), options), options);
}
