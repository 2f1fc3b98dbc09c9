import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { markHandled } from "../../base/maybe-promise.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import type { ConnectionState, Remote } from "../../jsonrpc/connection.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { RawJson } from "../../jsonrpc/message.js";
import { excerpt } from "../../jsonrpc/report.js";
import type { ClientCapabilities, ServerCapabilities } from "../../protocol/capabilities.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import type { Implementation } from "../../protocol/types/implementation.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import { mayAskForInput } from "../../session/input-required.js";
import { type Middleware, MiddlewareChain } from "../../session/middleware.js";

/** A validated input request: runs its handler and returns the response in the newest shape. */
export type AcceptedRequest = (signal: AbortSignal) => Promise<JsonObject>;

/** Outcome of a URL elicitation. */
export interface UrlElicitationOutcome {
  /** The choice of the user: `"accept"`, `"decline"` or `"cancel"`. */
  readonly action: string;
  /** Resolves when the call that required the elicitation should be retried. */
  readonly retry?: PromiseLike<unknown> | undefined;
}

/** Responds to the input requests of a server: to its requests, and to those in `input_required` results. */
export interface InputResponder {
  /** The client capabilities to declare in that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * Validates an input request before its handler runs.
   * @throws RpcError −32601 for an undeclared capability, −32602 for invalid params
   */
  accept(method: string, params: JsonObject, revision: Revision): AcceptedRequest;
  /**
   * Like `accept`, for a URL elicitation that a call requires first; undefined if it is not supported.
   * @throws RpcError as `accept`
   */
  acceptUrlElicitation?(
    params: JsonObject,
    revision: Revision,
  ): (signal: AbortSignal) => Promise<UrlElicitationOutcome>;
}

/** Identity and input handlers of a client. */
export interface ClientIdentity {
  /** The name and version of the client. */
  readonly info: Implementation;
  /** Answers the requests of the server: input requests, roots and ping. */
  readonly responder: InputResponder;
}

/** Information about the server. */
export interface ServerDescription {
  /** Undefined if the server does not send it. For display only: it is not verified. */
  readonly info: Implementation | undefined;
  /** The capabilities that the server advertises. */
  readonly capabilities: ServerCapabilities;
  /** Instructions for the model. Untrusted text of the server; undefined if it sends none. */
  readonly instructions: string | undefined;
}

/**
 * Facts that an earlier connection learned about a server, as JSON. Let a hint of the handshake era expire: a server that adds the
 * stateless era still accepts the handshake.
 */
export interface ServerHint {
  /** The era that the server was reached in. */
  readonly era: Era;
  /** The `server/discover` result of a stateless server. With it the client skips the probe. */
  readonly discovered?: JsonObject;
}

/** Options of one call of a server. */
export interface SessionCallOptions extends CallOptions {
  /** Whether to send requests for capabilities that the server has not advertised. Default: false, the client refuses them. */
  readonly unadvertised?: boolean;
}

/** Calls the server, in the newest shapes; the result is an object. */
export type SessionCall = (method: string, params?: JsonObject, options?: SessionCallOptions) => Promise<JsonObject>;

/** The server as a session uses it: a `Connection`, or stateless HTTP. */
export interface ServerRemote extends Pick<Remote, "notify"> {
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<unknown>;
}

/** The transport of a session. */
export interface SessionTransport {
  readonly connection: ServerRemote & ConnectionState;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
  /** Closes the session; resolves when its connection is closed. */
  close(): Promise<void>;
}

/** An open session with a server, in either era. */
export interface ClientSession extends Omit<SessionTransport, "connection"> {
  readonly connection: ConnectionState;
  readonly revision: Revision;
  readonly server: ServerDescription;
  readonly serverHint: ServerHint;
  /** Makes one request. In the stateless era the result may request input. */
  readonly call: SessionCall;
  /** Wraps every later request in a middleware. The first is the outermost. */
  use(middleware: Middleware<CallOptions>): void;
  notify(method: string, params?: JsonObject): void;
  /** Sets the level of the log messages that the server sends. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void>;
}

/** A session of the handshake era, from the result of `initialize`. */
export function handshakeSession(
  { connection, ended, close }: SessionTransport,
  revision: Revision,
  initialized: JsonObject,
): ClientSession {
  const withProgressToken = progressTokens(revision);
  const { call, use } = callWithMiddleware(async (method, given = {}, options = {}) => {
    const [params, how] = withProgressToken(revision.down("params", method, given), options);
    const sent = Object.keys(params).length === 0 ? undefined : params;
    return revision.up("result", method, objectResult(method, await connection.call(method, sent, how)));
  });
  const described = revision.up("result", methods.initialize, initialized);
  return {
    connection,
    ended,
    close,
    revision,
    server: describeServer(described.serverInfo, described),
    serverHint: { era: "handshake" },
    call,
    use,
    notify: (method, params) => connection.notify(method, revision.down("notification", method, params)),
    async setLogLevel(level, options) {
      await call(methods.setLevel, { level }, options);
    },
  };
}

/** A session of the stateless era, from the result of `server/discover`. Opening it sends nothing. */
export function statelessSession(
  { connection, ended, close }: SessionTransport,
  me: ClientIdentity,
  revision: Revision,
  discovered: JsonObject,
): ClientSession {
  const { call: send, setLogLevel } = statelessCalls(connection, me, revision);
  return {
    connection,
    ended,
    close,
    revision,
    server: describeServer(readMeta(discovered)?.[metaKeys.serverInfo], discovered),
    serverHint: { era: "stateless", discovered },
    ...callWithMiddleware(send),
    notify: (method, params) => connection.notify(method, revision.down("notification", method, params)),
    async setLogLevel(level, { signal } = {}) {
      requireNotAborted(methods.setLevel, signal);
      setLogLevel(level);
    },
  };
}

function callWithMiddleware(send: SessionCall): Pick<ClientSession, "call" | "use"> {
  const chain = new MiddlewareChain<CallOptions>(send);
  const checked: SessionCall = async (method, params = {}, options = {}) => {
    const result = await chain.run(method, params, options);
    if (isObject(result)) return result;
    throw new TypeError(`${method}: a middleware returned ${kindOf(result)}, not the object of a result`);
  };
  return {
    call: (method, params, options) => (chain.isEmpty ? send : checked)(method, params, options),
    // A middleware may ignore the promise of `next`.
    use: (middleware) => chain.use((next) => middleware((...call) => markHandled(next(...call)))),
  };
}

/** Sends `server/discover`. */
export function discover(
  remote: ServerRemote,
  me: ClientIdentity,
  revision: Revision,
  options: CallOptions,
): Promise<JsonObject> {
  return statelessCalls(remote, me, revision).call(methods.discover, {}, options);
}

/** Calls that declare revision, client and log level in `_meta`. */
function statelessCalls(
  remote: ServerRemote,
  { info, responder }: ClientIdentity,
  revision: Revision,
): { readonly call: SessionCall; setLogLevel(level: LoggingLevel): void } {
  const withProgressToken = progressTokens(revision);
  let own: JsonObject = {
    [metaKeys.protocolVersion]: revision.version,
    [metaKeys.clientInfo]: info,
    [metaKeys.clientCapabilities]: responder.capabilities(revision),
  };
  return {
    async call(method, given = {}, options = {}) {
      const [params, how] = withProgressToken(given, options);
      const sent = revision.down("params", method, { ...params, _meta: { ...readMeta(params), ...own } });
      const result = objectResult(method, await remote.call(method, sent, how));
      return knownResult(method, revision.up("result", method, result));
    },
    setLogLevel(level) {
      own = { ...own, [metaKeys.logLevel]: level };
    },
  };
}

/** @throws LocalError `protocol` for an unknown `resultType`. Some servers omit it; then the result is complete. */
function knownResult(method: string, result: JsonObject): JsonObject {
  const { resultType = "complete" } = result;
  if (resultType === "complete" || (resultType === "input_required" && mayAskForInput.has(method))) return result;
  throw new LocalError(
    "protocol",
    `${method}: the server answered with resultType ${quotedForMessage(resultType)}, which this client did not offer`,
  );
}

/**
 * Adds a progress token to calls with a progress listener, and routes the notifications to them, in the newest shape. One counter
 * per session.
 */
function progressTokens(
  revision: Revision,
): (params: JsonObject, options: CallOptions) => readonly [JsonObject, CallOptions] {
  let last = 0;
  return (params, options) => {
    const { notify, tag } = options;
    if (notify === undefined || tag !== undefined) return [params, options];
    last += 1;
    const meta = { ...readMeta(params), [metaKeys.progressToken]: last };
    return [
      { ...params, _meta: meta },
      { ...options, tag: last, notify: (method, sent) => notify(method, revision.up("notification", method, sent)) },
    ];
  };
}

/** @throws LocalError `cancelled` when the signal is aborted */
export function requireNotAborted(what: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new LocalError("cancelled", `${what}: cancelled by the caller`, { cause: signal.reason });
}

/** @throws LocalError `protocol` for a result that is not an object (J-5: MCP results always are) */
export function objectResult(method: string, result: unknown): JsonObject {
  const value: unknown = result instanceof RawJson ? JSON.parse(result.text) : result;
  if (isObject(value)) return value;
  if (value === null && emptyResults.has(method)) return {};
  throw new LocalError("protocol", `${method}: the result is not an object`);
}

/** Methods with an empty result, for which null is accepted. */
const emptyResults: ReadonlySet<string> = new Set([
  methods.ping,
  methods.setLevel,
  methods.subscribe,
  methods.unsubscribe,
]);

/** The server's description without its invalid members: it is for display only. */
function describeServer(info: unknown, { capabilities, instructions }: JsonObject): ServerDescription {
  return {
    info: isObject(info) ? (info as unknown as Implementation) : undefined, // Its members are only displayed.
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

/** A value of a peer for use in an error message: shortened and without control characters. */
export function quotedForMessage(value: unknown): string {
  return typeof value === "string" ? excerpt(value) : kindOf(value);
}

/** The session expired before the request ran; it is safe to retry it in a new session. */
export class SessionExpired extends LocalError {
  override readonly name = "SessionExpired";

  constructor(message: string, options?: ErrorOptions) {
    super("closed", message, options);
  }
}
