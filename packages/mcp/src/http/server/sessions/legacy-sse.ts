import type { Channel, ChannelReceiver } from "../../../jsonrpc/channel.js";
import type { Connection } from "../../../jsonrpc/connection.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import { serveChannel } from "../../../server/session/serve-channel.js";
import type { HttpCaller } from "../peers.js";
import type { Endpoint } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, overloadedResponse, refusal, streamResponse } from "../responses.js";
import { EventStream, endpointEvent, messageEvent } from "../streams/event-stream.js";
import type { Posted } from "./handshake-binding.js";
import { type Expirable, SessionTable, sessionBytes } from "./session-table.js";
import type { SessionsConfig } from "./sessions.js";

const parameter = "sessionId";

/**
 * HTTP+SSE: one stream for all messages of the server, whose first event is the URL for the client's POSTs. Other
 * requests at the same URL belong to later revisions.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class LegacySse {
  readonly #endpoint: Endpoint;
  readonly #config: SessionsConfig;
  readonly #table: SessionTable<LegacySession>;

  constructor(endpoint: Endpoint, config: SessionsConfig) {
    this.#endpoint = endpoint;
    this.#config = config;
    this.#table = new SessionTable(endpoint.settings.clock, config.limits);
  }

  /** Handles a POST to the URL of a stream. */
  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): HttpResponse {
    const { query } = partsOf(request);
    const session = this.#table.find(new URLSearchParams(query).get(parameter) ?? "", caller);
    if (session === undefined) return refusal(404, "there is no such session: open its stream first");
    session.connection.auth = caller.auth;
    session.receive(frame, posted);
    return emptyResponse(202);
  }

  /** Opens a session with its stream. */
  open(request: HttpRequest, caller: HttpCaller): HttpResponse {
    if (this.#endpoint.closing.aborted) return closingResponse();
    const full = this.#table.makeRoom(caller);
    if (full !== undefined) return refusal(503, full, { "retry-after": "60" });
    const { auth, peer, budget } = caller;
    if (!budget.take(sessionBytes)) return overloadedResponse(budget.parentFits(sessionBytes));
    const { server, streams, keepAlive } = this.#endpoint;
    const id = crypto.randomUUID();
    const stream = new EventStream(streams, budget);
    let receiver: ChannelReceiver | undefined;
    const channel: Channel = {
      open(opened) {
        receiver = opened;
      },
      send: (message, _relatedTo, _isAnswer, lossy) => stream.push(messageEvent(message), lossy),
      drained: () => stream.drained(),
      close: async () => stream.end(),
    };
    const connection = serveChannel(server, channel, { ...this.#config.transport, auth, peer, budget });
    const end = (): void => {
      budget.give(sessionBytes);
      keepAlive.delete(stream);
      void connection.close();
    };
    const receive: LegacySession["receive"] = (frame, posted) => receiver?.frame(frame, posted);
    this.#table.add(id, caller, { connection, receive, isBusy: true, end });
    keepAlive.add(stream);
    request.onGone(() => this.#table.end(id));
    void connection.closed.then(() => this.#table.end(id));
    const { path, query } = partsOf(request);
    stream.push(endpointEvent(`${path}?${query === "" ? "" : `${query}&`}${parameter}=${id}`));
    return streamResponse(stream);
  }

  /** Stops accepting requests; resolves when nothing is running, or after `grace` milliseconds. */
  async drain(grace: number): Promise<void> {
    await Promise.all(Array.from(this.#table.sessions(), ({ connection }) => connection.drain(grace)));
  }

  close(): void {
    this.#table.endAll();
  }
}

/** HTTP+SSE clients need not send `Accept`, because the response to their POST is empty. */
export function isLegacyPost(request: HttpRequest): boolean {
  return request.url.includes(`${parameter}=`) && request.header(mcpHeaders.session) === undefined;
}

interface LegacySession extends Expirable {
  readonly connection: Connection;
  /** Passes on the body of a POST. */
  receive(frame: string, posted: Posted): void;
}

/** Without `URL`, which rejects some paths. */
function partsOf({ url }: HttpRequest): { readonly path: string; readonly query: string } {
  const [whole = "/", query = ""] = url.split("?", 2);
  return { path: whole.replace(/^[a-z]+:\/\/[^/]*/i, ""), query };
}
