import type { MaybePromise } from "../../../base/maybe-promise.js";
import type { LossyNotification } from "../../../jsonrpc/calls/outbox.js";
import type { Channel, ChannelReceiver } from "../../../jsonrpc/channel.js";
import type { Connection } from "../../../jsonrpc/connection.js";
import type { Id } from "../../../jsonrpc/message.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import { serveChannel } from "../../../server/session/serve-channel.js";
import type { HttpCaller } from "../peers.js";
import type { Endpoint } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, overloadedResponse, refusal, streamResponse } from "../responses.js";
import { EventStream, endpointEvent, messageEvent } from "../streams/event-stream.js";
import type { HandshakeBinding, Posted } from "./handshake-binding.js";
import { type Expirable, SessionTable, sessionBytes } from "./session-table.js";
import type { SessionsConfig } from "./sessions.js";

const parameter = "sessionId";

/**
 * HTTP+SSE: one stream for all messages of the server, whose first event is the URL for the client's POSTs. Other
 * requests go to the binding of the later revisions, at the same URL.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class LegacySse implements HandshakeBinding {
  readonly methods: readonly string[];
  readonly #endpoint: Endpoint;
  readonly #config: SessionsConfig;
  readonly #later: HandshakeBinding;
  readonly #table: SessionTable<LegacySession>;

  constructor(endpoint: Endpoint, config: SessionsConfig, later: HandshakeBinding) {
    this.#endpoint = endpoint;
    this.#config = config;
    this.#later = later;
    this.methods = [...new Set([...later.methods, "GET"])];
    this.#table = new SessionTable(endpoint.settings.clock, config.limits);
  }

  profileOf(request: HttpRequest, caller: HttpCaller): Profile {
    return isLegacyPost(request) ? mcpProfile : this.#later.profileOf(request, caller);
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (!isLegacyPost(request)) return this.#later.post(request, frame, posted, caller);
    const { query } = partsOf(request);
    const session = this.#table.find(new URLSearchParams(query).get(parameter) ?? "", caller);
    if (session === undefined) return refusal(404, "there is no such session: open its stream first");
    session.connection.auth = caller.auth;
    session.channel.receive(frame, posted);
    return emptyResponse(202);
  }

  get(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (request.header(mcpHeaders.session) !== undefined) return this.#later.get(request, caller);
    if (this.#endpoint.closing.aborted) return closingResponse();
    const full = this.#table.makeRoom(caller);
    if (full !== undefined) return refusal(503, full, { "retry-after": "60" });
    const { auth, peer, budget } = caller;
    if (!budget.take(sessionBytes)) return overloadedResponse(budget.parentFits(sessionBytes));
    const { server, streams, keepAlive } = this.#endpoint;
    const id = crypto.randomUUID();
    const stream = new EventStream(streams, budget);
    const channel = new LegacyChannel(stream);
    const connection = serveChannel(server, channel, { ...this.#config.transport, auth, peer, budget });
    const end = (): void => {
      budget.give(sessionBytes);
      keepAlive.delete(stream);
      void connection.close();
    };
    const drain = (grace: number): Promise<void> => connection.drain(grace);
    this.#table.add(id, caller, { channel, connection, isBusy: true, end, drain });
    keepAlive.add(stream);
    request.onGone(() => this.#table.end(id));
    void connection.closed.then(() => this.#table.end(id));
    const { path, query } = partsOf(request);
    stream.push(endpointEvent(`${path}?${query === "" ? "" : `${query}&`}${parameter}=${id}`));
    return streamResponse(stream);
  }

  delete(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    return this.#later.delete(request, caller);
  }

  async drain(grace: number): Promise<void> {
    const own = Array.from(this.#table.sessions(), ({ drain }) => drain(grace));
    await Promise.all([...own, this.#later.drain(grace)]);
  }

  close(): void {
    this.#table.endAll();
    this.#later.close();
  }
}

/** HTTP+SSE clients need not send `Accept`, because the response to their POST is empty. */
export function isLegacyPost(request: HttpRequest): boolean {
  return request.url.includes(`${parameter}=`) && request.header(mcpHeaders.session) === undefined;
}

interface LegacySession extends Expirable {
  readonly channel: LegacyChannel;
  readonly connection: Connection;
  drain(grace: number): Promise<void>;
}

/** The POSTs and the stream as a channel. */
class LegacyChannel implements Channel {
  readonly #stream: EventStream;
  #receiver: ChannelReceiver | undefined;

  constructor(stream: EventStream) {
    this.#stream = stream;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  receive(frame: string, posted: Posted): void {
    this.#receiver?.frame(frame, posted);
  }

  send(frame: string, _relatedTo?: Id, _isAnswer?: boolean, lossy?: LossyNotification): void {
    this.#stream.push(messageEvent(frame), lossy);
  }

  drained(): Promise<void> {
    return this.#stream.drained();
  }

  close(): Promise<void> {
    this.#stream.end();
    return Promise.resolve();
  }
}

/** Without `URL`, which rejects some paths. */
function partsOf({ url }: HttpRequest): { readonly path: string; readonly query: string } {
  const [whole = "/", query = ""] = url.split("?", 2);
  return { path: whole.replace(/^[a-z]+:\/\/[^/]*/i, ""), query };
}
