import { type MembersOf, requireFunction } from "../base/check-members.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { guarded, reporterOf } from "../jsonrpc/hooks.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { NotificationListener } from "../jsonrpc/routing.js";
import { type ClientCapabilities, readCapabilities } from "../protocol/capabilities.js";
import { implementationMembers } from "../protocol/member-tables.js";
import type { ParamsByNotification } from "../protocol/method-params.js";
import { notifications } from "../protocol/methods.js";
import { knownRevision } from "../protocol/revisions/all.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { advertisedCall } from "./advertised.js";
import { type CacheOptions, cacheMembers, ResponseCache } from "./cache.js";
import { Client } from "./client.js";
import { inputCall } from "./input/input-call.js";
import { type InputHandlers, inputHandlerMembers, inputResponderOf } from "./input/input-handlers.js";
import type { InputResponder } from "./session/client-session.js";
import { type OpenOptions, openMembers, type SessionOpener, thisLibrary } from "./session/open-session.js";
import { ReconnectingSession } from "./session/reconnecting-session.js";
import { subscribeWith } from "./subscriptions/subscription.js";
import { ListedTools } from "./verbs/listed-tools.js";

/** Handlers of server notifications that belong to no call, by method. Their params are not validated. */
export type NotificationHandlers = {
  readonly [Method in Exclude<
    keyof ParamsByNotification,
    "notifications/initialized" | "notifications/roots/list_changed" | "notifications/subscriptions/acknowledged"
  >]?: (params: ParamsByNotification[Method]) => void;
};

/** The members of `NotificationHandlers`, to detect unknown options. */
const notificationMembers: MembersOf<NotificationHandlers> = {
  [notifications.cancelled]: ["function", "cancelled"],
  [notifications.progress]: ["function", "progress"],
  [notifications.message]: ["function", "message", "log", "logging"],
  [notifications.resourceUpdated]: ["function", "updated", "resourceUpdated"],
  [notifications.resourcesChanged]: ["function", "resources"],
  [notifications.toolsChanged]: ["function", "tools"],
  [notifications.promptsChanged]: ["function", "prompts"],
  [notifications.elicitationComplete]: ["function", "elicitationComplete"],
  [notifications.taskStatus]: ["function", "status", "tasks"],
};

/** Options of a client. */
export interface ClientOptions extends Omit<OpenOptions, "identity" | "revision"> {
  /** `clientInfo` of the client. Default: the name and version of this library. */
  readonly info?: Implementation;
  /** The protocol revision to require, e.g. one of `versions`. Default: the newest that both sides support. */
  readonly revision?: string;
  /** Handlers for input requests of the server. Default: none, and no capability is declared. */
  readonly handlers?: InputHandlers;
  /**
   * Client capabilities to declare in addition to those of `handlers`: extensions, `experimental`. They are merged; a value here
   * that is not an object takes precedence. A request for a capability that is declared here and has no handler fails. Default:
   * none.
   *
   * @example
   * await connect(url, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
   */
  readonly capabilities?: ClientCapabilities;
  /**
   * Typed notification handlers by method; otherwise like `onNotification`. Default: none.
   *
   * @example
   * connect(url, { notifications: { "notifications/message": ({ level, data }) => console.error(level, data) } });
   */
  readonly notifications?: NotificationHandlers;
  /** Limits of the response cache; `false` disables it. Default: on, with the limits of `CacheOptions`. */
  readonly cache?: CacheOptions | false;
  /**
   * Whether to reconnect after the connection is lost: the next call opens a new session, and open subscriptions are restored.
   * Use it for servers whose process may exit. Calls in flight fail in any case. Default: true for a URL, false for anything else.
   */
  readonly reopen?: boolean;
}

/** The members of `ClientOptions`, to detect unknown options. */
export const clientMembers: MembersOf<ClientOptions> = {
  ...openMembers,
  revision: ["string", "protocolVersion", "version", "versions"],
  info: implementationMembers,
  handlers: inputHandlerMembers,
  capabilities: ["any", "capability"],
  notifications: notificationMembers,
  cache: cacheMembers,
  reopen: ["boolean", "reconnect"],
};

/**
 * Opens a session and returns its client.
 * @throws RangeError for an unknown revision; TypeError for capabilities that are not JSON; RpcError or LocalError if the opening fails
 */
export async function openClient<Tools extends ToolTypes>(
  open: SessionOpener,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  const { info = thisLibrary, revision, handlers = {}, capabilities, reopen = false, ...given } = options;
  const responder = inputResponderOf(handlers, readCapabilities("connect", capabilities));
  const report = reporterOf(options.report);
  const listed = new ListedTools(report);
  const opening: OpenOptions = {
    ...given,
    ...(revision === undefined ? {} : { revision: knownRevision(revision) }),
    identity: { info, responder },
    onNotification: listenerOf(options, report),
  };
  const openAfresh: SessionOpener = (how) => {
    listed.clear(); // A further session may be with another process, which may have other tools.
    return open(how);
  };
  const session = await ReconnectingSession.open(openAfresh, opening, reopen);
  return clientOf(session, responder, listed, options);
}

/** Composes a client. Input requests are handled outside of the cache, because results that depend on user input must not be cached. */
function clientOf<Tools extends ToolTypes>(
  session: ReconnectingSession,
  responder: InputResponder,
  listed: ListedTools,
  { handlers = {}, lenient = false, cache = {} }: ClientOptions,
): Client<Tools> {
  const isCaching = session.revision.era === "stateless" && cache !== false; // Only this era has cache hints.
  const responses = new ResponseCache(session.clock, cache === false ? {} : cache);
  onAbort(session.ended, () => responses.clear());
  session.listen((method, params) => {
    responses.invalidate(method, params);
    if (method === notifications.toolsChanged) listed.clear();
  });
  const subscribe = subscribeWith(session, () => {
    responses.clear();
    listed.clear();
  });
  const answered = inputCall(session, responder, isCaching ? responses.around(session.call) : session.call);
  const call = advertisedCall(answered, session, lenient);
  return new Client<Tools>({ session, call, handlers, lenient, listed, subscribe });
}

function listenerOf(
  { notifications: handlers = {}, onNotification }: ClientOptions,
  report: Reporter,
): NotificationListener {
  if (onNotification !== undefined)
    requireFunction(
      "onNotification",
      onNotification,
      "write (method, params) => …, or notifications: { method: (params) => … }",
    );
  const byMethod = new Map<string, unknown>(Object.entries(handlers));
  return (method, params) => {
    // The params have the type of their method, unless the server breaks the protocol.
    const handler = byMethod.get(method) as ((params: unknown) => unknown) | undefined;
    guarded(method, () => handler?.(params ?? {}), report);
    return onNotification?.(method, params);
  };
}
