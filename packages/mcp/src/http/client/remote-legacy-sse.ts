import { checkMembers } from "../../base/check-members.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import { LocalError, thrownText } from "../../jsonrpc/errors.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { type PeerSettings, peerSettings } from "../../jsonrpc/peer-settings.js";
import { excerpt } from "../../jsonrpc/report.js";
import { eventStream, json } from "../media-types.js";
import { readBody } from "./body.js";
import { readEvents, type StreamEvent } from "./event-reader.js";
import { HttpTarget } from "./http-target.js";
import { PostQueue, SentPost } from "./post-queue.js";
import { isEventStream, readRefusal } from "./read-response.js";
import { channelMembers, type HttpChannelOptions, type HttpTransportOptions } from "./remote-session.js";

/** The number of bytes read of a response without content. */
const emptyBytes = 64 * 1024;

/** Milliseconds to wait for the `endpoint` event, which is the first of the stream. */
const patience = 10_000;

/**
 * HTTP+SSE of the first revision: one event stream for all messages of the server, and a second URL for POSTs, which
 * the stream announces.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class RemoteLegacySse implements Channel {
  readonly #target: HttpTarget;
  readonly #settings: PeerSettings;
  readonly #stop = new AbortController();
  /** The URL for POSTs; undefined if the stream ended without announcing it. */
  readonly #endpoint = deferred<URL | undefined>();
  #receiver: ChannelReceiver | undefined;
  readonly #order = new PostQueue();
  /** Running POSTs, with promises for their end. */
  readonly #posts = new Map<SentPost, Promise<void>>();
  #stream: Promise<void> = Promise.resolve();
  #resumed: Deferred<void> | undefined;

  constructor(target: HttpTarget, options: HttpTransportOptions) {
    this.#target = target;
    this.#settings = peerSettings({ ...options, limits: { ...clientLimits, ...options.limits } });
  }

  get waiting(): Promise<unknown> | undefined {
    return this.#target.waiting;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#stream = this.#follow();
  }

  send(frame: string): void | Promise<void> {
    const post = new SentPost(frame, this.#settings.clock);
    const { over, room } = this.#order.add(post, () => this.#post(post, frame));
    this.#posts.set(post, over);
    return room;
  }

  pause(): void {
    this.#resumed ??= deferred();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Closing the stream ends the session. */
  async close(): Promise<void> {
    this.#stopAll();
    this.resume();
    await this.#stream;
    await Promise.all(this.#posts.values());
  }

  #stopAll(): void {
    this.#stop.abort();
    this.#endpoint.resolve(undefined);
    for (const post of this.#posts.keys()) post.stop();
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    const { clock } = this.#settings;
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
    const response = await this.#target.send(what, { method: "GET", headers: { accept: eventStream }, signal });
    const maxBytes = this.#settings.limits.frameBytes;
    const reading = { what, maxBytes, signal, clock: this.#settings.clock, ready: () => this.#resumed?.promise };
    if (!(response.ok && isEventStream(response))) throw (await readRefusal(response, reading)).error;
    await readEvents(response, reading, (event) => this.#take(event));
  }

  #end(error?: Error): void {
    if (this.#stop.signal.aborted) return;
    this.#stopAll();
    this.#receiver?.end(error);
  }

  #take({ event = "message", data }: StreamEvent): void {
    if (event === "message" && data !== "" && !this.#stop.signal.aborted) this.#receiver?.frame(data);
    if (event === "endpoint") this.#endpoint.resolve(this.#endpointIn(data));
  }

  /**
   * Checks that the URL has the same origin, so that no other server gets the messages.
   * @throws LocalError `protocol`
   */
  #endpointIn(data: string): URL {
    const url = URL.canParse(data, this.#target.url.href) ? new URL(data, this.#target.url) : undefined;
    if (url?.origin === this.#target.url.origin) return url;
    throw new LocalError("protocol", `the endpoint event names another origin: ${excerpt(data)}`);
  }

  /** Resolves when the POST is over. Never rejects. */
  async #post(post: SentPost, body: string): Promise<void> {
    const { what, signal, requests } = post;
    try {
      const url = await this.#endpoint.promise;
      if (url === undefined) return; // The end of the stream was reported.
      post.expectAcceptance((error) => this.#lose(post, error));
      const headers = { "content-type": json };
      const response = await this.#target.send(what, { method: "POST", headers, body, signal }, url);
      if (response.ok) {
        await readBody(response, emptyBytes, signal).catch(() => undefined); // The status is enough.
      } else {
        const { error, said = error } = await readRefusal(response, { what, signal }, requests);
        this.#lose(post, said);
      }
    } catch (thrown) {
      this.#lose(post, post.errorOf(thrown));
    } finally {
      post.end();
      this.#posts.delete(post);
    }
  }

  /** Reports a failed POST to the callers of its requests. */
  #lose(post: SentPost, error: Error): void {
    if (post.signal.aborted) return;
    if (post.requests.length === 0) this.#settings.report({ kind: "fault", method: post.what, error });
    for (const id of post.requests) this.#receiver?.lost?.(Number(id), error);
    post.stop();
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
