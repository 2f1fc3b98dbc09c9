import type { Clock } from "../../base/clock.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { Problem } from "../../jsonrpc/codec/decode.js";
import type { Message } from "../../jsonrpc/message.js";
import { decodeBody, peerSettings } from "../../jsonrpc/peer-settings.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { mcpHeaders } from "../../protocol/http-headers.js";
import { namesRevision } from "../../protocol/meta.js";
import { revisionOf } from "../../protocol/revisions/all.js";
import type { Servable } from "../../server/servable.js";
import { isStatelessOnly } from "../../server/session/server-session.js";
import { nameOf } from "../../session/mcp-connection.js";
import { accepts, eventStream, json } from "../media-types.js";
import { HttpServerHandler } from "./http-server-handler.js";
import { type HttpOptions, requireSessions } from "./options.js";
import type { OriginCheckOptions } from "./origin-check.js";
import type { HttpCaller } from "./peers.js";
import { PostedCalls } from "./posted-calls.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { bodyFaultResponse, emptyResponse, problemResponse, refusal } from "./responses.js";
import { elementsOf, type HandshakeBinding } from "./sessions/handshake-binding.js";
import { isLegacyPost, LegacySse } from "./sessions/legacy-sse.js";
import { defaultSessionLimits } from "./sessions/session-table.js";
import { Sessions, type SessionsConfig } from "./sessions/sessions.js";
import { Sessionless, statelessOnly } from "./sessions/without-sessions.js";
import { answerStateless } from "./stateless.js";
import { MemoryEventStore } from "./streams/event-store.js";
import { KeepAlive, streamLimits } from "./streams/event-stream.js";

/** In the form that most clients send. */
const bothTypes = `${json}, ${eventStream}`;

const defaultKeepAlive = 15_000;

/**
 * Serves MCP clients of every revision at one URL. Each message shows which revision family it belongs to.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class McpHandler extends HttpServerHandler {
  protected readonly methods: readonly string[];
  protected readonly refuse: typeof refusal = refusal;
  protected readonly refuseBody: typeof bodyFaultResponse = bodyFaultResponse;
  readonly #server: Servable;
  readonly #calls: PostedCalls;
  readonly #handshake: HandshakeBinding;
  /** Undefined if clients of HTTP+SSE are not served. */
  readonly #legacySse: LegacySse | undefined;

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(server: Servable, options: HttpOptions & Pick<OriginCheckOptions, "exposed"> = {}) {
    const { legacySse = false, keepAlive = defaultKeepAlive } = options;
    super(
      options,
      peerSettings({ ...options, nameOf, profile: mcpProfile, exactNumbers: server.exactNumbers === true }),
    );
    const { settings, closing, authorization } = this;
    this.#calls = new PostedCalls({
      server,
      settings,
      streams: streamLimits(settings),
      keepAlive: new KeepAlive(settings.clock, keepAlive),
      closing,
      authorization,
    });
    this.#server = server;
    const config = configOf(options, settings.clock);
    this.#legacySse = legacySse ? new LegacySse(this.#calls.endpoint, config) : undefined;
    this.#handshake = bindingOf(this.#calls, config, options.sessions);
    this.methods = [...new Set(["POST", ...this.#handshake.methods, ...(legacySse ? ["GET"] : [])])];
  }

  protected override get definitionScopes(): readonly string[] {
    return this.#server.requiredScopes?.() ?? [];
  }

  async drain(grace: number): Promise<void> {
    this.stop();
    await Promise.all([this.#calls.drain(grace), this.#legacySse?.drain(grace), this.#handshake.drain(grace)]);
    this.close();
  }

  close(): void {
    this.stop();
    this.#legacySse?.close();
    this.#handshake.close();
    this.#calls.close();
  }

  protected override checkAccept(request: HttpRequest): HttpResponse | undefined {
    const { method } = request;
    const accept = request.header("accept");
    if (method === "GET" && !accepts(accept, eventStream)) return refusal(406, `Accept must have ${eventStream}`);
    if (method !== "POST" || accept === bothTypes || accepts(accept, json, eventStream)) return undefined;
    if (this.#legacySse !== undefined && isLegacyPost(request)) return undefined; // Its response has no body.
    return refusal(406, `Accept must have ${json} and ${eventStream}`);
  }

  protected respond(request: HttpRequest, body: string, caller: HttpCaller): MaybePromise<HttpResponse> {
    const legacySse = this.#legacySse;
    if (request.method === "GET")
      return legacySse !== undefined && request.header(mcpHeaders.session) === undefined
        ? legacySse.open(request, caller)
        : this.#handshake.get(request, caller);
    if (request.method === "DELETE") return this.#handshake.delete(request, caller);
    const legacy = legacySse !== undefined && isLegacyPost(request) ? legacySse : undefined;
    const profile = legacy === undefined ? this.#handshake.profileOf(request, caller) : mcpProfile;
    const posted = decodeBody(this.settings, body, profile);
    if (posted instanceof Problem) {
      this.settings.report({ kind: "invalid", problem: posted, frame: body });
      return problemResponse(posted);
    }
    if (legacy !== undefined) return legacy.post(request, body, posted, caller);
    if (Array.isArray(posted)) {
      if (elementsOf(posted).some((each) => "method" in each && namesRevision(each.params)))
        return refusal(400, "a message with a revision in _meta cannot be part of a batch");
      return this.#handshake.post(request, body, posted, caller);
    }
    const message = posted as Message; // `Array.isArray` does not narrow a readonly array in a union.
    const isStateless =
      ("method" in message && namesRevision(message.params)) || shouldDeclareRevision(request, message);
    if (!isStateless) return this.#handshake.post(request, body, posted, caller);
    if (!("method" in message)) return refusal(400, "unexpected response: servers of this revision send no requests");
    if (!("id" in message)) return emptyResponse(202);
    return answerStateless(this.#calls, request, message, body.length, caller);
  }
}

/** Whether the header or the method shows that a message is one of a stateless revision, although it declares none. */
function shouldDeclareRevision(request: HttpRequest, message: Message): boolean {
  if ("method" in message && isStatelessOnly(message.method)) return true;
  const version = request.header(mcpHeaders.protocolVersion);
  return version !== undefined && revisionOf(version)?.era === "stateless";
}

function configOf(options: HttpOptions, clock: Clock): SessionsConfig {
  const { sessions = {} } = options;
  requireSessions(sessions);
  const { eventStore = new MemoryEventStore(clock), ...limits } = typeof sessions === "object" ? sessions : {};
  return {
    transport: transportOf(options),
    limits: { ...defaultSessionLimits, ...limits },
    store: eventStore === false ? undefined : eventStore,
  };
}

function bindingOf(calls: PostedCalls, config: SessionsConfig, sessions: HttpOptions["sessions"]): HandshakeBinding {
  if (sessions === "none") return statelessOnly;
  return sessions === false ? new Sessionless(calls) : new Sessions(calls.endpoint, config);
}

/** The options for the connection of a session. */
function transportOf({ limits, report, clock, mapError, timeout, totalTimeout, lenient }: HttpOptions): HttpOptions {
  return {
    ...(limits && { limits }),
    ...(report && { report }),
    ...(clock && { clock }),
    ...(mapError && { mapError }),
    ...(timeout !== undefined && { timeout }),
    ...(totalTimeout !== undefined && { totalTimeout }),
    ...(lenient !== undefined && { lenient }),
  };
}
